package event

import (
	"slices"

	"jcode/agent/roster"
)

// present is what is going on in a conversation and stored nowhere yet: the running turn, the answer that streams, the
// calls that run, the questions that wait. The zero value is a conversation at rest.
type present struct {
	turn      *TurnStart
	step      StepStart
	text      []byte
	reasoning []byte
	calls     []CallStart
	asked     []question
	queue     []Queued
	agents    []roster.State
	last      struct {
		todo  *TodoChanged
		usage *Usage
		state *StateChanged
	}
}

// question is one that waits for an answer: an ApprovalAsked, AskPerson or AskForm.
type question struct {
	id    string
	event Event
}

// apply takes over what an event changes.
func (p *present) apply(ev Event) {
	switch ev := ev.(type) {
	case TurnStart:
		p.turn, p.step = &ev, StepStart{}
		p.endAnswer()
	case StepStart:
		p.step = ev
		p.endAnswer()
	case TextDelta:
		p.text = append(p.text, ev.Text...)
	case ReasoningDelta:
		p.reasoning = append(p.reasoning, ev.Text...)
	case AnswerReset, AssistantMessage:
		p.endAnswer()
	case CallStart:
		p.calls = append(p.calls, ev)
	case CallEnd:
		p.calls = slices.DeleteFunc(p.calls, func(c CallStart) bool { return c.ID == ev.ID })
	case ApprovalAsked:
		p.asked = append(p.asked, question{ev.ID, ev})
	case AskPerson:
		p.asked = append(p.asked, question{ev.ID, ev})
	case AskForm:
		p.asked = append(p.asked, question{ev.ID, ev})
	case ApprovalClosed:
		p.answered(ev.ID)
	case AskClosed:
		p.answered(ev.ID)
	case QueueChanged:
		p.queue = ev.Queued
	case AgentChanged:
		p.agent(ev.Agent)
	case TodoChanged:
		p.last.todo = &ev
	case Usage:
		p.last.usage = &ev
	case StateChanged:
		p.last.state = &ev
	case TurnEnd:
		p.turn, p.step, p.calls = nil, StepStart{}, nil
		p.endAnswer()
	}
}

func (p *present) endAnswer() { p.text, p.reasoning = nil, nil }

func (p *present) answered(id string) {
	p.asked = slices.DeleteFunc(p.asked, func(q question) bool { return q.id == id })
}

// agent keeps the state of a background agent as long as it works.
func (p *present) agent(st roster.State) {
	p.agents = slices.DeleteFunc(p.agents, func(a roster.State) bool { return a.Name == st.Name })
	if st.Running() {
		p.agents = append(p.agents, st)
	}
}

// events returns what brings a reader who knows what is stored up to date, in the order in which it could have
// happened.
func (p *present) events() []Event {
	var out []Event
	if p.last.state != nil {
		out = append(out, *p.last.state)
	}
	if p.last.todo != nil {
		out = append(out, *p.last.todo)
	}
	if p.last.usage != nil {
		out = append(out, *p.last.usage)
	}
	for _, st := range p.agents {
		out = append(out, AgentChanged{st})
	}
	if p.turn != nil {
		out = append(out, *p.turn, p.step)
	}
	if len(p.reasoning) > 0 {
		out = append(out, ReasoningDelta{string(p.reasoning)})
	}
	if len(p.text) > 0 {
		out = append(out, TextDelta{string(p.text)})
	}
	for _, c := range p.calls {
		out = append(out, c)
	}
	if len(p.queue) > 0 {
		out = append(out, QueueChanged{p.queue})
	}
	for _, q := range p.asked {
		out = append(out, q.event)
	}
	return out
}
