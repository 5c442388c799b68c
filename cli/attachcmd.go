package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"jcode/cli/attach"
	"jcode/cli/console"
	"jcode/internal/ptty"
	"jcode/internal/text"
	"jcode/remote"
	"jcode/session"
)

// attachCmd shows a session that runs in the background.
type attachCmd struct {
	Session string `arg:"" optional:"" help:"End of the ID, part of the title, or process; not needed if only one runs in the background."`
	Watch   bool   `help:"Look only: another window keeps control."`
}

// Run shows the session until the person leaves it, or it ends.
func (c *attachCmd) Run(ctx context.Context, f *flags, std Streams) error {
	in, out, err := terminalOf(std)
	if err != nil {
		return err
	}
	l, err := newLive(std)
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
		client, err := l.place.Process(within, pid, l.name, w.Handlers())
		if err != nil {
			return &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("process %d in the background does not answer: %w", pid, err)}
		}
		err = showProcess(ctx, l, client, w, role, std)
		for c.Watch && errors.Is(err, attach.ErrLost) && id != "" {
			fmt.Fprintln(std.Err, "jcode: the process of the session has ended; it is looked for")
			w = attach.New(in, out)
			if client, err = l.await(ctx, id, lostFor, w.Handlers()); err != nil {
				return &console.Exit{Code: console.ExitModel, Err: err}
			}
			err = showProcess(ctx, l, client, w, role, std)
		}
		return err
	}
	id, dir, err := c.stored(ctx, f, std)
	if err != nil {
		return err
	}
	return runInBackground(ctx, std, []string{"--resume=" + id}, dir, true)
}

// process returns the process in the background of the session that is named, 0 for none, and the session's ID.
func (c *attachCmd) process(ctx context.Context, l live) (pid int, id string, err error) {
	all, err := l.list(ctx)
	if err != nil {
		return 0, "", &console.Exit{Code: console.ExitModel, Err: err}
	}
	fits := slices.DeleteFunc(all, func(s liveSession) bool { return c.Session != "" && !s.called(c.Session) })
	background := slices.DeleteFunc(slices.Clone(fits), func(s liveSession) bool { return s.Background == nil })
	if asks := slices.DeleteFunc(slices.Clone(background), func(s liveSession) bool { return s.Asks == 0 }); c.Session == "" && len(asks) == 1 {
		background = asks
	}
	switch {
	case len(background) == 1:
		return background[0].Pid, background[0].SessionID, nil
	case len(background) > 1:
		return 0, "", console.Usage("%d sessions in the background match: name one by its ID or process, as jcode sessions ps prints them", len(background))
	case len(fits) > 0 && c.Session != "" && fits[0].where() != string(remote.InTerminal):
		return 0, "", console.Usage("session %s is not shown in a terminal (%s, process %d): jcode sessions watch %s follows it", session.ShortID(fits[0].SessionID), fits[0].where(), fits[0].Pid, session.ShortID(fits[0].SessionID))
	case len(fits) > 0 && c.Session != "":
		return 0, "", console.Usage("session %s runs in a terminal of its own (process %d): /detach there takes it to the background, jcode sessions watch %s follows it", session.ShortID(fits[0].SessionID), fits[0].Pid, session.ShortID(fits[0].SessionID))
	case c.Session == "":
		return 0, "", console.Usage("no session runs in the background: jcode --detachable begins one, jcode attach ID continues an earlier one there")
	}
	return 0, "", nil
}

// stored returns a session that does not run, and its folder.
func (c *attachCmd) stored(ctx context.Context, f *flags, std Streams) (id, dir string, err error) {
	a, err := openKept(ctx, f, std)
	if err != nil {
		return "", "", err
	}
	defer a.close()
	s, err := a.store.Find(ctx, a.project, c.Session)
	if errors.Is(err, session.ErrNotFound) {
		return "", "", console.Usage("no session is called %q: jcode sessions list shows those of this folder, jcode sessions ps those that are open", c.Session)
	}
	if err != nil {
		return "", "", console.Usage("%w", err)
	}
	dir = s.Cwd
	if _, err := os.Stat(dir); err != nil {
		return "", "", console.Usage("the session's folder is gone: %w", err)
	}
	return s.ID, dir, nil
}

// terminalOf returns the terminal behind the streams.
func terminalOf(std Streams) (in, out *os.File, err error) {
	in, isIn := std.In.(*os.File)
	out, isOut := console.Behind(std.Out).(*os.File)
	if !std.InIsTerminal || !std.OutIsTerminal || !isIn || !isOut {
		return nil, nil, console.Usage("a session is shown in a terminal: jcode sessions watch prints it elsewhere")
	}
	return in, out, nil
}

// showProcess shows a process in the background until the person leaves it, or it ends. It closes the client, whose
// handlers are the window's.
func showProcess(ctx context.Context, l live, client *remote.Client, w *attach.Window, role remote.Role, std Streams) error {
	defer client.Close()
	left, err := w.Show(ctx, client, role)
	switch {
	case errors.Is(err, attach.ErrLost):
		return &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("%w without a message: jcode -c in its folder continues it", err)}
	case err != nil && ctx.Err() == nil:
		return &console.Exit{Code: console.ExitModel, Err: err}
	}
	switch left.Why {
	case remote.LeftEnded:
		if left.Code != 0 {
			return &console.Exit{Code: left.Code, Silent: true, Err: errEnded}
		}
		return nil
	case remote.LeftTaken:
		fmt.Fprintf(std.Err, "jcode: %s shows the session now\n", text.Visible(left.Name))
		return nil
	}
	return sayWhere(context.WithoutCancel(ctx), l, client.Welcome.Pid, std)
}

// sayWhere says how a session that goes on is shown again.
func sayWhere(ctx context.Context, l live, pid int, std Streams) error {
	name := strconv.Itoa(pid)
	list, err := l.list(ctx)
	for _, s := range list {
		if s.Pid == pid && s.SessionID != "" {
			name = session.ShortID(s.SessionID)
		}
	}
	fmt.Fprintf(std.Err, "jcode: the session goes on in the background; show it again: jcode attach %s\n", name)
	return err
}

// runInBackground runs a command line in the background, and shows it here if that is wanted.
func runInBackground(ctx context.Context, std Streams, args []string, dir string, show bool) error {
	if !ptty.Supported {
		return console.Usage("on this system a session can't run in the background: use a terminal multiplexer")
	}
	l, err := newLive(std)
	if err != nil {
		return err
	}
	in, out, err := terminalOf(std)
	if show && err != nil {
		return err
	}
	w := attach.New(in, out)
	size := remote.Size{Cols: 80, Rows: 24}
	if show {
		size = w.Size()
	}
	begun, err := startInBackground(args, dir, size, std.Getenv("TERM"))
	if err != nil {
		return &console.Exit{Code: console.ExitModel, Err: err}
	}
	if show {
		client, err := begun.connect(ctx, l, w.Handlers())
		if err != nil {
			return err
		}
		return showProcess(ctx, l, client, w, remote.Control, std)
	}
	id, err := begun.began(ctx, l)
	switch {
	case err != nil:
		return err
	case id == "":
		fmt.Fprintf(std.Out, "jcode: the session has not begun yet: it may ask something first: jcode attach %d\n", begun.pid())
	default:
		fmt.Fprintf(std.Out, "jcode: session %s runs in the background: jcode attach %s\n", session.ShortID(id), session.ShortID(id))
	}
	return nil
}
