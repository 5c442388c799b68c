package tui

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/session"
)

// turn is the state of the running turn.
type turn struct {
	busy    bool
	started time.Time
	// doing says what it is working on: "thinking", "writing edit (2 KB)", "running exec".
	doing    string
	prepared []event.Prompt // the prompt, until it is committed
	retry    time.Time      // when a failed request is tried again
	answer   *answerItem
	thought  *thoughtItem
	calls    map[string]*callItem
	sum      turnSum
}

// events shows what happened, in order.
func (p *listener) events(msg eventsMsg) tea.Cmd {
	if msg.pump != p.pump {
		return nil
	}
	p.look.now = time.Now()
	var cmds []tea.Cmd
	for _, ev := range msg.events {
		if cmd := p.listen.event(ev); cmd != nil {
			cmds = append(cmds, cmd)
		}
	}
	return tea.Batch(cmds...)
}

func (p *listener) event(ev event.Event) tea.Cmd {
	switch ev := ev.(type) {
	case event.Preparing:
		p.listen.turnBegins()
		p.turn.doing, p.turn.prepared = ev.Doing, []event.Prompt{ev.Prompt}
	case event.TurnStart:
		p.plans.withdraw()
		p.listen.turnBegins()
		if p.turn.prepared != nil {
			p.turn.doing, p.turn.prepared = "thinking", nil
		}
		p.tr.add(newPrompt(ev.Prompt, ev.At, ev.Seq, p.outside.chips))
		p.tr.find = finder{}
	case event.StepStart:
		p.turn.doing, p.turn.retry = "thinking", time.Time{}
	case event.TextDelta, event.ReasoningDelta, event.AnswerReset, event.AssistantMessage:
		p.listen.answerEvent(ev)
	case event.CallWriting, event.CallStart, event.CallProgress, event.CallEnd, event.Nested:
		p.listen.callEvent(ev)
	case event.ApprovalAsked, event.ApprovalClosed, event.AskPerson, event.AskForm, event.AskClosed:
		return p.listen.askEvent(ev)
	case event.TurnEnd:
		return p.listen.turnEnd(ev)
	case event.StateChanged:
		p.state = ev.State
	case event.Usage:
		p.usage = ev
	case event.Rewound:
		last := p.tr.last()
		p.tr.cut(ev.From)
		if last != nil && last == p.told && p.tr.last() != last { // the command that rewound was answered before
			p.tr.add(last)
		}
	case event.QueueChanged:
		p.queue = ev.Queued
	case event.Unsent: // the error is shown as the turn's, or as a notice
		p.sender.giveBack([]event.Prompt{ev.Prompt})
	case event.TodoChanged:
		p.todo = ev.Items
	case event.AgentChanged:
		p.listen.agentChanged(ev.Agent)
	default:
		p.listen.newsEvent(ev)
	}
	return nil
}

// answerEvent shows the answer and the thinking as they stream.
func (p *listener) answerEvent(ev event.Event) {
	t := &p.turn
	switch ev := ev.(type) {
	case event.TextDelta:
		if t.thought != nil {
			t.thought.finish(p.look.now)
		}
		if t.answer == nil {
			t.answer = &answerItem{}
			p.tr.add(t.answer)
		}
		t.answer.append(ev.Text)
		t.doing = "answering"
	case event.ReasoningDelta:
		if t.thought == nil || t.thought.done {
			t.thought = &thoughtItem{start: p.look.now}
			p.tr.add(t.thought)
		}
		t.thought.append(ev.Text)
		t.doing = "thinking"
	case event.AnswerReset:
		if t.answer != nil {
			p.tr.remove(t.answer)
		}
		if t.thought != nil {
			p.tr.remove(t.thought)
		}
		t.answer, t.thought = nil, nil
	case event.AssistantMessage:
		p.answeredIn = p.state.Role
		p.listen.assistant(ev)
	}
}

// assistant completes the streamed answer with the committed one.
func (p *listener) assistant(ev event.AssistantMessage) {
	t := &p.turn
	if t.thought != nil {
		t.thought.finish(p.look.now)
	} else if ev.Reasoning != "" {
		th := &thoughtItem{done: true}
		th.append(ev.Reasoning)
		p.tr.add(th)
	}
	switch {
	case t.answer != nil:
		t.answer.finish(ev.Text)
	case ev.Text != "":
		p.tr.add(&answerItem{src: ev.Text, raw: len(ev.Text), done: true})
	}
	t.answer, t.thought = nil, nil
}

