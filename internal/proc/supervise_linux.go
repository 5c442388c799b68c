package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Supervise runs a program as the child of a process that was started with OwnProcesses, and stays until all that
// it started has ended. confine is called on the thread that starts the program, and drops the rights
// that it must not have. It returns an exit code, and an error if the program was not started.
func Supervise(program string, argv []string, confine func() error) (code int, err error) {
	fd, env, err := endDescriptor(os.Environ())
	if err != nil {
		return 0, err
	}
	unix.CloseOnExec(fd)
	end := os.NewFile(uintptr(fd), "end")
	defer func() { _ = end.Close() }() // what was written is in the pipe
	signals := make(chan os.Signal, 16)
	// Signals to the group are for the program: nothing reads the channel. What is ignored would be ignored by the
	// program, too.
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM)
	defer signal.Stop(signals)
	// This process has rights in its namespaces that the program must not get at: nobody may trace it.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("protect process 1: %w", err)
	}
	child, err := startOn(func() (int, error) {
		if err := confine(); err != nil {
			return 0, err
		}
		files := make([]uintptr, fd) // what was passed to this process, but for the end
		for i := range files {
			files[i] = uintptr(i)
		}
		return syscall.ForkExec(program, argv, &syscall.ProcAttr{Env: env, Files: files})
	})
	if err != nil {
		return 0, err
	}
	return reap(child, end)
}

// startOn runs a function on a thread that is used for nothing else and ends with it.
func startOn(start func() (int, error)) (pid int, err error) {
	ended := make(chan struct{})
	var run func()
	run = func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		if threadID() == os.Getpid() {
			// The process's first thread never ends. While this goroutine holds it, another one is used.
			inner := make(chan struct{})
			go func() { defer close(inner); run() }()
			<-inner
			runtime.UnlockOSThread()
			return
		}
		pid, err = start()
	}
	go func() { defer close(ended); run() }()
	<-ended
	return pid, err
}

// endDescriptor takes the variable out of an environment that names the descriptor for the program's end.
func endDescriptor(environ []string) (fd int, env []string, err error) {
	fd = -1
	for _, kv := range environ {
		if value, ok := strings.CutPrefix(kv, endName+"="); ok {
			if fd, err = strconv.Atoi(value); err != nil || fd < 3 {
				return 0, nil, fmt.Errorf("%s=%s is no descriptor", endName, value)
			}
			continue
		}
		env = append(env, kv)
	}
	if fd < 0 {
		return 0, nil, errors.New(endName + " is missing")
	}
	return fd, env, nil
}

// reap waits for everything, and tells how the child ended: at once if something of it still runs.
func reap(child int, end *os.File) (code int, err error) {
	tell := func(status syscall.WaitStatus, last byte) {
		b := binary.LittleEndian.AppendUint32(nil, uint32(status))
		_, _ = end.Write(append(b, last, 0, 0, 0)) // jcode may be gone, and this process is about to be
		_ = end.Close()
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return code, nil // nothing is left
		case pid != child:
			continue
		}
		if code = status.ExitStatus(); status.Signaled() {
			code = 128 + int(status.Signal())
		}
		if !others() {
			tell(status, 1)
			return code, nil
		}
		tell(status, 0)
	}
}

// others reports whether a child still runs, and reaps those that don't.
func others() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR), err == nil && pid > 0:
		case err != nil:
			return false
		default:
			return true
		}
	}
}
