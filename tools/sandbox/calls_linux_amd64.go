package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// foreignCalls refuses the numbers of the x32 interface, which the same kernel may serve.
func foreignCalls() (p program) {
	p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0x40000000, 0, 1)
	p.ret(refuse(unix.ENOSYS))
	return p
}

// oldChangingCalls are calls that newer machines lack.
func oldChangingCalls() []uint32 {
	return []uint32{
		unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT, unix.SYS_MKNOD, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT,
	}
}

// oldModeCalls set a file's mode, and newer machines lack them.
func oldModeCalls() []modeCall {
	return []modeCall{{unix.SYS_CHMOD, dataArg1}, {unix.SYS_CREAT, dataArg1}, {unix.SYS_MKNOD, dataArg1}}
}

func (p *program) denyOldOpen() { p.denyModeIf(unix.SYS_OPEN, dataArg1, dataArg2) }
