package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/transcript"
)

// record stores what is shown in addition to the messages, so that a session looks the same when it is opened
// again.
// Writes are sequential; what is shown before the session is stored waits for it.
type record struct {
	front.Shown
	writing bool
	unkept  int // of pending, how many the last write could not store
}

// maxUnkept bounds the entries that wait until the disk can store them.
const maxUnkept = 200

// changed writes what is pending, as soon as there is a session that it belongs to.
func (r *record) changed(p *program) tea.Cmd {
	keep := p.opt.Keep
	if keep == nil || p.conv == nil {
		r.Pending, r.unkept = nil, 0
		return nil
	}
	if r.writing || len(r.Pending) == r.unkept || p.state.Session == "" || p.switcher.moving {
		return nil
	}
	list, id := r.Pending, p.state.Session
	r.Pending, r.writing = nil, true
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
			r.Pending = append(list, r.Pending...)
			r.Pending = r.Pending[max(0, len(r.Pending)-maxUnkept):]
			r.unkept = len(r.Pending)
			return nil
		}
	})
}

// keepNow writes what is still pending when the program ends.
func (r *record) keepNow(ctx context.Context, p *program) error {
	if p.opt.Keep == nil || len(r.Pending) == 0 || p.state.Session == "" {
		return nil
	}
	return p.opt.Keep(context.WithoutCancel(ctx), p.state.Session, r.Pending)
}
