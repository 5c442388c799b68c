package telemetry

import (
	"context"
	"strconv"
	"sync"

	"github.com/google/uuid"

	"jcode/agent/event"
	"jcode/internal/otlp"
	"jcode/tools"
)

// Exporter takes what is measured.
type Exporter interface {
	Add(s otlp.Span)
	Measure(m otlp.Metric, v float64, attrs ...otlp.Attr)
}

// Tracer turns the events of conversations into spans. It is safe for concurrent use.
type Tracer struct {
	out Exporter
	// content has prompts, answers, arguments and results sent too.
	content bool
	seed    string      // of the traces of this process
	outer   otlp.Parent // in which jcode was started
	quiet   bool        // the outer trace is not recorded, so nothing of this one is

	following sync.WaitGroup

	mu     sync.Mutex
	turn   otlp.Parent            // of the person's conversation, the last one that began
	agents map[string]otlp.Parent // by session: what a sub-agent's calls are below
}

// New returns a tracer. outer is the value of TRACEPARENT in jcode's environment.
func New(out Exporter, content bool, outer string) *Tracer {
	t := &Tracer{out: out, content: content, seed: uuid.NewString(), agents: map[string]otlp.Parent{}}
	if p, ok := otlp.ParseParent(outer); ok {
		t.outer, t.quiet = p, !p.Sampled
	}
	return t
}

// turnOf returns where a turn of the person's conversation is, and what it is below.
func (t *Tracer) turnOf(ev event.TurnStart) (at otlp.Parent, parent otlp.SpanID) {
	words := []string{t.seed, strconv.FormatInt(ev.At.UnixNano(), 10), strconv.FormatInt(ev.Seq, 10)}
	at = otlp.Parent{Trace: otlp.TraceOf(words...), Sampled: !t.quiet}
	if t.outer != (otlp.Parent{}) {
		at.Trace, parent = t.outer.Trace, t.outer.Span
	}
	at.Span = at.Trace.Span(words...)
	return at, parent
}

// TurnStarted is called as a turn of the person's conversation begins.
func (t *Tracer) TurnStarted(ev event.TurnStart) {
	at, _ := t.turnOf(ev)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn = at
}

// callSpan names the span of a call. session is that of a sub-agent, "" for the person's conversation.
func callSpan(trace otlp.TraceID, session, call string) otlp.SpanID {
	return trace.Span("call", session, call)
}

// Variables returns the environment that says which trace a command is part of; call is the ID of the call that
// starts it.
func (t *Tracer) Variables(caller tools.Caller, call string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, session := t.turn, ""
	if caller.Root != "" {
		session = caller.Session
		if below, ok := t.agents[session]; ok {
			at = below
		}
	}
	if at == (otlp.Parent{}) {
		return nil
	}
	if call != "" && caller.Origin == tools.OriginModel {
		at.Span = callSpan(at.Trace, session, call)
	}
	return []string{"TRACEPARENT=" + at.String()}
}

// Server returns the environment that says which trace a server is part of that starts now.
func (t *Tracer) Server() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.turn != otlp.Parent{}:
		return []string{"TRACEPARENT=" + t.turn.String()}
	case t.outer != otlp.Parent{}:
		return []string{"TRACEPARENT=" + t.outer.String()}
	}
	return nil
}

// Conversation is what the tracer needs of one.
type Conversation interface {
	Observe() *event.Subscription
	State() event.State
	Private() bool
}

// Follow records what happens in a conversation until it is closed. Of one that is kept in memory only nothing is.
func (t *Tracer) Follow(conv Conversation) {
	if t.quiet {
		return
	}
	sub := conv.Observe()
	r := &recorder{t: t, model: conv.State().Model, agents: map[string]*recorder{}}
	t.following.Go(func() {
		defer sub.Close()
		for {
			ev, ok := sub.Next(context.Background()) // ends with the conversation
			if !ok {
				r.close()
				return
			}
			if !conv.Private() {
				r.record(ev, conv.State().Session)
			}
		}
	})
}

// Wait waits for the conversations that are followed, which have been closed.
func (t *Tracer) Wait() { t.following.Wait() }

// below notes what the calls of a sub-agent are below.
func (t *Tracer) below(session string, at otlp.Parent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.agents[session] = at
}

// over forgets a sub-agent.
func (t *Tracer) over(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.agents, session)
}