// callEvent shows what tools do.
func (p *listener) callEvent(ev event.Event) {
	t := &p.turn
	switch ev := ev.(type) {
	case event.CallWriting:
		t.doing = fmt.Sprintf("writing %s (%s)", ev.Name, size(ev.Bytes))
	case event.CallStart:
		c := newCall(ev.ID, ev.Name, ev.Arguments, ev.At)
		if t.calls == nil {
			t.calls = map[string]*callItem{}
		}
		t.calls[ev.ID] = c
		p.tr.addCall(c)
		t.doing = "running " + ev.Name
	case event.CallProgress:
		if c := t.calls[ev.ID]; c != nil {
			c.progress(ev.Text, ev.Output)
		}
	case event.CallEnd:
		if c := t.calls[ev.ID]; c != nil {
			c.end(ev)
			delete(t.calls, ev.ID)
			t.sum.note(ev.Result.Display)
		}
	case event.Nested:
		if c := t.calls[ev.CallID]; c != nil {
			if c.nested == nil {
				c.nested = &nested{}
			}
			c.nested.event(ev.Event)
			if end, ok := ev.Event.(event.CallEnd); ok {
				t.sum.note(end.Result.Display)
			}
			c.drop()
		}
	}
}

// turnBegins begins a turn, unless one runs already: it was being prepared, or a queued message joins it.
func (p *listener) turnBegins() {
	if !p.turn.busy {
		p.turn = turn{busy: true, started: p.look.now, doing: "thinking", sum: turnSum{before: p.usage}}
	}
}

// newsEvent shows notices and other side information.
func (p *listener) newsEvent(ev event.Event) {
	switch ev := ev.(type) {
	case event.Notice:
		p.say(ev.Level, ev.Text)
	case event.ToolsChanged:
		p.say(event.LevelInfo, toolsChanged(ev))
	case event.Retrying:
		p.turn.doing = "trying again, attempt " + itoa(ev.Attempt+1) + ": " + oneLine(ev.Reason)
		p.turn.retry = p.look.now.Add(ev.Wait)
	case event.Compacting:
		p.turn.doing = "summarising the conversation"
	case event.Compacted:
		p.say(event.LevelInfo, fmt.Sprintf("The conversation was summarised: about %s tokens are now %s.", thousands(ev.BeforeTokens), thousands(ev.AfterTokens)))
	case event.ApprovalDecided:
		if !ev.Allow && ev.Rule != "" {
			p.say(event.LevelWarn, ev.Name+" was refused by "+ev.Rule)
		}
	}
}

// turnEnd closes a turn and says how it ended unless that is obvious.
func (p *listener) turnEnd(ev event.TurnEnd) tea.Cmd {
	for _, c := range p.turn.calls {
		c.end(event.CallEnd{Status: string(session.StatusInterrupted)})
	}
	if p.turn.answer != nil { // cut off: what arrived is kept
		p.turn.answer.finish(p.turn.answer.text())
	}
	if p.turn.thought != nil {
		p.turn.thought.finish(p.look.now)
	}
	began, sum := p.turn.busy && p.turn.prepared == nil, p.turn.sum
	sum.took, sum.after = ev.Duration, p.usage
	p.turn = turn{}
	switch ev.Reason {
	case event.StopInterrupted:
		p.say(event.LevelWarn, "Interrupted. What was finished is kept.")
		if n := len(p.queue); n > 0 {
			p.sender.takeBack()
			p.say(event.LevelInfo, count(n, "queued message")+": back in the input.")
		}
	case event.StopError:
		msg := cmp.Or(ev.Error, "the turn failed")
		if refused := new(model.Error); errors.As(ev.Err, &refused) && refused.Class == model.ClassAuth && p.opt.Login != nil {
			msg += "\n/login enters another key."
		}
		p.say(event.LevelError, msg)
	case event.StopLimit:
		p.say(event.LevelWarn, cmp.Or(ev.Error, "stopped at a limit"))
	case event.StopDone:
		p.plans.offer(ev)
	}
	if it := sum.item(); it != nil && began {
		p.tr.add(it)
		p.record.note(shownTurn, keptTurn{sum.parts()})
	}
	return p.outside.notify("jcode is done", ev.Text)
}

func toolsChanged(ev event.ToolsChanged) string {
	var parts []string
	if len(ev.Added) > 0 {
		parts = append(parts, "New tools: "+list(ev.Added))
	}
	if len(ev.Removed) > 0 {
		parts = append(parts, "Gone: "+list(ev.Removed))
	}
	return strings.Join(parts, " · ")
}

// list names the first few of many.
func list(names []string) string {
	if more := len(names) - namesShown; more > 0 {
		return strings.Join(names[:namesShown], ", ") + " and " + itoa(more) + " more"
	}
	return strings.Join(names, ", ")
}

// size abbreviates a number of bytes, thousands a count of tokens.
func size(n int) string      { return abbreviated(n, " B", " KB", " MB") }
func thousands(n int) string { return abbreviated(n, "", "k", "M") }

// abbreviated writes a number with the largest unit that fits: one, a thousand, or a million.
func abbreviated(n int, one, thousand, million string) string {
	switch {
	case n < 1000:
		return itoa(n) + one
	case n < 1000*1000:
		return fmt.Sprintf("%.1f", float64(n)/1000) + thousand
	}
	return fmt.Sprintf("%.1f", float64(n)/1e6) + million
}
