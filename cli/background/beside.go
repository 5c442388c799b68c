package backgroundcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"jcode/cli/core"
	"jcode/cli/live"
	"jcode/internal/ptty"
	"jcode/remote"
	"jcode/tui/front"
)

// reachWithin is how long a process in the background may take to answer before another one is shown in its place.
const reachWithin = 2 * time.Second

// How often the sessions in the background are looked at while there are some, and while there are none.
const (
	besideEvery = time.Second
	besideNone  = 3 * time.Second
)

// Elsewhere ends a chat in which nothing was said, in favour of a process in the background.
type Elsewhere struct{ Process int }

func (e *Elsewhere) Error() string { return "another session is shown" }

// besideSessions are the sessions of this user that run in the background, for the terminal of this one. It implements
// front.Live.
type besideSessions struct {
	detachCommand
	live live.Sessions
	cwd  string

	all    *remote.Beside // used by Next alone
	last   []front.LiveSession
	looked bool
}

// Beside returns the sessions in the background for a chat in a folder, which leave ends. here is nil in a terminal of its
// own. It returns nil where sessions can't run in the background.
func Beside(here *Terminal, c Chat, l live.Sessions, cwd string, leave context.CancelCauseFunc) front.Live {
	if !ptty.Supported {
		return nil
	}
	return &besideSessions{
		detachCommand: detachCommand{here, c, leave, &detachWait{}}, live: l, cwd: cwd, all: remote.NewBeside(l.Place, l.Name, os.Getpid()),
	}
}

// Next implements front.Live. Nothing is looked at while nobody looks at this session.
func (b *besideSessions) Next(ctx context.Context) ([]front.LiveSession, bool) {
	var came <-chan struct{}
	if b.here != nil {
		came = b.here.screen.Came()
	}
	for {
		var later <-chan time.Time
		if b.here == nil || b.here.screen.Watched() > 0 {
			later = time.After(b.pause())
		}
		select {
		case <-came:
		case <-later:
		case <-ctx.Done():
			b.all.Close()
			return nil, false
		}
		b.looked = true
		if list := b.look(ctx); ctx.Err() == nil && !slices.Equal(list, b.last) {
			b.last = list
			return list, true
		}
	}
}

// pause is how long nothing is looked at.
func (b *besideSessions) pause() time.Duration {
	switch {
	case !b.looked: // the first look is at once
		return 0
	case b.all.Any():
		return besideEvery
	}
	return besideNone
}

// look lists the sessions.
func (b *besideSessions) look(ctx context.Context) (out []front.LiveSession) {
	for _, p := range b.all.Look(ctx) {
		s := front.LiveSession{Process: p.Pid, Here: p.Pid == os.Getpid()}
		switch {
		case s.Here && b.here == nil:
			continue
		case s.Here:
			s.Folder = b.cwd
		}
		if p.Background != nil {
			s.Folder = p.Background.Folder
		}
		for _, open := range p.Sessions {
			s.Folder, s.Title = cmp.Or(open.Cwd, s.Folder), cmp.Or(s.Title, open.Title)
			s.Asks, s.Busy = s.Asks || open.Asks > 0, s.Busy || open.Busy
		}
		out = append(out, s)
	}
	return out
}

// Show implements front.Live. What runs in a terminal of its own goes to the background first.
func (b *besideSessions) Show(ctx context.Context, s front.LiveSession) error {
	within, stop := context.WithTimeout(ctx, reachWithin)
	defer stop()
	c, err := b.live.Place.Process(within, s.Process, b.live.Name, remote.Handlers{})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("process %d does not answer within %s", s.Process, reachWithin)
	}
	if err != nil {
		return fmt.Errorf("process %d does not answer: %w", s.Process, err)
	}
	c.Close()
	if b.here != nil {
		b.here.screen.Elsewhere(s.Process)
		return nil
	}
	conv := b.chat.Open()
	switch {
	case conv == nil || conv.State().ReadOnly || conv.ID() == "" && !conv.Private() && !conv.State().Busy:
		b.leave(&Elsewhere{s.Process})
		return nil
	case conv.Private():
		return fmt.Errorf("%w, so it can't move to the background: leave it with /quit", core.ErrPrivate)
	case conv.State().Busy || len(conv.Queue()) > 0:
		return errors.New("a turn runs, and this terminal belongs to it: /detach takes the session to the background when it has ended")
	}
	if left := b.leftBehind(conv); len(left) > 0 {
		return fmt.Errorf("the session would go on without %s: end them, or /detach anyway", strings.Join(left, ", "))
	}
	b.moveFor(conv, s.Process)
	return nil
}
