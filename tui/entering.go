package tui

import (
	"cmp"
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// eventsMsg carries what happened in the conversation.
type eventsMsg struct {
	pump   int
	events []event.Event
}

// started enters the first session.
func (p *program) started(s front.Session, err error) tea.Cmd {
	p.status, p.switcher.moving = "", false
	if err != nil {
		p.Say(event.LevelError, err.Error())
		return nil
	}
	return tea.Batch(p.enter(s), p.switcher.goOn())
}

// enter switches to a session.
func (p *program) enter(s front.Session) tea.Cmd {
	var first tea.Cmd
	p.leave()
	p.conv = s.Conversation
	p.state = s.Conversation.State()
	p.answeredIn = p.state.Role
	p.look.Files = look.NewFiles(cmp.Or(p.state.Cwd, p.opt.Cwd))
	p.turn, p.queue, p.todo, p.agents, p.usage = turn{}, nil, s.Todo, s.Agents, s.Usage
	p.tr.AddHistory(s.History, s.Shown)
	p.record.Pending, p.record.unkept, p.record.Acted = nil, 0, false
	for _, n := range s.Notices {
		p.tr.Add(transcript.Notice(n.Level, n.Text)) // repeated each time it is opened
	}
	if s.Draft != "" && p.in.Empty() {
		p.in.Paste(s.Draft)
		p.drafts.kept = p.in.Generation()
		first = p.outside.foldPictures(s.Draft)
	}
	p.pump++
	if s.Events != nil {
		ctx, cancel := context.WithCancel(p.ctx)
		p.unpump = cancel
		go pump(ctx, p.pump, s.Events, p.send)
	}
	if s.EnterRole != nil {
		first = tea.Batch(first, p.switcher.switchRole("entering the role "+s.Role, "", func(ctx context.Context, _ front.Conversation) error { return s.EnterRole(ctx) }))
	}
	if line := p.opening; line != "" {
		p.opening = ""
		if cmd, ok := p.slashes.line(line); ok {
			first = tea.Batch(first, cmd)
		} else {
			p.switcher.waiting = append(p.switcher.waiting, event.Prompt{Text: line})
		}
	}
	later := p.switcher.later
	p.switcher.later = nil
	for _, do := range later {
		first = tea.Batch(first, do())
	}
	p.switcher.sendWaiting()
	return tea.Batch(first, p.around.read(p.loop, p.scene, p.talk))
}

// leave stops listening to the current session and closes its questions. A prompt that is still being prepared
// goes back into the input, because Unsent would no longer be read.
func (p *program) leave() {
	p.giveBack(p.turn.prepared)
	p.turn.prepared = nil
	if p.unpump != nil {
		p.unpump()
		p.unpump = nil
	}
	p.pump++
	ofSession := func(d dialog.Dialog) bool { // the question about the folder stays
		_, stays := d.(dialog.Lasting)
		return !stays
	}
	p.stack.Asks, p.stack.Later = slices.DeleteFunc(p.stack.Asks, ofSession), slices.DeleteFunc(p.stack.Later, ofSession)
}

// pump carries events into the loop until ctx ends; pending events are sent together.
func pump(ctx context.Context, id int, events front.Events, send func(tea.Msg)) {
	defer events.Close()
	for {
		ev, ok := events.Next(ctx)
		if !ok {
			return
		}
		send(eventsMsg{pump: id, events: append([]event.Event{ev}, events.Drain()...)})
	}
}
