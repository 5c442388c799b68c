package wire

import (
	"encoding/json"
	"slices"
	"time"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools"
)

// Of returns an event in its JSON form, nil for one that has none. A sub-agent's event is marked with the innermost
// agent that it is of.
func Of(ev event.Event) Line {
	if nested, ok := ev.(event.Nested); ok {
		line := Of(nested.Event)
		if line == nil {
			return nil
		}
		if m := line.marks(); *m == (Marks{}) {
			*m = Marks{nested.Label, nested.Session, nested.CallID, nested.Dir}
		}
		return line
	}
	line, kind := plain(ev)
	if line != nil {
		line.head().Type = kind
	}
	return line
}

// Beside returns a line of another type that belongs to the same event as line.
func Beside(line, other Line, kind string) Line {
	*other.head(), *other.marks() = *line.head(), *line.marks()
	other.head().Type = kind
	return other
}

// Numbered returns an event in its JSON form with its number.
func Numbered(ev event.Numbered) Line {
	line := Of(ev.Event)
	if line == nil {
		return nil
	}
	h := line.head()
	h.N = ev.First
	if ev.Last != ev.First {
		h.To = ev.Last
	}
	return line
}

// Encode writes a line without its end. What cannot be encoded becomes a notice that says so.
func Encode(line Line) []byte {
	b, err := json.Marshal(line)
	if err != nil {
		said := &Notice{Level: event.LevelError, Message: "encode " + line.head().Type + ": " + err.Error()}
		b, _ = json.Marshal(Beside(line, said, "notice"))
	}
	return text.JSONLine(b)
}

// plain returns the form of an event that is not a sub-agent's, and its type.
func plain(ev event.Event) (Line, string) {
	switch ev := ev.(type) {
	case event.TextDelta:
		return &Delta{Delta: ev.Text}, "text"
	case event.ReasoningDelta:
		return &Delta{Delta: ev.Text}, "reasoning"
	case event.CallWriting:
		return &CallWriting{Index: ev.Index, Name: ev.Name, Bytes: ev.Bytes}, "tool_writing"
	case event.CallStart:
		return &Call{ID: ev.ID, Name: ev.Name, Arguments: arguments(ev.Arguments), At: at(ev.At)}, "tool_call"
	case event.CallProgress:
		return &CallProgress{ID: ev.ID, State: ev.Text, Output: ev.Output}, "tool_progress"
	case event.CallEnd:
		return result(ev), "tool_result"
	case event.Notice:
		return &Notice{Level: ev.Level, Message: ev.Text}, "notice"
	case event.ToolsChanged:
		return &ToolsChanged{Added: orEmpty(ev.Added), Removed: orEmpty(ev.Removed), Owner: ev.Owner}, "tools_changed"
	case event.TodoChanged:
		return &Todo{Items: orEmpty(ev.Items)}, "todo"
	case event.QueueChanged:
		return queue(ev), "queue"
	case event.AgentChanged:
		return agent(ev), "agent"
	case event.StateChanged:
		return state(ev.State), "state"
	}
	if line, kind := asked(ev); line != nil {
		return line, kind
	}
	return turn(ev)
}

// turn returns the form of what begins, ends and counts a turn and its steps.
func turn(ev event.Event) (Line, string) {
	switch ev := ev.(type) {
	case event.TurnStart:
		return &TurnStart{Turn: ev.Turn, Seq: ev.Seq, Prompt: ev.Prompt, Queued: ev.Queued, At: ev.At}, "turn_start"
	case event.StepStart:
		return &StepStart{Step: ev.Step}, "step_start"
	case event.AnswerReset:
		return &AnswerReset{Reason: ev.Reason}, "answer_reset"
	case event.AssistantMessage:
		return &Assistant{Seq: ev.Seq, Text: ev.Text, Reasoning: ev.Reasoning, Calls: ev.Calls}, "assistant"
	case event.Retrying:
		return &Retrying{Attempt: ev.Attempt, WaitMS: ev.Wait.Milliseconds(), Reason: ev.Reason}, "retrying"
	case event.Compacting:
		return &Compacting{}, "compacting"
	case event.Compacted:
		return &Compaction{BeforeTokens: ev.BeforeTokens, AfterTokens: ev.AfterTokens}, "compaction"
	case event.Rewound:
		return &Rewound{From: ev.From}, "rewound"
	case event.Usage:
		u := &Usage{Usage: ev.Step, Total: &ev.Total, Context: ev.Context, Window: ev.Window, Beside: ev.Beside}
		if ev.Priced {
			u.CostUSD = &ev.Cost
		}
		return u, "usage"
	case event.Preparing:
		return &Preparing{Prompt: ev.Prompt.Display(), Queued: ev.Prompt.Queued, Doing: ev.Doing}, "preparing"
	case event.Unsent:
		return &Unsent{Prompt: ev.Prompt.Display(), Queued: ev.Queued, Error: words(ev.Err)}, "unsent"
	case event.TurnEnd:
		end := &TurnEnd{
			Turn: ev.Turn, Steps: ev.Steps, DurationMS: ev.Duration.Milliseconds(), Reason: ev.Reason, Queued: ev.Queued,
			Finish: ev.Finish, Calls: ev.Calls, Error: ev.Error, Text: ev.Text,
		}
		if end.Error == "" {
			end.Error = words(ev.Err)
		}
		return end, "turn_end"
	case event.NotesUsed:
		return &NotesUsed{Notes: ev.Notes}, "notes_used"
	}
	return nil, ""
}

