package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrNoSession is returned where no process has a session open.
var ErrNoSession = errors.New("the session is not open any more")

// Process is a process that owns sessions, with those that are open in it: none, as long as nothing was said.
type Process struct {
	Welcome
	Started  time.Time
	Sessions []Listed
}

// Processes returns all processes with their sessions. The error says which of them could not be asked.
func (p Place) Processes(ctx context.Context, name string) (out []Process, err error) {
	err = p.Each(ctx, name, func(c *Client) bool {
		var list []Listed
		if c.Call(ctx, "sessions", nil, &list) == nil { // otherwise it has just ended
			out = append(out, Process{c.Welcome, c.Started, list})
		}
		return false
	})
	return out, err
}

// Open connects to the process of a session. The caller closes the client. The handlers hear of this connection only, not
// of those to other processes that were asked.
func (p Place) Open(ctx context.Context, name, session string, h Handlers) (found *Client, err error) {
	err = p.Each(ctx, name, func(c *Client) bool {
		var list []Listed
		if c.Call(ctx, "sessions", nil, &list) == nil && slices.ContainsFunc(list, func(s Listed) bool { return s.SessionID == session }) {
			found = c
		}
		return found != nil
	})
	if found != nil {
		found.listen(h)
		return found, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w; %w", ErrNoSession, err)
	}
	return nil, ErrNoSession
}
