package backgroundcli

import (
	"context"
	"fmt"

	"jcode/cli/attach"
	"jcode/cli/console"
	"jcode/cli/live"
	"jcode/internal/ptty"
	"jcode/remote"
	"jcode/session"
)

// Setup is what is given to what shows sessions in the background.
type Setup struct {
	console.Streams
	// Live finds the sessions that are open.
	Live func() (live.Sessions, error)
	// Find finds a stored session of this folder by its ID or title.
	Find func(ctx context.Context, name string) (session.Session, error)
}

// Run runs a command line in the background, and shows it here if that is wanted.
func Run(ctx context.Context, std Setup, args []string, dir string, show bool) error {
	if !ptty.Supported {
		return console.Usage("on this system a session can't run in the background: use a terminal multiplexer")
	}
	l, err := std.Live()
	if err != nil {
		return err
	}
	in, out, err := terminalOf(std.Streams)
	if show && err != nil {
		return err
	}
	w := attach.New(in, out)
	size := remote.Size{Cols: 80, Rows: 24}
	if show {
		size = w.Size()
	}
	begun, err := Start(args, dir, size, std.Getenv("TERM"))
	if err != nil {
		return &console.Exit{Code: console.ExitModel, Err: err}
	}
	if show {
		client, err := begun.connect(ctx, l, w.Handlers())
		if err != nil {
			return err
		}
		return showProcess(ctx, l, client, w, remote.Control, std.Streams)
	}
	id, err := begun.Began(ctx, l)
	switch {
	case err != nil:
		return err
	case id == "":
		fmt.Fprintf(std.Out, "jcode: the session has not begun yet: it may ask something first: jcode attach %d\n", begun.Pid())
	default:
		fmt.Fprintf(std.Out, "jcode: session %s runs in the background: jcode attach %s\n", session.ShortID(id), session.ShortID(id))
	}
	return nil
}
