package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"jcode/internal/proc"

	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// exitRefused is the exit code when the confinement itself fails: the command did not run.
const exitRefused = 125

// Main is the hidden subcommand: args are what follows Command. It confines the calling
// process and becomes the command; it returns an exit code only when that fails.
func Main(args []string) int {
	code, err := become(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "jcode: sandbox:", err)
		return exitRefused
	}
	return code
}

func become(args []string) (code int, err error) {
	if len(args) == 1 && args[0] == "probe" {
		return 0, tryNamespaces()
	}
	if len(args) < 2 {
		return 0, errors.New("an order and a command are needed")
	}
	o, err := decode(args[0])
	if err != nil {
		return 0, err
	}
	program, err := exec.LookPath(strings.Clone(args[1]))
	if err != nil {
		return 0, err
	}
	// Capabilities are per thread, and the thread that becomes the command must have none.
	runtime.LockOSThread()
	if o.NetNS {
		if err := loopbackUp(); err != nil {
			return 0, err
		}
	}
	own := false
	if o.Shields {
		if own, err = shield(o); err != nil {
			return 0, err
		}
	}
	if o.Processes {
		argv := cloned(args[1:])
		coverArguments(args) // the command can see them
		code, err = proc.Supervise(program, argv, func() error { return confine(o, own) })
	} else if err = confine(o, own); err == nil {
		err = unix.Exec(program, args[1:], os.Environ())
	}
	if err != nil {
		return 0, fmt.Errorf("run %s: %w", program, err)
	}
	return code, nil
}

func cloned(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.Clone(s)
	}
	return out
}

// coverArguments overwrites arguments of this process where the system shows them. They must not be used afterwards.
func coverArguments(args []string) {
	for _, arg := range args {
		if len(arg) > 0 {
			clear(unsafe.Slice(unsafe.StringData(arg), len(arg)))
		}
	}
}

// confine drops this thread's rights.
func confine(o order, own bool) error {
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := restrict(o, own); err != nil {
		return err
	}
	if filtersCalls() {
		if err := filterOtherProcesses(); err != nil {
			return fmt.Errorf("restrict system calls: %w", err)
		}
	}
	return nil
}

// dropCapabilities drops the capabilities that would undo the confinement from what this thread becomes, even
// when root runs it: with some of them the kernel lets a process read the environment of any other, whatever
// Landlock says.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	// What is inheritable a program of root gets, whatever else is dropped.
	header, sets := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	sets[0].Inheritable, sets[1].Inheritable = 0, 0
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	for _, c := range []uintptr{
		unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_PERFMON, unix.CAP_BPF, unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO, unix.CAP_SYS_BOOT,
		unix.CAP_SYS_TIME, unix.CAP_NET_ADMIN, unix.CAP_NET_RAW, unix.CAP_MKNOD, unix.CAP_SYS_CHROOT, unix.CAP_MAC_ADMIN, unix.CAP_MAC_OVERRIDE,
		unix.CAP_AUDIT_CONTROL, unix.CAP_SYSLOG, unix.CAP_CHECKPOINT_RESTORE, unix.CAP_DAC_READ_SEARCH, unix.CAP_SETFCAP, unix.CAP_SETPCAP,
	} {
		// EPERM: there are none to drop. EINVAL: this kernel does not know it.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("drop capabilities: %w", err)
		}
	}
	return nil
}

// Kernel returns the kernel's version of Landlock, 0 for none: without it nothing can be confined.
func Kernel() int {
	abi, err := llsys.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return abi
}

// probe finds out what the kernel supports.
func probe(self string) Report {
	abi := Kernel()
	if abi < 1 {
		return unavailable("the kernel has no Landlock, or it is switched off")
	}
	r := Report{Available: true, Landlock: abi}
	r.Processes = true
	err := tryChild(self, true)
	if err != nil {
		r.Processes = false
		r.Why = append(r.Why, "no processes of their own: "+err.Error())
		err = tryChild(self, false)
	}
	if err == nil {
		r.Shields, r.Network, r.OthersKept = true, "namespace", filtersCalls()
		return r
	}
	r.Why = []string{"no namespaces: " + err.Error()}
	r.OthersKept = filtersCalls()
	if abi >= 4 {
		r.Network = "tcp"
	}
	return r
}

// tryChild starts this program in new namespaces, also of processes, and lets it mount something.
func tryChild(self string, processes bool) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = read.Close() }() // only read
	p, err := proc.Start(proc.Spec{Argv: []string{self, Command, "probe"}, Env: os.Environ(), Stderr: write, Namespaces: true, OwnNetwork: true, OwnProcesses: processes})
	_ = write.Close() // the child has its own
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-time.After(5 * time.Second):
		return errors.Join(errors.New("the attempt does not end"), p.Kill())
	}
	if e := p.Exit(); e.Code != 0 {
		buf := make([]byte, 300)
		n, _ := read.Read(buf) // the reason, if it wrote one
		return fmt.Errorf("%s", firstLine(buf[:n]))
	}
	return nil
}

func firstLine(b []byte) string {
	for i, c := range b {
		if c == '\n' {
			return string(b[:i])
		}
	}
	if len(b) == 0 {
		return "the kernel refuses them"
	}
	return string(b)
}
