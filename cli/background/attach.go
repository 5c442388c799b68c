package backgroundcli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"jcode/cli/attach"
	"jcode/cli/console"
	"jcode/cli/live"
	"jcode/remote"
	"jcode/session"
)

// AttachCmd shows a session that runs in the background.
type AttachCmd struct {
	Session string `arg:"" optional:"" help:"End of the ID, part of the title, or process; not needed if only one runs in the background."`
	Watch   bool   `help:"Look only: another window keeps control."`
}

// Run shows the session until the person leaves it, or it ends.
func (c *AttachCmd) Run(ctx context.Context, std Setup) error {
	in, out, err := terminalOf(std.Streams)
	if err != nil {
		return err
	}
	l, err := std.Live()
	if err != nil {
		return err
	}
	pid, id, err := c.process(ctx, l)
	if err != nil {
		return err
	}
	if pid != 0 {
		role := remote.Control
		if c.Watch {
			role = remote.Watch
		}
		w := attach.New(in, out)
		within, done := context.WithTimeout(ctx, startWithin)
		defer done()
		client, err := l.Place.Process(within, pid, l.Name, w.Handlers())
		if err != nil {
			return &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("process %d in the background does not answer: %w", pid, err)}
		}
		err = showProcess(ctx, l, client, w, role, std.Streams)
		for c.Watch && errors.Is(err, attach.ErrLost) && id != "" {
			fmt.Fprintln(std.Err, "jcode: the process of the session has ended; it is looked for")
			w = attach.New(in, out)
			if client, err = l.Await(ctx, id, live.LostFor, w.Handlers()); err != nil {
				return &console.Exit{Code: console.ExitModel, Err: err}
			}
			err = showProcess(ctx, l, client, w, role, std.Streams)
		}
		return err
	}
	id, dir, err := c.stored(ctx, std)
	if err != nil {
		return err
	}
	return Run(ctx, std, []string{"--resume=" + id}, dir, true)
}

// process returns the process in the background of the session that is named, 0 for none, and the session's ID.
func (c *AttachCmd) process(ctx context.Context, l live.Sessions) (pid int, id string, err error) {
	all, err := l.List(ctx)
	if err != nil {
		return 0, "", &console.Exit{Code: console.ExitModel, Err: err}
	}
	fits := slices.DeleteFunc(all, func(s live.Session) bool { return c.Session != "" && !s.Called(c.Session) })
	background := slices.DeleteFunc(slices.Clone(fits), func(s live.Session) bool { return s.Background == nil })
	if asks := slices.DeleteFunc(slices.Clone(background), func(s live.Session) bool { return s.Asks == 0 }); c.Session == "" && len(asks) == 1 {
		background = asks
	}
	switch {
	case len(background) == 1:
		return background[0].Pid, background[0].SessionID, nil
	case len(background) > 1:
		return 0, "", console.Usage("%d sessions in the background match: name one by its ID or process, as jcode sessions ps prints them", len(background))
	case len(fits) > 0 && c.Session != "" && fits[0].In() != string(remote.InTerminal):
		return 0, "", console.Usage("session %s is not shown in a terminal (%s, process %d): jcode sessions watch %s follows it", session.ShortID(fits[0].SessionID), fits[0].In(), fits[0].Pid, session.ShortID(fits[0].SessionID))
	case len(fits) > 0 && c.Session != "":
		return 0, "", console.Usage("session %s runs in a terminal of its own (process %d): /detach there takes it to the background, jcode sessions watch %s follows it", session.ShortID(fits[0].SessionID), fits[0].Pid, session.ShortID(fits[0].SessionID))
	case c.Session == "":
		return 0, "", console.Usage("no session runs in the background: jcode --detachable begins one, jcode attach ID continues an earlier one there")
	}
	return 0, "", nil
}

// stored returns a session that does not run, and its folder.
func (c *AttachCmd) stored(ctx context.Context, std Setup) (id, dir string, err error) {
	s, err := std.Find(ctx, c.Session)
	if errors.Is(err, session.ErrNotFound) {
		return "", "", console.Usage("no session is called %q: jcode sessions list shows those of this folder, jcode sessions ps those that are open", c.Session)
	}
	if err != nil {
		return "", "", console.AsUsage(err)
	}
	dir = s.Cwd
	if _, err := os.Stat(dir); err != nil {
		return "", "", console.Usage("the session's folder is gone: %w", err)
	}
	return s.ID, dir, nil
}

// terminalOf returns the terminal behind the streams.
func terminalOf(std console.Streams) (in, out *os.File, err error) {
	in, isIn := std.In.(*os.File)
	out, isOut := console.Behind(std.Out).(*os.File)
	if !std.InIsTerminal || !std.OutIsTerminal || !isIn || !isOut {
		return nil, nil, console.Usage("a session is shown in a terminal: jcode sessions watch prints it elsewhere")
	}
	return in, out, nil
}

// showProcess shows a process in the background until the person leaves it or it ends, and the processes to which the
// person goes from there. It closes the client, whose handlers are the window's.
func showProcess(ctx context.Context, l live.Sessions, client *remote.Client, w *attach.Window, role remote.Role, std console.Streams) error {
	return (&showing{live: l, std: std, role: role}).show(ctx, client, w)
}

// sayWhere says how a session that goes on is shown again.
func sayWhere(ctx context.Context, l live.Sessions, pid int, std console.Streams) {
	name := strconv.Itoa(pid)
	list, _ := l.List(ctx) // a process that ends meanwhile is none that is named
	for _, s := range list {
		if s.Pid == pid && s.SessionID != "" {
			name = session.ShortID(s.SessionID)
		}
	}
	fmt.Fprintf(std.Err, "jcode: the session goes on in the background; show it again: jcode attach %s\n", name)
}
