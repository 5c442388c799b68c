package acp

import (
	"encoding/json"
	"strings"

	"github.com/coder/acp-go-sdk"
	"github.com/google/uuid"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools"
)

// maxOutput is how much of a running command's output an update repeats, in bytes.
const maxOutput = 32 << 10

// shown is what the client has seen of the turn so far.
type shown struct {
	answer   string // message ID of the answer that is being streamed
	thought  string
	streamed strings.Builder // of the answer's text
	calls    map[string]*shownCall
	state    event.State
	used     event.Usage // the last one
	commands string      // the last list of commands, encoded
}

// shownCall is a call that the client knows of and that has not ended.
type shownCall struct {
	name   string
	args   json.RawMessage
	output string
}

func newShown() shown { return shown{calls: map[string]*shownCall{}} }

// follow turns the conversation's events into updates until the conversation ends.
func (o *openSession) follow() {
	o.shown.state = o.conv.State()
	o.sendCommands()
	for {
		ev, ok := o.events.Next(o.ctx)
		if !ok {
			return
		}
		o.event(ev)
	}
}

func (o *openSession) event(ev event.Event) {
	switch ev := ev.(type) {
	case event.TurnStart:
		o.turnStarted(ev.Queued)
	case event.StepStart:
		o.stopCancelled()
		o.sendCommands() // changes of the last reload
	case event.TextDelta:
		o.text(ev.Text)
	case event.ReasoningDelta:
		o.think(ev.Text)
	case event.AnswerReset:
		if o.shown.streamed.Len() > 0 {
			o.nextMessage()
			o.say("The answer starts over: " + ev.Reason)
		}
	case event.AssistantMessage:
		// What was merged away or never streamed is sent now.
		if rest, ok := strings.CutPrefix(ev.Text, o.shown.streamed.String()); ok && rest != "" {
			o.text(rest)
		}
		o.nextMessage()
	case event.CallStart:
		o.callStarted(ev)
	case event.CallProgress:
		o.callProgress(ev)
	case event.CallEnd:
		o.callEnded(ev)
	case event.Nested:
		o.nested(ev)
	case event.ApprovalAsked:
		o.ask(ev)
	case event.AskPerson:
		o.askPerson(ev)
	case event.AskForm:
		o.askForm(ev)
	case event.ApprovalClosed:
		o.closeQuestion(ev.ID)
	case event.AskClosed:
		o.closeQuestion(ev.ID)
	case event.TodoChanged:
		o.plan(ev.Items)
	case event.Usage:
		o.usage(ev)
	case event.StateChanged:
		o.stateChanged(ev.State)
	case event.Unsent:
		o.unsent(ev)
	case event.TurnEnd:
		o.nextMessage()
		o.sendCommands()
		o.turnEnded(ev)
	default:
		o.notice(ev)
	}
}

// notice shows what a person should know and is not part of the answer.
func (o *openSession) notice(ev event.Event) {
	switch ev := ev.(type) {
	case event.Notice:
		o.say(ev.Text)
	case event.Retrying:
		o.say("Retrying: " + ev.Reason)
	case event.Compacted:
		o.say("The conversation up to here was summarised to save room.")
	case event.ToolsChanged:
		o.sendCommands()
	}
}

func (o *openSession) text(s string) {
	if o.shown.answer == "" {
		o.shown.answer = uuid.NewString()
	}
	o.shown.streamed.WriteString(s)
	id := o.shown.answer
	o.update(acp.SessionUpdate{AgentMessageChunk: &acp.SessionUpdateAgentMessageChunk{Content: acp.TextBlock(s), MessageId: &id}})
}

func (o *openSession) think(s string) {
	if o.shown.thought == "" {
		o.shown.thought = uuid.NewString()
	}
	id := o.shown.thought
	o.update(acp.SessionUpdate{AgentThoughtChunk: &acp.SessionUpdateAgentThoughtChunk{Content: acp.TextBlock(s), MessageId: &id}})
}

// nextMessage ends the message that is being streamed.
func (o *openSession) nextMessage() {
	o.shown.answer, o.shown.thought = "", ""
	o.shown.streamed.Reset()
}

func (o *openSession) callStarted(ev event.CallStart) {
	c := &shownCall{name: ev.Name, args: ev.Arguments}
	o.shown.calls[ev.ID] = c
	d := describe(ev.Name, ev.Arguments, o.cwd)
	o.update(acp.SessionUpdate{ToolCall: &acp.SessionUpdateToolCall{
		ToolCallId: acp.ToolCallId(ev.ID), Title: d.title, Kind: d.kind, Status: acp.ToolCallStatusInProgress,
		Locations: d.locations, RawInput: ev.Arguments,
	}})
}