// asked returns the form of questions and answers.
func asked(ev event.Event) (Line, string) {
	switch ev := ev.(type) {
	case event.ApprovalAsked:
		return &ApprovalAsked{ID: ev.ID, Question: question(ev.Question)}, "approval_asked"
	case event.ApprovalClosed:
		return &Closed{ID: ev.ID, By: ev.By}, "approval_closed"
	case event.ApprovalDecided:
		decision := "deny"
		if ev.Allow {
			decision = "allow"
		}
		return &Approval{ID: ev.CallID, Name: ev.Name, Decision: decision, By: ev.By, Rule: ev.Rule}, "approval"
	case event.AskPerson:
		return &Ask{ID: ev.ID, Label: ev.Label, Text: ev.Text, Options: orEmpty(ev.Options)}, "ask"
	case event.AskForm:
		return &AskForm{ID: ev.ID, Form: form(ev.Form)}, "form"
	case event.AskClosed:
		return &Closed{ID: ev.ID, By: ev.By}, "ask_closed"
	}
	return nil, ""
}

func result(ev event.CallEnd) Line {
	line := &CallResult{
		ID: ev.ID, Name: ev.Name, OK: !ev.Result.Failed, Status: ev.Status, Failure: ev.Result.Kind, Content: ev.Result.Text, Data: ev.Result.Data,
		Parts: ev.Result.Parts, DurationMS: ev.Duration.Milliseconds(),
	}
	if _, err := json.Marshal(line.Data); err != nil {
		line.Data = nil // it is for scripts; the text says the same
	}
	if d := ev.Result.Display; !empty(d) {
		line.Display = &d
	}
	return line
}

// empty reports whether a display says nothing.
func empty(d tools.Display) bool {
	b, err := json.Marshal(d)
	return err == nil && string(b) == "{}"
}

func question(q tools.Question) Question {
	out := Question{
		CallID: q.CallID, Tool: q.Tool, Label: q.Label, Title: q.Heading(), Command: q.Command, Diff: q.Diff, Details: q.Details,
		Options: []Option{}, Editable: q.Editable, Arguments: arguments(q.Arguments),
	}
	for _, h := range q.Hunks() {
		out.Hunks = append(out.Hunks, Hunk{File: h.Name, Line: h.First(), Added: h.Added, Removed: h.Removed, Diff: h.Text})
	}
	for _, o := range q.Options {
		out.Options = append(out.Options, Option{Scope: o.Scope, Label: o.Label, Rules: o.Rules, Words: o.Words})
	}
	return out
}

func form(f tools.Form) Form {
	out := Form{From: f.From, Person: f.Person, Text: f.Text, Yes: f.Yes, No: f.No, Fields: []Field{}}
	for _, d := range f.Fields {
		out.Fields = append(out.Fields, Field{
			Name: d.Name, Title: d.Title, Description: d.Description, Kind: d.Kind, Required: d.Required, Secret: d.Secret, Options: d.Options, Labels: d.Labels,
			Default: d.Default, Format: d.Format, Pattern: d.Pattern, Min: d.Min, Max: d.Max,
		})
	}
	return out
}

func queue(ev event.QueueChanged) Line {
	line := &Queue{Prompts: []Queued{}}
	for _, q := range ev.Queued {
		line.Prompts = append(line.Prompts, Queued{q.ID, q.Text})
	}
	return line
}

func agent(ev event.AgentChanged) Line {
	a := ev.Agent
	return &AgentState{
		Name: a.Name, Session: a.Session, Of: a.Parent, Role: a.Role, Model: a.Model, Status: a.Status, Call: a.Call, Doing: a.Doing,
		Tokens: a.Tokens, CostUSD: a.Cost, Estimated: a.Estimated, Started: at(a.Started), Ended: at(a.Ended), Answer: a.Answer, Dir: a.Dir, Changed: a.Changed,
		Files: a.Files, Added: a.Added, Removed: a.Removed,
	}
}

func state(st event.State) Line {
	return &State{
		SessionID: st.Session, Title: st.Title, Model: st.Model, Role: st.Role, Effort: st.Effort, Mode: st.Mode, Busy: st.Busy, Cwd: st.Cwd,
		MaxMode: st.MaxMode, Private: st.Private, ReadOnly: st.ReadOnly, Planning: st.Planning,
	}
}

// arguments returns what a model wrote as JSON: what is none becomes a string.
func arguments(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	if json.Valid(raw) {
		return raw
	}
	quoted, _ := json.Marshal(string(raw)) // a string can always be encoded
	return quoted
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func at(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// orEmpty returns a list that is encoded as [], not as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return slices.Clip(list)
}
