package tui

import (
	"context"
	"encoding/json"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/session"
	"jcode/tui/dialog"
	"jcode/tui/transcript"
)

// record stores what is shown in addition to the messages, so that a session looks the same when it is opened
// again.
// Writes are sequential; what is shown before the session is stored waits for it.
type record struct {
	pending []session.Shown
	writing bool
	unkept  int  // of pending, how many the last write could not store
	acted   bool // the person did something here: what is shown at each start is not stored
}

// note stores something that was just shown.
func (r *record) note(kind string, what any) {
	data, err := json.Marshal(what)
	if err != nil || !r.acted {
		return // strings and numbers only: it never fails
	}
	r.pending = append(r.pending, session.Shown{At: time.Now(), Kind: kind, Data: data})
}

// maxUnkept bounds the entries that wait until the disk can store them.
const maxUnkept = 200

// changed writes what is pending, as soon as there is a session that it belongs to.
func (r *record) changed(p *program) tea.Cmd {
	keep := p.opt.Keep
	if keep == nil || p.conv == nil {
		r.pending, r.unkept = nil, 0
		return nil
	}
	if r.writing || len(r.pending) == r.unkept || p.state.Session == "" || p.switcher.moving {
		return nil
	}
	list, id := r.pending, p.state.Session
	r.pending, r.writing = nil, true
	return p.Background(func(ctx context.Context) dialog.Do {
		err := keep(ctx, id, list)
		return func() tea.Cmd {
			r.writing = false
			if err == nil || ctx.Err() != nil {
				r.unkept = 0
				return nil
			}
			if r.unkept == 0 { // reported once until it works again
				p.tr.Add(transcript.Notice(event.LevelWarn, err.Error()))
			}
			if p.state.Session != id { // its session was left meanwhile
				return nil
			}
			r.pending = append(list, r.pending...)
			r.pending = r.pending[max(0, len(r.pending)-maxUnkept):]
			r.unkept = len(r.pending)
			return nil
		}
	})
}

// keepNow writes what is still pending when the program ends.
func (r *record) keepNow(ctx context.Context, p *program) error {
	if p.opt.Keep == nil || len(r.pending) == 0 || p.state.Session == "" {
		return nil
	}
	return p.opt.Keep(context.WithoutCancel(ctx), p.state.Session, r.pending)
}
