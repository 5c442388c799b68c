package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/agent/event/wire"
	"jcode/cli/console"
	"jcode/remote"
	"jcode/session"
)

// Sessions finds the sessions that run in other processes of this user.
type Sessions struct {
	Place remote.Place
	Name  string // what the others read
}

// In returns those of a data folder.
func In(data string, getenv func(string) string) Sessions {
	name := "another terminal"
	if getenv("SSH_CONNECTION") != "" {
		name = "a terminal over ssh"
	}
	return Sessions{remote.In(data), name}
}

// Session is a session of a process, or the process alone as long as it has none.
type Session struct {
	remote.Listed
	Pid int `json:"pid"`
	// Background is nil in a terminal of its own.
	Background *remote.Background `json:"background,omitempty"`
}

// Called reports whether a person means this session by a word.
func (s Session) Called(name string) bool {
	return s.SessionID != "" && strings.HasSuffix(s.SessionID, name) || strings.Contains(strings.ToLower(s.Title), strings.ToLower(name)) || strconv.Itoa(s.Pid) == name
}

// List returns the sessions of all processes, those that wait for an answer first.
func (l Sessions) List(ctx context.Context) ([]Session, error) {
	var out []Session
	all, err := l.Place.Processes(ctx, l.Name)
	for _, p := range all {
		if b := p.Background; b != nil && len(p.Sessions) == 0 {
			p.Sessions = append(p.Sessions, remote.Listed{State: wire.State{Cwd: b.Folder}, Role: remote.Control})
		}
		for _, s := range p.Sessions {
			out = append(out, Session{s, p.Pid, p.Background})
		}
	}
	slices.SortStableFunc(out, func(a, b Session) int { return cmp.Compare(Urgency(b), Urgency(a)) })
	return out, err
}

// In says in which kind of window it is.
func (s Session) In() string {
	switch {
	case s.Background == nil:
		return string(cmp.Or(s.Where, remote.InTerminal))
	case s.Background.Windows == 0:
		return "background"
	}
	return "background, shown"
}

// Urgency is 2 if a session waits for an answer, 1 if it works, else 0.
func Urgency(s Session) int {
	switch {
	case s.Asks > 0:
		return 2
	case s.Busy:
		return 1
	}
	return 0
}

// Find connects to the process of a session, by the end of its ID or a part of its title; "" is the only one, or the
// only one that waits for an answer.
func (l Sessions) Find(ctx context.Context, name string, h remote.Handlers) (*remote.Client, remote.Listed, error) {
	all, err := l.List(ctx)
	if err != nil {
		return nil, remote.Listed{}, &console.Exit{Code: console.ExitModel, Err: err}
	}
	all = slices.DeleteFunc(all, func(s Session) bool { return s.SessionID == "" })
	fits := slices.DeleteFunc(slices.Clone(all), func(s Session) bool { return name != "" && !s.Called(name) })
	if asks := slices.DeleteFunc(slices.Clone(fits), func(s Session) bool { return s.Asks == 0 }); len(fits) > 1 && len(asks) == 1 {
		fits = asks
	}
	switch {
	case len(all) == 0:
		return nil, remote.Listed{}, console.Usage("no session is open in another terminal")
	case len(fits) == 0:
		return nil, remote.Listed{}, console.Usage("no open session is called %q: jcode sessions ps lists them", name)
	case len(fits) > 1:
		return nil, remote.Listed{}, console.Usage("%d open sessions match %q: name one by its ID, as jcode sessions ps prints it", len(fits), name)
	}
	found, err := l.Place.Open(ctx, l.Name, fits[0].SessionID, h)
	if err != nil {
		return nil, remote.Listed{}, &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("session %s: %w", session.ShortID(fits[0].SessionID), err)}
	}
	return found, fits[0].Listed, nil
}

// How long a session that is watched may be away: one whose process was lost, and one that was closed, which may go on
// in another process at once. Meanwhile it is looked for, again after a moment.
const (
	LostFor   = 2 * time.Minute
	ClosedFor = 2 * time.Second
	LookAgain = 200 * time.Millisecond
)

// errStayedAway is returned where a session does not come back.
var errStayedAway = errors.New("the session did not come back")

// Await waits until a session is open again, and connects to its process.
func (l Sessions) Await(ctx context.Context, session string, within time.Duration, h remote.Handlers) (*remote.Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, errStayedAway)
	defer cancel()
	for {
		client, err := l.Place.Open(ctx, l.Name, session, h)
		if err == nil {
			return client, nil
		}
		select {
		case <-time.After(LookAgain):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
