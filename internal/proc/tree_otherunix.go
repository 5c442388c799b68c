//go:build unix && !linux && !darwin

package proc

import (
	"syscall"
)

// reach is what ends with this process, see Reach; hasNamespaces says whether a child may have its own
// namespaces.
const (
	reach         = "processes of its group"
	hasNamespaces = false
)

func attributes(spec Spec) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: spec.Terminal}
}

// running knows only whether a process of the group is alive on this system.
func (t tree) running() []Info {
	if syscall.Kill(-t.p.pid, 0) != nil {
		return nil
	}
	return []Info{{Pid: t.p.pid, Command: "?"}}
}
