package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"

	"jcode/remote"
	"jcode/tui/screen"
)

// Window is this terminal while it shows a session.
type Window struct {
	in, out *os.File
	left    chan remote.Left
	lost    chan struct{} // the connection has ended

	mu    sync.Mutex
	drawn bool // something was drawn: the terminal must be given back
	over  bool // it was: what comes late is not drawn
}

// New returns a window on a terminal.
func New(in, out *os.File) *Window {
	return &Window{in: in, out: out, left: make(chan remote.Left, 1), lost: make(chan struct{}, 1)}
}

// Handlers are those of the connection that Show uses.
func (w *Window) Handlers() remote.Handlers {
	return remote.Handlers{
		Draw: func(d remote.Draw) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if !w.over {
				w.drawn = true
				_, _ = w.out.Write(d.Data) // a terminal that is gone ends the window by its signal
			}
		},
		Left:    func(l remote.Left) { w.left <- l },
		Stopped: func(error) { w.lost <- struct{}{} },
	}
}

// ErrLost says that the process of the session has ended without a word.
var ErrLost = errors.New("the process of the session has ended")

// Size returns that of the terminal.
func (w *Window) Size() remote.Size {
	cols, rows, err := term.GetSize(w.out.Fd())
	if err != nil || cols < 1 || rows < 1 {
		return remote.Size{Cols: 80, Rows: 24}
	}
	return remote.Size{Cols: cols, Rows: rows}
}

// lost returns ErrLost for the error of a call on a connection that has ended.
func lost(err error) error {
	if errors.Is(err, remote.ErrEnded) {
		return ErrLost
	}
	return err
}

// Raw keeps a terminal from echoing and from changing what is typed, until the returned function is called: also between two
// windows, so that no key is lost or becomes another one.
func Raw(in *os.File) (restore func(), err error) {
	cooked, err := term.MakeRaw(in.Fd())
	if err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	return func() { _ = term.Restore(in.Fd(), cooked) }, nil // a terminal that is gone needs nothing
}

// leaveWithin is how long the other side may take to let go of the window.
const leaveWithin = 2 * time.Second

// Show shows the session of a client, whose handlers are this window's, until the person leaves it or goes to another
// one, it ends, or another window takes it over. Ctx ends it, too. said is what the person reads first.
func (w *Window) Show(ctx context.Context, client *remote.Client, role remote.Role, said string) (remote.Left, error) {
	cooked, err := Raw(w.in)
	if err != nil {
		return remote.Left{}, err
	}
	defer cooked()
	if err := client.Call(ctx, "show", remote.Show{Size: w.Size(), Role: role, Said: said}, nil); err != nil {
		return remote.Left{}, lost(err)
	}
	keys, err := cancelreader.NewReader(w.in)
	if err != nil {
		return remote.Left{}, fmt.Errorf("terminal: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	var pumps sync.WaitGroup
	defer pumps.Wait()
	defer stop()
	defer func() { keys.Cancel() }()
	away := make(chan error, 1)
	pumps.Go(func() { away <- w.send(ctx, client, keys) })
	pumps.Go(func() { w.follow(ctx, client) })
	select {
	case l := <-w.left:
		if l.Why != remote.LeftEnded { // otherwise the program has given the terminal back itself
			w.restore()
		}
		return l, nil
	case <-w.lost:
		w.restore()
		return remote.Left{}, ErrLost
	case err = <-away: // the person leaves, or the terminal is gone
		if err = lost(err); errors.Is(err, ErrLost) {
			w.restore()
			return remote.Left{}, err
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	within, done := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer done()
	_ = client.Call(within, "hide", nil, nil) // a connection that ends says the same
	w.restore()
	return remote.Left{Why: remote.LeftDetached}, err
}

// restore gives the terminal back as a program does that ends.
func (w *Window) restore() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over = true; w.drawn {
		_, _ = io.WriteString(w.out, screen.Restored()) // as above
	}
}

// send passes keys on, one message after the other, until the person leaves.
func (w *Window) send(ctx context.Context, client *remote.Client, keys io.Reader) error {
	var p prefix
	b := make([]byte, 4<<10)
	for {
		n, err := keys.Read(b)
		typed, leave := p.next(b[:n])
		if len(typed) > 0 {
			if err := client.Call(ctx, "type", remote.Type{Keys: typed}, nil); err != nil {
				return err
			}
		}
		switch {
		case leave:
			return nil
		case errors.Is(err, io.EOF), errors.Is(err, cancelreader.ErrCanceled):
			return nil
		case err != nil:
			return fmt.Errorf("terminal: %w", err)
		}
	}
}

// follow passes the size on where it changes.
func (w *Window) follow(ctx context.Context, client *remote.Client) {
	changed, stop := resized()
	defer stop()
	for {
		select {
		case <-changed:
			_ = client.Call(ctx, "size", w.Size(), nil) // a connection that has ended is noticed elsewhere
		case <-ctx.Done():
			return
		}
	}
}
