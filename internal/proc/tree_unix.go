//go:build unix

package proc

import (
	"errors"
	"os"
	"slices"
	"syscall"
)

// tree is the process group and session of a child.
type tree struct{ p *child }

func newTree(p *child) tree { return tree{p} }

// signal sends the group a signal. It is not an error if the group is gone.
func (t tree) signal(sig os.Signal) error {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return errors.New("signal process group: no system signal")
	}
	if err := syscall.Kill(-t.p.pid, s); err != nil && !errors.Is(err, syscall.ESRCH) && !errors.Is(err, syscall.EPERM) {
		return err
	}
	return nil
}

// kill sends SIGKILL to the group and to processes that left it, and lists those that remain.
func (t tree) kill() []Info {
	ended := t.p.reaped.Load()
	alive := t.running()
	if len(alive) == 0 {
		return nil
	}
	// Once the leader is reaped its ID may be reused, but not as long as a member of the group lives.
	if !ended || slices.ContainsFunc(alive, func(i Info) bool { return inGroup(i.Pid, t.p.pid) }) {
		if err := t.signal(syscall.SIGKILL); err != nil {
			return alive
		}
	}
	for _, i := range alive {
		// ESRCH: ended meanwhile. EPERM: not ours to end, it stays in the list.
		_ = syscall.Kill(i.Pid, syscall.SIGKILL)
	}
	return t.running()
}

func inGroup(pid, group int) bool {
	g, err := syscall.Getpgid(pid)
	return err == nil && g == group
}
