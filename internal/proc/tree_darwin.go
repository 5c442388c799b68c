package proc

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
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

// zombie is the state of a process that ended and was not reaped (SZOMB in sys/proc.h).
const zombie = 5

// running finds the members of the tree: its session, its group, and their descendants. A daemon that created
// its own session and lost its parent is not found here.
func (t tree) running() []Info {
	ended := t.p.ended()
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	// A process with the ID of a reaped leader is unrelated, see the Linux file.
	reused := ended && slices.ContainsFunc(all, func(k unix.KinfoProc) bool { return int(k.Proc.P_pid) == t.p.pid })
	member := map[int32]bool{}
	for i := range all {
		pid := all[i].Proc.P_pid
		sid, err := unix.Getsid(int(pid))
		if !reused && (int(all[i].Eproc.Pgid) == t.p.pid || (err == nil && sid == t.p.pid)) {
			member[pid] = true
		}
	}
	for grew := true; grew; {
		grew = false
		for i := range all {
			if pid := all[i].Proc.P_pid; !member[pid] && member[all[i].Eproc.Ppid] {
				member[pid], grew = true, true
			}
		}
	}
	var out []Info
	for i := range all {
		p := &all[i].Proc
		if member[p.P_pid] && p.P_stat != zombie {
			out = append(out, Info{Pid: int(p.P_pid), Command: unix.ByteSliceToString(p.P_comm[:])})
		}
	}
	slices.SortFunc(out, func(a, b Info) int { return a.Pid - b.Pid })
	return out
}
