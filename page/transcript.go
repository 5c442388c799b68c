package page

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"jcode/agent/event/wire"
	"jcode/internal/text"
	"jcode/session/export"
)

// transcript is a session as the page shows it. Each part knows the number of the event that changed it last.
type transcript struct {
	last uint64 // number of the last event
	base uint64 // the one with which it began: what is older is not known by number

	blocks []*block
	cut    uint64 // when blocks were removed
	calls  map[string]*block
	answer int64 // seq of the last answer, with which IDs of calls are told apart
	named  int   // blocks that were ever made

	live    live
	asks    []ask
	state   wire.State
	queue   []wire.Queued
	todo    wire.Todo
	usage   *wire.Usage
	agents  []agentState
	earlier int64  // number of the message before which there are others that were not read; 0 for none
	link    string // address of the session's page, "" where nothing may be done
	changed map[part]uint64
}

// agentState is an agent that works for the session.
type agentState = wire.AgentState

// part is a part of the page that is drawn as a whole.
type part string

// The parts besides the transcript.
const (
	partState  part = "state"
	partAsks   part = "asks"
	partQueue  part = "queue"
	partPlan   part = "plan"
	partAgents part = "agents"
	partUsage  part = "usage"
)

// block is one item of the transcript.
type block struct {
	id            string
	kind          string // user, assistant, call, notice
	seq           int64  // of the message, 0 for none
	born, changed uint64
	cached        markup // "" to be drawn

	text, reasoning, level string
	at, link               string
	call                   call
}

// call is a call of a tool.
type call struct {
	wire.Call
	doing, output string
	result        *wire.CallResult
}

// ask is a question that waits: an approval_asked, ask or form.
type ask struct {
	kind, id, from string
	approval       wire.Question
	ask            wire.Ask
	form           wire.Form
}

// live is what streams.
type live struct {
	reset     uint64 // when it was emptied last
	done      []piece
	open      string // the text that is not finished
	openAt    uint64
	reasoning int // bytes
	doing     string
	doingAt   uint64
}

// piece is a finished part of a streaming answer, which is not drawn again.
type piece struct {
	html markup
	at   uint64
}

func newTranscript() *transcript {
	return &transcript{calls: map[string]*block{}, changed: map[part]uint64{}}
}

// begin takes over what an attached client gets.
func (t *transcript) begin(state *wire.State, last uint64, lines ...json.RawMessage) {
	t.last, t.base = last, last
	for _, line := range lines {
		t.apply(line)
	}
	if state != nil { // newer than what the lines say of it
		t.state = *state
	}
	for _, p := range []part{partState, partAsks, partQueue, partPlan, partAgents, partUsage} {
		t.changed[p] = last
	}
}

// prepend takes over the messages before those with which it began.
func (t *transcript) prepend(lines []json.RawMessage) {
	old := newTranscript()
	old.link = t.link
	for _, line := range lines {
		old.apply(line)
	}
	for i, b := range old.blocks {
		b.id, b.born, b.changed = "e"+strconv.Itoa(i+1), 0, 0
	}
	t.blocks, t.earlier = append(old.blocks, t.blocks...), 0
}

// apply takes over one event.
func (t *transcript) apply(line json.RawMessage) {
	var head struct {
		wire.Head
		wire.Marks
	}
	if json.Unmarshal(line, &head) != nil {
		return // what a newer jcode says otherwise is left out
	}
	t.last = max(t.last, head.N, head.To)
	if t.asked(head.Type, head.Agent, line) {
		t.changed[partAsks] = t.last
		return
	}
	if head.Agent != "" {
		return // what agents do is in their own sessions
	}
	if head.Type == "turn_start" || head.Type == "turn_end" {
		t.state.Busy, t.changed[partState] = head.Type == "turn_start", t.last
	}
	if t.streamed(head.Type, line) || t.told(head.Type, line) {
		return
	}
	switch head.Type {
	case "state":
		take(line, &t.state)
		t.changed[partState] = t.last
	case "queue":
		var q wire.Queue
		take(line, &q)
		t.queue, t.changed[partQueue] = q.Prompts, t.last
	case "todo":
		t.todo = wire.Todo{}
		take(line, &t.todo)
		t.changed[partPlan] = t.last
	case "usage":
		t.usage = &wire.Usage{}
		take(line, t.usage)
		t.changed[partUsage] = t.last
	case "agent":
		var a agentState
		take(line, &a)
		t.agents = slices.DeleteFunc(t.agents, func(o agentState) bool { return o.Name == a.Name })
		t.agents, t.changed[partAgents] = append(t.agents, a), t.last
	}
}

// take decodes a line. What does not fit keeps its zero value.
func take(line json.RawMessage, into any) { _ = json.Unmarshal(line, into) }

