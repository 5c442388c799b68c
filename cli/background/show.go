package backgroundcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"jcode/cli/attach"
	"jcode/cli/console"
	"jcode/cli/live"
	"jcode/internal/text"
	"jcode/remote"
)

// showing is this terminal while it shows processes in the background, one after the other.
type showing struct {
	live live.Sessions
	std  console.Streams
	role remote.Role
	back []int // the processes that were shown before, the last one last
}

// show shows the process of a client, and those to which the person goes from there. It closes the client.
func (s *showing) show(ctx context.Context, client *remote.Client, w *attach.Window) error {
	in, _, err := terminalOf(s.std)
	if err != nil {
		return err
	}
	cooked, err := attach.Raw(in)
	if err != nil {
		return err
	}
	pid, left, err := s.each(ctx, client, w)
	cooked()
	return s.left(ctx, left, err, pid)
}

// each shows one process after the other, and returns the last one and why it is no longer shown.
func (s *showing) each(ctx context.Context, client *remote.Client, w *attach.Window) (pid int, left remote.Left, err error) {
	said := ""
	for {
		pid = client.Welcome.Pid
		left, err = w.Show(ctx, client, s.role, said)
		client.Close()
		switch {
		case ctx.Err() != nil || err != nil && !errors.Is(err, attach.ErrLost):
			return pid, left, err
		case err == nil && left.Why == remote.LeftElsewhere:
			s.shown(pid)
			s.shown(left.Process)
			said = ""
		case errors.Is(err, attach.ErrLost):
			said = "The process of the session that was shown here has ended without a message: jcode -c in its folder continues it."
		case left.Why == remote.LeftEnded:
			said = "The session that was shown here has ended."
		default:
			return pid, left, nil
		}
		if left.Why != remote.LeftElsewhere {
			s.back = slices.DeleteFunc(s.back, func(p int) bool { return p == pid })
		}
		next, another, failed := s.next(ctx)
		if next == nil {
			if left.Why == remote.LeftElsewhere { // nothing has ended: what was shown goes on
				return pid, remote.Left{Why: remote.LeftDetached}, failed
			}
			return pid, left, err
		}
		if failed != nil {
			said = failed.Error()
		}
		client, w = next, another
	}
}

// shown notes that a process is the last one that the person wanted to see.
func (s *showing) shown(pid int) {
	s.back = append(slices.DeleteFunc(s.back, func(p int) bool { return p == pid }), pid)
}

// next connects to the process that the person wanted to see last and that can be reached. The error says which could not.
func (s *showing) next(ctx context.Context) (client *remote.Client, w *attach.Window, failed error) {
	in, out, err := terminalOf(s.std)
	if err != nil {
		return nil, nil, err
	}
	for len(s.back) > 0 {
		pid := s.back[len(s.back)-1]
		s.back = s.back[:len(s.back)-1]
		w = attach.New(in, out)
		within, done := context.WithTimeout(ctx, reachWithin)
		client, err = s.live.Place.Process(within, pid, s.live.Name, w.Handlers())
		done()
		if err == nil {
			return client, w, failed
		}
		failed = cmp.Or(failed, error(&console.Exit{Code: console.ExitModel, Err: fmt.Errorf("process %d in the background does not answer: %w", pid, err)}))
	}
	return nil, nil, failed
}

// left says why a session is no longer shown, as far as the person must know.
func (s *showing) left(ctx context.Context, left remote.Left, err error, pid int) error {
	switch {
	case errors.Is(err, attach.ErrLost):
		return &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("%w without a message: jcode -c in its folder continues it", err)}
	case err != nil && ctx.Err() == nil:
		return &console.Exit{Code: console.ExitModel, Err: err}
	}
	switch left.Why {
	case remote.LeftEnded:
		if left.Code != 0 {
			return &console.Exit{Code: left.Code, Silent: true, Err: ErrEnded}
		}
		return nil
	case remote.LeftTaken:
		fmt.Fprintf(s.std.Err, "jcode: %s shows the session now\n", text.Visible(left.Name))
		return nil
	}
	sayWhere(context.WithoutCancel(ctx), s.live, pid, s.std)
	return nil
}

// ShowOther shows a process in the background in this terminal.
func ShowOther(ctx context.Context, std Setup, pid int) error {
	l, err := std.Live()
	if err != nil {
		return err
	}
	s := &showing{live: l, std: std.Streams, role: remote.Control, back: []int{pid}}
	client, w, err := s.next(ctx)
	if client == nil {
		return err
	}
	if err != nil {
		fmt.Fprintln(std.Err, "jcode: "+text.Visible(err.Error()))
	}
	return s.show(ctx, client, w)
}

// MoveAndShow runs a command line in the background, and shows a process that runs there.
func MoveAndShow(ctx context.Context, std Setup, args []string, dir string, pid int) error {
	l, err := std.Live()
	if err != nil {
		return err
	}
	in, _, err := terminalOf(std.Streams)
	if err != nil {
		return err
	}
	cooked, err := attach.Raw(in)
	if err != nil {
		return err
	}
	defer cooked()
	begun, err := Start(args, dir, remote.Size{Cols: 80, Rows: 24}, std.Getenv("TERM"))
	if err != nil {
		return &console.Exit{Code: console.ExitModel, Err: err}
	}
	if _, err := begun.Began(ctx, l); err != nil {
		return err
	}
	s := &showing{live: l, std: std.Streams, role: remote.Control, back: []int{begun.Pid(), pid}}
	client, w, err := s.next(ctx)
	if client == nil {
		return err
	}
	cooked()
	return s.show(ctx, client, w)
}
