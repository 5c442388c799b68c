//go:build unix && !linux && !darwin

package proc

import (
	"syscall"
)

// reach is what ends with this process, see Reach; hasNamespaces says whether a child may
// have namespaces of its own.
const (
	reach         = "processes of its group"
	hasNamespaces = false
)

func attributes(Spec) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// running knows of this system only whether somebody of the group lives.
func (t tree) running() []Info {
	if syscall.Kill(-t.p.pid, 0) != nil {
		return nil
	}
	return []Info{{Pid: t.p.pid, Command: "?"}}
}
