package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"jcode/internal/proc"

	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// exitRefused is the exit code when the confinement itself fails: the command did not run.
const exitRefused = 125

// Main is the hidden subcommand: args are what follows Command. It confines the calling
// process and becomes the command; it returns an exit code only when that fails.
func Main(args []string) int {
	if err := become(args); err != nil {
		fmt.Fprintln(os.Stderr, "jcode: sandbox:", err)
		return exitRefused
	}
	return 0
}

func become(args []string) error {
	if len(args) == 1 && args[0] == "probe" {
		return tryNamespaces()
	}
	if len(args) < 2 {
		return errors.New("an order and a command are needed")
	}
	o, err := decode(args[0])
	if err != nil {
		return err
	}
	program, err := exec.LookPath(args[1])
	if err != nil {
		return err
	}
	// Capabilities are per thread, and the thread that becomes the command must have none.
	runtime.LockOSThread()
	if o.NetNS {
		if err := loopbackUp(); err != nil {
			return err
		}
	}
	own := false
	if o.Shields {
		if own, err = shield(o); err != nil {
			return err
		}
	}
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
	return fmt.Errorf("run %s: %w", args[1], unix.Exec(program, args[1:], os.Environ()))
}

// dropCapabilities drops the capabilities that would undo the confinement from what this thread becomes, even
// when root runs it: with some of them the kernel lets a process read the environment of any other, whatever
// Landlock says.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
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
	if err := tryChild(self); err == nil {
		r.Shields, r.Network, r.OthersKept = true, "namespace", filtersCalls()
		return r
	} else {
		r.Why = append(r.Why, "no namespaces: "+err.Error())
	}
	r.OthersKept = filtersCalls()
	if abi >= 4 {
		r.Network = "tcp"
	}
	return r
}

// tryChild starts this program in new namespaces and lets it mount something.
func tryChild(self string) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = read.Close() }() // only read
	p, err := proc.Start(proc.Spec{Argv: []string{self, Command, "probe"}, Env: os.Environ(), Stderr: write, Namespaces: true, OwnNetwork: true})
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
