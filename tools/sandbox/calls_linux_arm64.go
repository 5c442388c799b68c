package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// foreignCalls is empty: the machine has one set of numbers.
func foreignCalls() program { return nil }

func oldChangingCalls() []uint32 { return nil }

// oldModeCalls set a file's mode on machines that have them.
func oldModeCalls() []modeCall { return nil }

func (p *program) denyOldOpen() {}