// told takes over what stays in the transcript.
func (t *transcript) told(kind string, line json.RawMessage) bool {
	switch kind {
	case "turn_start":
		var v wire.TurnStart
		take(line, &v)
		t.stop()
		if i := slices.IndexFunc(t.blocks, func(b *block) bool { return b.kind == "user" && b.seq == v.Seq }); i < 0 || v.Seq == 0 {
			t.add(&block{kind: "user", seq: v.Seq, text: v.Prompt, at: v.At.Local().Format("15:04"), link: t.link})
		}
	case "assistant":
		var v wire.Assistant
		take(line, &v)
		t.stop()
		t.answer = v.Seq
		if v.Text != "" || v.Reasoning != "" {
			t.add(&block{kind: "assistant", seq: v.Seq, text: v.Text, reasoning: v.Reasoning})
		}
	case "tool_call":
		var v wire.Call
		take(line, &v)
		t.do("")
		if b := t.calls[t.key(v.ID)]; b != nil {
			b.call.Call = v
			t.touch(b)
			break
		}
		t.calls[t.key(v.ID)] = t.add(&block{kind: "call", seq: t.answer, call: call{Call: v}})
	case "tool_progress":
		var v wire.CallProgress
		take(line, &v)
		if b := t.calls[t.key(v.ID)]; b != nil && b.call.result == nil {
			b.call.doing, b.call.output = v.State, v.Output
			t.touch(b)
		}
	case "tool_result":
		var v wire.CallResult
		take(line, &v)
		if b := t.calls[t.key(v.ID)]; b != nil {
			b.call.result = &v
			t.touch(b)
		}
	case "notice":
		var v wire.Notice
		take(line, &v)
		t.add(&block{kind: "notice", level: string(v.Level), text: v.Message})
	case "rewound":
		var v wire.Rewound
		take(line, &v)
		t.blocks = slices.DeleteFunc(t.blocks, func(b *block) bool { return b.seq >= v.From })
		t.cut = t.last
	case "unsent":
		var v wire.Unsent
		take(line, &v)
		t.stop()
		t.add(&block{kind: "notice", level: "error", text: "Not sent: " + v.Prompt + "\n" + v.Error})
	case "turn_end":
		var v wire.TurnEnd
		take(line, &v)
		t.stop()
		switch v.Reason {
		case "done":
		case "interrupted":
			t.add(&block{kind: "notice", level: "warn", text: "Interrupted."})
		default:
			t.add(&block{kind: "notice", level: "error", text: "The turn ended: " + string(v.Reason) + ". " + v.Error})
		}
	default:
		return false
	}
	return true
}

// key tells calls of one ID in several answers apart.
func (t *transcript) key(id string) string { return strconv.FormatInt(t.answer, 10) + "/" + id }

func (t *transcript) add(b *block) *block {
	t.named++
	b.id = "b" + strconv.Itoa(t.named)
	b.born, b.changed = t.last, t.last
	t.blocks = append(t.blocks, b)
	return b
}

func (t *transcript) touch(b *block) { b.changed, b.cached = t.last, "" }

// streamed takes over what is not finished.
func (t *transcript) streamed(kind string, line json.RawMessage) bool {
	switch kind {
	case "text":
		var v wire.Delta
		take(line, &v)
		if t.live.doing != "" {
			t.do("")
		}
		t.live.open, t.live.openAt = t.live.open+v.Delta, t.last
		for {
			n := finished(t.live.open)
			if n == 0 {
				break
			}
			t.live.done = append(t.live.done, piece{markup(export.Prose(text.Clean(t.live.open[:n]))), t.last})
			t.live.open = t.live.open[n:]
		}
	case "reasoning":
		var v wire.Delta
		take(line, &v)
		if t.live.reasoning += len(v.Delta); t.live.doing != "Thinking…" {
			t.do("Thinking…")
		}
	case "answer_reset":
		t.stop()
	case "step_start":
		t.stop()
		t.do("Waiting for the model…")
	case "tool_writing":
		var v wire.CallWriting
		take(line, &v)
		t.do("Writing a call of " + v.Name + "…")
	case "retrying":
		var v wire.Retrying
		take(line, &v)
		t.do("Trying again: " + v.Reason)
	case "compacting":
		t.do("Summarising the conversation…")
	case "compaction":
		t.do("")
	case "preparing":
		var v wire.Preparing
		take(line, &v)
		t.do(v.Doing)
	default:
		return false
	}
	return true
}

// stop empties what streams.
func (t *transcript) stop() { t.live = live{reset: t.last, doingAt: t.last} }

func (t *transcript) do(what string) { t.live.doing, t.live.doingAt = what, t.last }

// finished returns the length of the beginning of a streaming Markdown text that later text does not change: up to the
// last empty line outside a fence after which something begins that continues no list.
func finished(source string) int {
	at, fence, end := 0, "", 0
	blank := false
	for line := range strings.Lines(source) {
		whole := strings.HasSuffix(line, "\n")
		trimmed := strings.TrimSpace(line)
		if blank && fence == "" && trimmed != "" && starts(line) && (whole || len(trimmed) > 3) {
			end = at
		}
		switch mark := fenceOf(trimmed); {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.Trim(trimmed, fence[:1]) == "":
			fence = ""
		}
		blank = trimmed == ""
		at += len(line)
	}
	return end
}

// starts reports whether a line after an empty one begins a block of its own, rather than going on in a list.
func starts(line string) bool {
	switch c := line[0]; {
	case c == ' ' || c == '\t' || c == '-' || c == '*' || c == '+':
		return false
	case c >= '0' && c <= '9':
		return false
	}
	return true
}

func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// asked takes over questions and answers.
func (t *transcript) asked(kind, agent string, line json.RawMessage) bool {
	switch kind {
	case "approval_asked":
		var v wire.ApprovalAsked
		take(line, &v)
		t.wait(ask{kind: kind, id: v.ID, from: agent, approval: v.Question})
	case "ask":
		var v wire.Ask
		take(line, &v)
		t.wait(ask{kind: kind, id: v.ID, from: agent, ask: v})
	case "form":
		var v wire.AskForm
		take(line, &v)
		t.wait(ask{kind: kind, id: v.ID, from: agent, form: v.Form})
	case "approval_closed", "ask_closed":
		var v wire.Closed
		take(line, &v)
		t.asks = slices.DeleteFunc(t.asks, func(a ask) bool { return a.id == v.ID })
		t.changed[partState] = t.last
	default:
		return false
	}
	return true
}

func (t *transcript) wait(a ask) {
	if !slices.ContainsFunc(t.asks, func(o ask) bool { return o.id == a.id }) {
		t.asks = append(t.asks, a)
		t.changed[partState] = t.last
	}
}
