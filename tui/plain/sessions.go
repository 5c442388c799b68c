package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/session"
	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// plainSessions limits the list of /resume: to find an older session, add a word from it.
const plainSessions = 20

var (
	errNoSessions = errors.New("sessions are not available here")
	errBusy       = errors.New("not while something runs: wait for its end, or /stop the turn")
)

// plug connects the events of a session to the loop, in place of the previous one's.
func (p *shell) plug(ctx context.Context, s front.Session) {
	if p.unplug != nil {
		p.unplug()
	}
	inner, cancel := context.WithCancel(ctx)
	events := make(chan event.Event)
	p.conv, p.events, p.unplug = s.Conversation, events, cancel
	if s.Events == nil {
		return
	}
	p.work.Go(func() {
		defer s.Events.Close()
		for {
			ev, ok := s.Events.Next(inner)
			if !ok {
				return
			}
			select {
			case events <- ev:
			case <-inner.Done():
				return
			}
		}
	})
}

// open writes the content of a session so far.
func (p *shell) open(s front.Session) {
	st := p.conv.State()
	p.say("Model " + st.Model + ", mode " + string(st.Mode) + ", folder " + cmp.Or(st.Cwd, p.opt.Cwd) + ".")
	p.usage = s.Usage
	p.history(s.History, s.Shown)
	for _, n := range s.Notices {
		p.notice(n)
	}
}

// switchTo switches to another session.
func (p *shell) switchTo(ctx context.Context, find func(context.Context) (front.Session, error)) error {
	if p.busy || len(p.shells) > 0 {
		return errBusy
	}
	p.keep(ctx)
	s, err := find(ctx)
	if err != nil {
		return err
	}
	p.plug(ctx, s)
	p.record, p.calls, p.diffs = front.Shown{Acted: true}, map[string]*transcript.Call{}, map[string]string{}
	p.say("Session: " + cmp.Or(p.conv.State().Title, "a new one") + ".")
	p.open(s)
	if s.EnterRole != nil {
		p.enterRole(ctx, s.EnterRole)
	}
	return nil
}

// newSession starts a new session, and asks whether to carry over the last exchange if there is one.
func (p *shell) newSession(ctx context.Context, title string) error {
	switch {
	case p.opt.Sessions == nil:
		return errNoSessions
	case p.busy || len(p.shells) > 0:
		return errBusy
	}
	fresh := func(ctx context.Context, carry bool) error {
		return p.switchTo(ctx, func(ctx context.Context) (front.Session, error) {
			return front.NewTitled(ctx, p.opt.Sessions, carry, title)
		})
	}
	if p.conv.State().Session == "" {
		return fresh(ctx, false)
	}
	p.choice("Carry the last exchange over into the new session?", []string{"no, begin with nothing", "yes, the last prompt and its answer go along", "stay here"}, func(ctx context.Context, n int) error {
		if n == 3 {
			return nil
		}
		return fresh(ctx, n == 2)
	})
	return nil
}

// resume lists earlier sessions of this folder, with a query those that contain it, and asks for one.
func (p *shell) resume(ctx context.Context, query string) error {
	if p.opt.Sessions == nil {
		return errNoSessions
	}
	found, err := p.opt.Sessions.List(ctx, query, false)
	if err != nil {
		return err
	}
	current := p.conv.State().Session
	var rows []command.Row
	var options []string
	for _, r := range front.SessionRows(found, time.Now(), current) {
		if r.Current {
			continue
		}
		if len(rows) == plainSessions {
			p.say(fmt.Sprintf("The %d newest of %d sessions; /resume TEXT finds others.", plainSessions, len(found)))
			break
		}
		rows = append(rows, r)
		options = append(options, strings.Join([]string{look.OneLine(r.Name), r.State, r.Info}, ", "))
	}
	if len(rows) == 0 {
		p.say("No other session here. One is kept from its first message on.")
		return nil
	}
	p.choice("Which session?", append(options, "stay here"), func(ctx context.Context, n int) error {
		if n > len(rows) {
			return nil
		}
		return p.switchTo(ctx, func(ctx context.Context) (front.Session, error) { return p.opt.Sessions.Open(ctx, rows[n-1].ID) })
	})
	return nil
}

// session resumes the named session, or starts it if there is none.
func (p *shell) session(ctx context.Context, name string) error {
	if name == "" || p.opt.Sessions == nil {
		return p.resume(ctx, "")
	}
	err := p.switchTo(ctx, func(ctx context.Context) (front.Session, error) { return p.opt.Sessions.Open(ctx, name) })
	if errors.Is(err, session.ErrNotFound) {
		return p.newSession(ctx, name)
	}
	return err
}

// fork continues in a copy of the session, or of its first prompts.
func (p *shell) fork(ctx context.Context, args string) error {
	id := p.conv.State().Session
	if p.opt.Sessions == nil || id == "" {
		return errors.New("there is no stored session to fork yet")
	}
	upTo, ok := front.ForkEnd(p.prompts, args)
	if !ok {
		p.say(front.WhichFork(p.prompts))
		return nil
	}
	return p.switchTo(ctx, func(ctx context.Context) (front.Session, error) { return p.opt.Sessions.Fork(ctx, id, upTo) })
}

// choice asks one of our own questions; the next line answers it by number.
func (p *shell) choice(question string, options []string, choose func(ctx context.Context, n int) error) {
	p.say("Question: " + question)
	p.pose(plainAsk{id: question, options: options, choose: choose}, "Answer (number): ")
}
