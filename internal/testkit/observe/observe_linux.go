package observe

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Event is one system call that a watched program made, or tried to.
type Event struct {
	// Call is its name: "exec", "open", "change" (of a name, of permissions or times), "connect", "socket".
	Call string
	// Path is the file, absolute but not resolved.
	Path string
	// Write is set when the file is opened for writing or created.
	Write bool
	// NoFollow is set when a link is not followed.
	NoFollow bool
	// Detail says more: the flags of an open call, the family of a socket.
	Detail string
}

// String formats an event for a message.
func (e Event) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Call, e.Path, e.Detail))
}

// Run starts a program and returns what it and everything it started did. It ends them all
// at the limit. The program's streams must be files. An error means that watching is not
// possible here.
func Run(cmd *exec.Cmd, limit time.Duration) ([]Event, error) {
	type outcome struct {
		events []Event
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		runtime.LockOSThread() // the tracer is a thread; it ends with this goroutine
		w := &watch{entered: map[int]bool{}}
		err := w.run(cmd, limit)
		done <- outcome{w.events, err}
	}()
	o := <-done
	return o.events, o.err
}

type watch struct {
	events  []Event
	entered map[int]bool // processes that were seen
}

const traceOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL

func (w *watch) run(cmd *exec.Cmd, limit time.Duration) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace, cmd.SysProcAttr.Setpgid = true, true
	if err := cmd.Start(); err != nil {
		return err
	}
	root := cmd.Process.Pid
	defer func() { _ = cmd.Process.Release() }() // reaped below
	var status unix.WaitStatus
	if _, err := unix.Wait4(root, &status, unix.WALL, nil); err != nil {
		return err
	}
	if err := unix.PtraceSetOptions(root, traceOptions); err != nil {
		return errors.Join(err, unix.Kill(root, unix.SIGKILL))
	}
	w.entered[root] = true
	timer := time.AfterFunc(limit, func() { _ = unix.Kill(-root, unix.SIGKILL) }) // it may be gone
	defer timer.Stop()
	resume(root, 0)
	for {
		pid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECHILD):
			return nil
		case err != nil:
			return err
		}
		if !status.Stopped() {
			continue // it ended
		}
		w.stopped(pid, status)
	}
}

// stopped finds out why a process is stopped, and resumes it.
func (w *watch) stopped(pid int, status unix.WaitStatus) {
	signal := status.StopSignal()
	switch {
	case signal == unix.SIGTRAP|0x80:
		w.call(pid)
		signal = 0
	case signal == unix.SIGTRAP: // a fork or an exec
		signal = 0
	case signal == unix.SIGSTOP && !w.entered[pid]:
		w.entered[pid] = true
		signal = 0
	}
	resume(pid, int(signal))
}

// resume lets a process run to its next call. One that was killed in the meantime is gone.
func resume(pid, signal int) { _ = unix.PtraceSyscall(pid, signal) }

// info is struct ptrace_syscall_info at the entry of a call.
type info struct {
	op   uint8
	_    [3]uint8
	arch uint32
	ip   uint64
	sp   uint64
	nr   uint64
	args [6]uint64
	_    [16]byte
}

// call records a system call at its entry.
func (w *watch) call(pid int) {
	var in info
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(pid), unsafe.Sizeof(in), uintptr(unsafe.Pointer(&in)), 0, 0)
	if errno != 0 || in.op != unix.PTRACE_SYSCALL_INFO_ENTRY {
		return
	}
	at := func(dir, name int) string { return path(pid, int32(in.args[dir]), in.args[name]) }
	note := func(e Event) { w.events = append(w.events, e) }
	switch in.nr {
	case unix.SYS_EXECVE:
		note(Event{Call: "exec", Path: path(pid, unix.AT_FDCWD, in.args[0])})
	case unix.SYS_EXECVEAT:
		note(Event{Call: "exec", Path: at(0, 1)})
	case unix.SYS_OPENAT:
		note(opened(at(0, 1), in.args[2]))
	case unix.SYS_OPENAT2:
		note(opened(at(0, 1), word64(pid, in.args[2])))
	case unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		note(Event{Call: "change", Path: at(0, 1), Write: true})
	case unix.SYS_LINKAT:
		note(Event{Call: "change", Path: at(2, 3), Write: true})
	case unix.SYS_SYMLINKAT:
		note(Event{Call: "change", Path: at(1, 2), Write: true})
	case unix.SYS_TRUNCATE, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR:
		note(Event{Call: "change", Path: path(pid, unix.AT_FDCWD, in.args[0]), Write: true})
	case unix.SYS_SOCKET:
		if family := in.args[0]; family != unix.AF_UNIX && family != unix.AF_NETLINK {
			note(Event{Call: "socket", Detail: fmt.Sprint("family ", family)})
		}
	case unix.SYS_CONNECT:
		address := memory(pid, in.args[1], int(min(in.args[2], 108)))
		name := ""
		if len(address) > 2 && address[0] == unix.AF_UNIX {
			name = string(bytes.TrimRight(address[2:], "\x00"))
		}
		note(Event{Call: "connect", Path: name, Detail: fmt.Sprintf("%x", address[:min(len(address), 8)])})
	default:
		w.old(pid, in)
	}
}

func opened(name string, flags uint64) Event {
	const writes = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC | unix.O_APPEND
	return Event{Call: "open", Path: name, Write: flags&writes != 0, NoFollow: flags&unix.O_NOFOLLOW != 0, Detail: fmt.Sprintf("%#o", flags)}
}

// path reads a name from a process's memory and makes it absolute.
func path(pid int, dir int32, address uint64) string {
	name := string(memory(pid, address, unix.PathMax))
	if i := strings.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	if filepath.IsAbs(name) {
		return name
	}
	from := fmt.Sprintf("/proc/%d/cwd", pid)
	if dir != unix.AT_FDCWD {
		from = fmt.Sprintf("/proc/%d/fd/%d", pid, dir)
	}
	base, err := os.Readlink(from)
	if err != nil {
		base = from
	}
	return filepath.Join(base, name)
}

// memory reads up to size bytes from a process, as far as they are mapped.
func memory(pid int, address uint64, size int) []byte {
	buf := make([]byte, size)
	got := 0
	for got < size {
		// A page at a time: the next one may not be mapped.
		n := min(size-got, 4096-int((address+uint64(got))%4096))
		local := []unix.Iovec{{Base: &buf[got]}}
		local[0].SetLen(n)
		read, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(address) + uintptr(got), Len: n}}, 0)
		if err != nil || read <= 0 {
			break
		}
		got += read
		if bytes.IndexByte(buf[got-read:got], 0) >= 0 {
			break
		}
	}
	return buf[:got]
}

func word64(pid int, address uint64) uint64 {
	b := make([]byte, 8)
	copy(b, memory(pid, address, 8))
	return *(*uint64)(unsafe.Pointer(&b[0]))
}
