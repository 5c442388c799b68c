package tui

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tui/front"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// turn is the state of the running turn.
type turn struct {
	busy    bool
	started time.Time
	// doing says what it is working on: "thinking", "writing edit (2 KB)", "running exec".
	doing    string
	prepared []event.Prompt // the prompt, until it is committed
	retry    time.Time      // when a failed request is tried again
	answer   *transcript.Answer
	thought  *transcript.Thought
	calls    map[string]*transcript.Call
	sum      transcript.Turn
}

// events shows what happened, in order.
func (p *listener) events(list []event.Event) tea.Cmd {
	p.look.Now = time.Now()
	var cmds []tea.Cmd
	for _, ev := range list {
		if cmd := p.event(ev); cmd != nil {
			cmds = append(cmds, cmd)
		}
	}
	return tea.Batch(cmds...)
}

func (p *listener) event(ev event.Event) tea.Cmd {
	switch ev := ev.(type) {
	case event.Preparing:
		p.turnBegins()
		p.turn.doing, p.turn.prepared = ev.Doing, []event.Prompt{ev.Prompt}
	case event.TurnStart:
		p.look.Files = p.look.Files.Fresh()
		p.plans.withdraw()
		p.turnBegins()
		if p.turn.prepared != nil {
			p.turn.doing, p.turn.prepared = "thinking", nil
		}
		p.tr.Add(transcript.NewPrompt(ev.Prompt, ev.At, ev.Seq, p.outside.chips))
		p.tr.Find = transcript.Finder{}
	case event.StepStart:
		p.turn.doing, p.turn.retry = "thinking", time.Time{}
	case event.TextDelta, event.ReasoningDelta, event.AnswerReset, event.AssistantMessage:
		p.answerEvent(ev)
	case event.CallWriting, event.CallStart, event.CallProgress, event.CallEnd, event.Nested:
		p.callEvent(ev)
	case event.ApprovalAsked, event.ApprovalClosed, event.AskPerson, event.AskForm, event.AskClosed:
		return p.askEvent(ev)
	case event.NotesUsed:
		p.turn.sum.Used = ev.Notes
	case event.TurnEnd:
		return p.turnEnd(ev)
	case event.StateChanged:
		p.state = ev.State
		if !p.turn.busy {
			return p.around.read(p.loop, p.scene, p.talk)
		}
	case event.Usage:
		p.usage = ev
	case event.Rewound:
		last := p.tr.Last()
		p.tr.Cut(ev.From)
		if last != nil && last == p.told && p.tr.Last() != last { // the command that rewound was answered before
			p.tr.Add(last)
		}
	case event.QueueChanged:
		p.queue = ev.Queued
	case event.Unsent: // the error is shown as the turn's, or as a notice
		p.giveBack([]event.Prompt{ev.Prompt})
	case event.TodoChanged:
		p.todo = ev.Items
	case event.AgentChanged:
		p.agentChanged(ev.Agent)
	default:
		p.newsEvent(ev)
	}
	return nil
}

// answerEvent shows the answer and the thinking as they stream.
func (p *listener) answerEvent(ev event.Event) {
	t := &p.turn
	switch ev := ev.(type) {
	case event.TextDelta:
		if t.thought != nil {
			t.thought.Finish(p.look.Now)
		}
		if t.answer == nil {
			t.answer = &transcript.Answer{}
			p.tr.Add(t.answer)
		}
		t.answer.Append(ev.Text)
		t.doing = "answering"
	case event.ReasoningDelta:
		if t.thought == nil || t.thought.Done {
			t.thought = &transcript.Thought{Start: p.look.Now}
			p.tr.Add(t.thought)
		}
		t.thought.Append(ev.Text)
		t.doing = "thinking"
	case event.AnswerReset:
		if t.answer != nil {
			p.tr.Remove(t.answer)
		}
		if t.thought != nil {
			p.tr.Remove(t.thought)
		}
		t.answer, t.thought = nil, nil
	case event.AssistantMessage:
		p.answeredIn = p.state.Role
		p.assistant(ev)
	}
}

// assistant completes the streamed answer with the committed one.
func (p *listener) assistant(ev event.AssistantMessage) {
	t := &p.turn
	if t.thought != nil {
		t.thought.Finish(p.look.Now)
	} else if ev.Reasoning != "" {
		th := &transcript.Thought{Done: true}
		th.Append(ev.Reasoning)
		p.tr.Add(th)
	}
	switch {
	case t.answer != nil:
		t.answer.Finish(ev.Text)
	case ev.Text != "":
		p.tr.Add(&transcript.Answer{Src: ev.Text, Raw: len(ev.Text), Done: true})
	}
	t.answer, t.thought = nil, nil
}

