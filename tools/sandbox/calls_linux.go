//go:build linux && (amd64 || arm64)

package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the data that a filter of system calls sees (struct seccomp_data), on little-endian machines:
// only the low half of an argument matters for the comparisons here.
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16
	dataArg1   = 24
	dataArg2   = 32
	dataArg3   = 40
)

// filtersCalls reports whether the kernel can filter system calls.
func filtersCalls() bool {
	_, _, errno := unix.Syscall6(unix.SYS_PRCTL, unix.PR_GET_SECCOMP, 0, 0, 0, 0, 0)
	return errno == 0
}

// program is a filter under construction.
type program []unix.SockFilter

func (p *program) add(code uint16, k uint32, jt, jf uint8) {
	*p = append(*p, unix.SockFilter{Code: code, K: k, Jt: jt, Jf: jf})
}

func (p *program) load(offset uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }

func (p *program) ret(action uint32) { p.add(unix.BPF_RET|unix.BPF_K, action, 0, 0) }

// skipUnless skips n instructions when the loaded value is not k.
func (p *program) skipUnless(k uint32, n uint8) { p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, n) }

func refuse(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// deny refuses a system call.
func (p *program) deny(number uint32, errno unix.Errno) {
	p.skipUnless(number, 1)
	p.ret(refuse(errno))
}

// denyUnless refuses a system call unless an argument has a value.
func (p *program) denyUnless(number, arg, value uint32, errno unix.Errno) {
	p.skipUnless(number, 4)
	p.load(arg)
	p.skipUnless(value, 1)
	p.ret(unix.SECCOMP_RET_ALLOW)
	p.ret(refuse(errno))
}

// denyIf refuses a system call when an argument has one of several values.
func (p *program) denyIf(number, arg uint32, errno unix.Errno, values ...uint32) {
	p.skipUnless(number, uint8(2+2*len(values)))
	p.load(arg)
	for _, v := range values {
		p.skipUnless(v, 1)
		p.ret(refuse(errno))
	}
	p.ret(unix.SECCOMP_RET_ALLOW)
}

// denyAbove refuses all system calls with a number above one.
func (p *program) denyAbove(number uint32, errno unix.Errno) {
	p.add(unix.BPF_JMP|unix.BPF_JGT|unix.BPF_K, number, 0, 1)
	p.ret(refuse(errno))
}

// denyBits refuses a system call when an argument has any of some bits set.
func (p *program) denyBits(number, arg, bits uint32, errno unix.Errno) {
	p.skipUnless(number, 4)
	p.load(arg)
	p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, bits, 1, 0)
	p.ret(unix.SECCOMP_RET_ALLOW)
	p.ret(refuse(errno))
}

// modeCall is a system call that sets the mode of a file, and the place of its argument.
type modeCall struct{ number, arg uint32 }

// denyModeIf refuses to create a file with rights of its owner or group.
func (p *program) denyModeIf(number, flags, mode uint32) {
	p.skipUnless(number, 6)
	p.load(flags)
	p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY, 0, 3)
	p.load(mode)
	p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, unix.S_ISUID|unix.S_ISGID, 0, 1)
	p.ret(refuse(unix.EPERM))
	p.ret(unix.SECCOMP_RET_ALLOW)
}

// denyFamilies refuses sockets of all families but some: those of virtual machines and radios have no network
// that could be cut off.
func (p *program) denyFamilies(allowed ...uint32) {
	p.skipUnless(unix.SYS_SOCKET, uint8(2+2*len(allowed)))
	p.load(dataArg0)
	for _, family := range allowed {
		p.skipUnless(family, 1)
		p.ret(unix.SECCOMP_RET_ALLOW)
	}
	p.ret(refuse(unix.EAFNOSUPPORT))
}

