package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/session"
	"jcode/tools"
)

// script is a model.Client that plays one reply per request and records the requests.
type script struct {
	mu       sync.Mutex
	replies  []reply
	requests []model.Request
	// summary answers requests for a summary; nil says SUMMARY.
	summary func(ctx context.Context) (model.Response, error)
}

// reply is one answer; act, when set, runs while it streams.
type reply struct {
	text  string
	calls []model.Call
	err   error
	usage model.Usage
	act   func(ctx context.Context)
	end   string // why it ended; "" is stop
}

func (s *script) Stream(ctx context.Context, req model.Request, emit func(model.Event)) (model.Response, error) {
	s.mu.Lock()
	if req.Purpose == model.PurposeSummary || req.Purpose == model.PurposeCompaction {
		s.requests = append(s.requests, req)
		s.mu.Unlock()
		if s.summary != nil {
			return s.summary(ctx)
		}
		return model.Response{Text: "SUMMARY"}, nil
	}
	n := 0
	for _, r := range s.requests {
		if r.Purpose == model.PurposeTurn {
			n++
		}
	}
	s.requests = append(s.requests, req)
	if n >= len(s.replies) {
		s.mu.Unlock()
		return model.Response{}, errors.New("the script has ended")
	}
	r := s.replies[n]
	s.mu.Unlock()
	if r.act != nil {
		r.act(ctx)
	}
	if r.text != "" {
		emit(model.TextEvent{Delta: r.text})
	}
	resp := model.Response{Text: r.text, Calls: r.calls, Usage: r.usage, Finish: cmp.Or(r.end, "stop")}
	if ctx.Err() != nil {
		return resp, ctx.Err()
	}
	return resp, r.err
}

// request returns the nth turn request, from 0.
func (s *script) request(t *testing.T, n int) model.Request {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.Purpose != model.PurposeTurn {
			continue
		}
		if n == 0 {
			return r
		}
		n--
	}
	t.Fatalf("there is no such request among %d", len(s.requests))
	return model.Request{}
}

func call(id, name, args string) model.Call { return model.Call{ID: id, Name: name, Arguments: args} }

// allowAll is a gate that lets everything pass, unless ask is set: then it asks.
type allowAll struct{ ask bool }

func (g allowAll) Check(ctx context.Context, req tools.GateRequest) tools.Decision {
	if !g.ask || req.Spec.ReadOnly {
		return tools.Decision{Allow: true, Silent: true}
	}
	if req.Call.Caller.Asker == nil {
		return tools.Decision{By: tools.ByPolicy, Reason: "denied: there is no one to ask"}
	}
	a, err := req.Call.Caller.Asker.Ask(ctx, tools.Question{CallID: req.Call.ID, Tool: req.Spec.Name, Title: req.Plan.Summary})
	if err != nil || a.Scope == tools.AnswerNo {
		return tools.Decision{By: tools.ByUser, Reason: "denied by user"}
	}
	return tools.Decision{Allow: true, By: tools.ByUser}
}

func (allowAll) Offered(tools.Spec, tools.Mode) (bool, string) { return true, "" }

// tool is a test tool.
type tool struct {
	spec tools.Spec
	run  func(ctx context.Context, call tools.Call) (tools.Result, error)
}

func (f tool) Spec() tools.Spec { return f.spec }

func (f tool) Run(ctx context.Context, c tools.Call) (tools.Result, error) { return f.run(ctx, c) }

func reader(name string, run func(ctx context.Context, call tools.Call) (tools.Result, error)) tool {
	return tool{spec: tools.Spec{Name: name, ReadOnly: true, Trusted: true}, run: run}
}

func writer(name string, run func(ctx context.Context, call tools.Call) (tools.Result, error)) tool {
	return tool{spec: tools.Spec{Name: name}, run: run}
}

func says(text string) func(context.Context, tools.Call) (tools.Result, error) {
	return func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{Text: text}, nil }
}

// bench is a conversation under test.
type bench struct {
	*agent.Conversation
	t     testing.TB
	store *session.Store
	reg   *tools.Registry
	model *script
	sub   *event.Subscription
	opt   agent.Options
}

func start(t *testing.T, replies []reply, list ...tools.Tool) *bench {
	return startWith(t, replies, nil, list...)
}

func startWith(t testing.TB, replies []reply, change func(*agent.Options), list ...tools.Tool) *bench {
	t.Helper()
	store, err := session.Open(t.Context(), filepath.Join(t.TempDir(), "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, store: store, reg: tools.NewRegistry(), model: &script{replies: replies}}
	for _, x := range list {
		if err := b.reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, x); err != nil {
			t.Fatal(err)
		}
	}
	b.opt = agent.Options{
		Store: store, Registry: b.reg, Gate: allowAll{}, Model: "script", Cwd: t.TempDir(), Project: "p",
		Resolve: func(string) (agent.Model, error) {
			return agent.Model{Name: "script", ID: "script", Client: b.model, Untitled: true}, nil
		},
		System: func(string, agent.Role, *tools.Scope) string { return "SYSTEM" },
	}
	if change != nil {
		change(&b.opt)
	}
	b.opt.Dispatcher = &tools.Dispatcher{Registry: b.reg, Gate: b.opt.Gate}
	if b.Conversation, err = agent.New(b.opt); err != nil {
		t.Fatal(err)
	}
	b.sub = b.Subscribe()
	t.Cleanup(func() {
		b.Close() // a second time is fine
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// until reads events up to the first that f accepts.
func (b *bench) until(f func(event.Event) bool) []event.Event {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	var out []event.Event
	for {
		ev, ok := b.sub.Next(ctx)
		if !ok {
			b.t.Fatalf("no such event came; seen: %#v", out)
		}
		out = append(out, ev)
		if f(ev) {
			return out
		}
	}
}

// turn sends a prompt and waits for the end of its turn.
func (b *bench) turn(text string) (event.TurnEnd, []event.Event) {
	b.t.Helper()
	b.Prompt(event.Prompt{Text: text})
	return b.turnEnd()
}

func (b *bench) turnEnd() (event.TurnEnd, []event.Event) {
	b.t.Helper()
	events := b.until(func(ev event.Event) bool { _, ok := ev.(event.TurnEnd); return ok })
	return events[len(events)-1].(event.TurnEnd), events
}

// unsent waits for n prompts that are given back.
func (b *bench) unsent(n int) (list []event.Prompt) {
	b.t.Helper()
	for range n {
		events := b.until(func(ev event.Event) bool { _, ok := ev.(event.Unsent); return ok })
		list = append(list, events[len(events)-1].(event.Unsent).Prompt)
	}
	return list
}

// results returns the tool results in a request, by call ID.
func results(req model.Request) map[string]string {
	out := map[string]string{}
	for _, m := range req.Messages {
		if m.Role == model.RoleTool {
			out[m.CallID] = m.Text
		}
	}
	return out
}

func toolNames(req model.Request) []string {
	var out []string
	for _, x := range req.Tools {
		out = append(out, x.Name)
	}
	return out
}

func object(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