// callProgress repeats the end of what a call has written so far: an update replaces the content of the
// previous one.
func (o *openSession) callProgress(ev event.CallProgress) {
	c := o.shown.calls[ev.ID]
	if c == nil {
		return
	}
	u := acp.SessionToolCallUpdate{ToolCallId: acp.ToolCallId(ev.ID)}
	switch {
	case ev.Output != "":
		if c.output += ev.Output; len(c.output) > maxOutput {
			c.output = text.CutTail(c.output, maxOutput)
		}
		u.Content = []acp.ToolCallContent{acp.ToolContent(acp.TextBlock(fenced(c.output)))}
	case ev.Text != "":
		u.Title = acp.Ptr(describe(c.name, c.args, o.cwd).title + " · " + ev.Text)
	}
	o.update(acp.SessionUpdate{ToolCallUpdate: &u})
}

func (o *openSession) callEnded(ev event.CallEnd) {
	c := o.shown.calls[ev.ID]
	delete(o.shown.calls, ev.ID)
	var args json.RawMessage
	if c != nil {
		args = c.args
	}
	o.update(acp.SessionUpdate{ToolCallUpdate: endOf(ev.ID, ev.Name, args, ev.Result, ev.Status, o.cwd, sideAfter)})
}

// nested shows what a sub-agent does inside its call.
func (o *openSession) nested(ev event.Nested) {
	line := ""
	switch inner := ev.Event.(type) {
	case event.CallStart:
		line = "→ " + describe(inner.Name, inner.Arguments, o.cwd).title + "\n"
	case event.AssistantMessage:
		if inner.Text != "" {
			line = inner.Text + "\n"
		}
	}
	if line != "" {
		o.callProgress(event.CallProgress{ID: ev.CallID, Output: line})
	}
}

func (o *openSession) plan(items []tools.TodoItem) {
	entries := make([]acp.PlanEntry, len(items))
	for i, it := range items {
		entries[i] = acp.PlanEntry{Content: it.Text, Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusPending}
		switch it.Status {
		case "in_progress":
			entries[i].Status = acp.PlanEntryStatusInProgress
		case "done":
			entries[i].Status = acp.PlanEntryStatusCompleted
		}
	}
	o.update(acp.UpdatePlan(entries...))
}

func (o *openSession) usage(ev event.Usage) {
	o.shown.used = ev
	if ev.Window <= 0 {
		return // the update must state the window's size
	}
	u := acp.SessionUsageUpdate{Used: ev.Context, Size: ev.Window}
	if ev.Priced {
		u.Cost = &acp.Cost{Amount: ev.Cost, Currency: "USD"}
	}
	o.update(acp.SessionUpdate{UsageUpdate: &u})
}

// stateChanged reports changes that were not made by the client.
func (o *openSession) stateChanged(st event.State) {
	before := o.shown.state
	o.shown.state = st
	if st.Title != before.Title && st.Title != "" {
		o.update(acp.SessionUpdate{SessionInfoUpdate: &acp.SessionSessionInfoUpdate{Title: acp.Ptr(st.Title)}})
	}
	if st.Mode != before.Mode {
		o.update(acp.SessionUpdate{CurrentModeUpdate: &acp.SessionCurrentModeUpdate{CurrentModeId: acp.SessionModeId(st.Mode)}})
	}
	if st.Mode != before.Mode || st.Model != before.Model || st.Role != before.Role {
		o.update(acp.SessionUpdate{ConfigOptionUpdate: &acp.SessionConfigOptionUpdate{ConfigOptions: o.options()}})
	}
}

// sendCommands sends the list of commands when it differs from the last one sent.
func (o *openSession) sendCommands() {
	list := []acp.AvailableCommand{}
	for _, c := range o.w.Commands() {
		out := acp.AvailableCommand{Name: c.Name, Description: c.Description}
		if c.Hint != "" {
			out.Input = &acp.AvailableCommandInput{Unstructured: &acp.UnstructuredCommandInput{Hint: c.Hint}}
		}
		list = append(list, out)
	}
	raw, err := json.Marshal(list)
	if err != nil || string(raw) == o.shown.commands {
		return
	}
	o.shown.commands = string(raw)
	o.update(acp.SessionUpdate{AvailableCommandsUpdate: &acp.SessionAvailableCommandsUpdate{AvailableCommands: list}})
}