// callEvent shows what tools do.
func (p *listener) callEvent(ev event.Event) {
	t := &p.turn
	switch ev := ev.(type) {
	case event.CallWriting:
		t.doing = fmt.Sprintf("writing %s (%s)", ev.Name, look.Size(ev.Bytes))
	case event.CallStart:
		c := transcript.NewCall(ev.ID, ev.Name, ev.Arguments, ev.At)
		if t.calls == nil {
			t.calls = map[string]*transcript.Call{}
		}
		t.calls[ev.ID] = c
		p.tr.AddCall(c)
		t.doing = "working" // what it does stands in its row
	case event.CallProgress:
		if c := t.calls[ev.ID]; c != nil {
			c.Progress(ev.Text, ev.Output)
		}
	case event.CallEnd:
		if c := t.calls[ev.ID]; c != nil {
			c.End(ev)
			delete(t.calls, ev.ID)
			t.sum.Note(ev.Result.Display)
		}
	case event.Nested:
		if c := t.calls[ev.CallID]; c != nil {
			if c.Nested == nil {
				c.Nested = &transcript.Nested{}
			}
			c.Nested.Event(ev.Event)
			if end, ok := ev.Event.(event.CallEnd); ok {
				t.sum.Note(end.Result.Display)
			}
			c.Drop()
		}
	}
}

// turnBegins begins a turn, unless one runs already: it was being prepared, or a queued message joins it.
func (p *listener) turnBegins() {
	if !p.turn.busy {
		p.turn = turn{busy: true, started: p.look.Now, doing: "thinking", sum: transcript.Turn{Before: p.usage}}
	}
}

// newsEvent shows notices and other side information.
func (p *listener) newsEvent(ev event.Event) {
	switch ev := ev.(type) {
	case event.Notice:
		p.Say(ev.Level, ev.Text)
	case event.ToolsChanged:
		if news := front.ToolsChanged(ev, p.state.Mode); news != "" {
			p.Say(event.LevelInfo, news)
		}
	case event.Retrying:
		p.turn.doing = "trying again, attempt " + strconv.Itoa(ev.Attempt+1) + ": " + look.OneLine(ev.Reason)
		p.turn.retry = p.look.Now.Add(ev.Wait)
	case event.Compacting:
		p.turn.doing = "summarising the conversation"
	case event.Compacted:
		p.Say(event.LevelInfo, fmt.Sprintf("The conversation was summarised: about %s tokens are now %s.", look.Thousands(ev.BeforeTokens), look.Thousands(ev.AfterTokens)))
	case event.ApprovalDecided:
		if !ev.Allow && ev.Rule != "" {
			p.Say(event.LevelWarn, ev.Name+" was refused by "+ev.Rule)
		}
	}
}

// turnEnd closes a turn and says how it ended unless that is obvious.
func (p *listener) turnEnd(ev event.TurnEnd) tea.Cmd {
	for _, c := range p.turn.calls {
		c.End(event.CallEnd{Status: string(session.StatusInterrupted)})
	}
	if p.turn.answer != nil { // cut off: what arrived is kept
		p.turn.answer.Finish(p.turn.answer.Text())
	}
	if p.turn.thought != nil {
		p.turn.thought.Finish(p.look.Now)
	}
	began, sum := p.turn.busy && p.turn.prepared == nil, p.turn.sum
	sum.Took, sum.After = ev.Duration, p.usage
	p.turn = turn{}
	switch ev.Reason {
	case event.StopInterrupted:
		p.Say(event.LevelWarn, "Interrupted. What was finished is kept.")
		if n := len(p.queue); n > 0 {
			p.sender.takeBack()
			p.Say(event.LevelInfo, text.Count(n, "queued message")+": back in the input.")
		}
	case event.StopError:
		msg := cmp.Or(ev.Error, "the turn failed")
		if refused := new(model.Error); errors.As(ev.Err, &refused) && refused.Class == model.ClassAuth && p.opt.Login != nil {
			msg += "\n/login enters another key."
		}
		p.Say(event.LevelError, msg)
	case event.StopLimit:
		p.Say(event.LevelWarn, cmp.Or(ev.Error, "stopped at a limit"))
	case event.StopDone:
		p.plans.offer(ev)
	}
	if it := sum.Item(); it != nil && began {
		p.tr.Add(it)
		p.record.Note(transcript.KindTurn, transcript.KeptTurn{Parts: sum.Parts()})
	}
	return tea.Batch(p.outside.notify("jcode is done", ev.Text), p.around.read(p.loop, p.scene, p.talk))
}