// filter covers what Landlock does not: changes of a file's mode, times and attributes, sockets, signals,
// namespaces, other processes' resources, and ways around a filter.
func filter() program {
	p := newFilter(unix.SECCOMP_RET_KILL_PROCESS)
	p.denyAbove(newestCall, unix.ENOSYS)
	for _, number := range changingCalls() {
		p.deny(number, unix.EPERM)
	}
	for _, number := range machineCalls() {
		p.deny(number, unix.EPERM)
	}
	// Programs work without these on kernels that lack them.
	for _, number := range []uint32{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET} {
		p.deny(number, unix.ENOSYS)
	}
	p.denyBits(unix.SYS_CLONE, dataArg0, unix.CLONE_NEWUSER|unix.CLONE_NEWNS|unix.CLONE_NEWNET|unix.CLONE_NEWPID|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS|unix.CLONE_NEWCGROUP, unix.EPERM)
	p.denyIf(unix.SYS_IOCTL, dataArg1, unix.EPERM, unix.TIOCSTI, unix.TIOCLINUX, unix.FS_IOC_SETFLAGS, fsSetXattr, fsSetVersion)
	p.denyUnless(unix.SYS_PRLIMIT64, dataArg0, 0, unix.EPERM)
	p.denyUnless(unix.SYS_SCHED_SETAFFINITY, dataArg0, 0, unix.EPERM)
	// The kernel's routing sockets report addresses of this machine; all others lead elsewhere.
	p.skipUnless(unix.SYS_SOCKET, 6)
	p.load(dataArg0)
	p.skipUnless(unix.AF_NETLINK, 3)
	p.load(dataArg2)
	p.skipUnless(unix.NETLINK_ROUTE, 1)
	p.ret(unix.SECCOMP_RET_ALLOW)
	p.ret(refuse(unix.EACCES))
	p.ret(unix.SECCOMP_RET_ALLOW)
	return p
}

// newestCall is the last system call that the filter was written for. Newer ones (to change a file's
// attributes, to copy a mount) are absent for a command that only reads, as on an older kernel.
const newestCall = unix.SYS_REMOVEXATTRAT

// newFilter begins a filter, with the number of the call loaded. foreign is the action for calls of another
// architecture, which would have other numbers.
func newFilter(foreign uint32) program {
	var p program
	p.load(dataArch)
	p.skipUnless(auditArch, 1)
	p.add(unix.BPF_JMP|unix.BPF_JA, 1, 0, 0)
	p.ret(foreign)
	p.load(dataNumber)
	return append(p, foreignCalls()...)
}

// filterOthers is for commands that may write: they can't change anything about other processes, and can't
// reach the session's keys.
func filterOthers() program {
	p := newFilter(unix.SECCOMP_RET_KILL_PROCESS) // by other numbers it could do all that is refused here
	// A file with the right to become its owner, or somebody else, outlives the command.
	for _, call := range append(oldModeCalls(), modeCall{unix.SYS_FCHMOD, dataArg1}, modeCall{unix.SYS_FCHMODAT, dataArg2}, modeCall{unix.SYS_FCHMODAT2, dataArg2}) {
		p.denyBits(call.number, call.arg, unix.S_ISUID|unix.S_ISGID, unix.EPERM)
	}
	p.denyModeIf(unix.SYS_OPENAT, dataArg2, dataArg3)
	p.denyOldOpen()
	p.deny(unix.SYS_OPENAT2, unix.ENOSYS) // its mode can't be seen, and programs do without it
	p.denyFamilies(unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)
	p.denyUnless(unix.SYS_PRLIMIT64, dataArg0, 0, unix.EPERM)
	p.denyUnless(unix.SYS_SETPRIORITY, dataArg1, 0, unix.EPERM)
	p.denyUnless(unix.SYS_IOPRIO_SET, dataArg1, 0, unix.EPERM)
	for _, number := range []uint32{unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL} {
		p.deny(number, unix.ENOSYS)
	}
	p.ret(unix.SECCOMP_RET_ALLOW)
	return p
}

// ioctl requests that change a file through a descriptor opened for reading.
const (
	fsSetXattr   = 0x401c5820 // FS_IOC_FSSETXATTR
	fsSetVersion = 0x40087602 // FS_IOC_SETVERSION
)

// changingCalls change a file in ways other than its content.
func changingCalls() []uint32 {
	return append([]uint32{
		unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
		unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, unix.SYS_TRUNCATE, unix.SYS_MKNODAT,
	}, oldChangingCalls()...)
}

// machineCalls affect other processes, or the machine itself.
func machineCalls() []uint32 {
	return []uint32{
		unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PIDFD_GETFD,
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP,
		unix.SYS_SETPRIORITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR, unix.SYS_IOPRIO_SET, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
		unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSMOUNT,
		unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT, unix.SYS_ACCT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
		unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_SYNC,
	}
}

// filterCalls permanently filters the system calls of this thread and of everything it starts, for a command
// that only reads.
func filterCalls() error { return filter().install() }

// filterOtherProcesses does the same for a command that may write.
func filterOtherProcesses() error { return filterOthers().install() }

func (p program) install() error {
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}
