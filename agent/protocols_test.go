package agent_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	dialer "jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/agent/model/replay"
	"jcode/internal/testkit/modeltest"
	"jcode/tools"
)

// These tests run over every protocol. Their server is as strict as the makers'.

// speaking are the models of these tests, each over its own protocol.
func speaking() map[string]provider.Protocol {
	return map[string]provider.Protocol{"test-model": provider.Chat, "claude-opus-5-5": provider.Messages, "gpt-5.6": provider.Responses}
}

// polyglot is a conversation whose models are those of speaking, all at one server.
func polyglot(t *testing.T, first string, list []tools.Tool, change func(*agent.Options), replies ...modeltest.Reply) (*bench, *modeltest.Server) {
	t.Helper()
	srv := modeltest.New(t, replies...)
	srv.BindThinking()
	clients := map[string]model.Client{}
	for id, protocol := range speaking() {
		c, err := dialer.Open(provider.Config{
			Name: string(protocol), BaseURL: srv.URL(), Key: "sk-test-key-123", Protocol: protocol,
			Limits: provider.Limits{Attempts: 3, Backoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond, Idle: time.Minute},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		clients[id] = c
	}
	return startWith(t, nil, func(o *agent.Options) {
		o.Model = first
		o.Resolve = func(name string) (agent.Model, error) {
			return agent.Model{Name: name, ID: name, Client: clients[name], Untitled: true, Sees: true, Window: 200_000}, nil
		}
		if change != nil {
			change(o)
		}
	}, list...), srv
}

func eachProtocol(t *testing.T, story func(t *testing.T, id string)) {
	for id, protocol := range speaking() {
		t.Run(string(protocol), func(t *testing.T) { story(t, id) })
	}
}

func lastRequest(srv *modeltest.Server) modeltest.Request {
	all := srv.Requests()
	return all[len(all)-1]
}

func TestCallsAndThinkingOverEveryProtocol(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, id string) {
		var runs atomic.Int32
		two := []modeltest.Call{{Name: "read", Args: `{"path":"a"}`}, {Name: "read", Args: `{"path":"b"}`}}
		b, srv := polyglot(t, id, []tools.Tool{counted("read", readParams, &runs)}, nil,
			modeltest.Text("I look.").WithReasoning("first ", "thought").WithCalls(two...).ArgPieces(3),
			modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"c"}`}).WithReasoning("second thought"),
			modeltest.Text("done ", "now").WithReasoning("third").Usage(modeltest.Usage{Input: 900, Output: 9, Cached: 700}),
			modeltest.Text("again"))
		end, _ := b.turn("go")
		if end.Text != "done now" || end.Reason != event.StopDone || runs.Load() != 3 {
			t.Fatalf("%+v, %d runs", end, runs.Load())
		}
		if end, _ := b.turn("more"); end.Text != "again" {
			t.Fatalf("%+v", end)
		}
		r := lastRequest(srv)
		var calls, results int
		for _, m := range r.Messages {
			calls += len(m.Calls)
			if m.Role == "tool" {
				results++
			}
		}
		if calls != 3 || results != 3 {
			t.Errorf("%d calls and %d results in %s", calls, results, r.Raw)
		}
	})
}

func TestRetriesAndRefusalsOverEveryProtocol(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, id string) {
		b, srv := polyglot(t, id, nil, nil,
			modeltest.Error(503, "overloaded", "busy"), modeltest.Text("par", "tial").CutAfter(2), modeltest.Text("whole"),
			modeltest.Error(401, "authentication_error", "no such key sk-test-key-123"),
			modeltest.Text("recovered"))
		if end, _ := b.turn("go"); end.Text != "whole" || len(srv.Requests()) != 3 {
			t.Fatalf("%+v after %d requests", end, len(srv.Requests()))
		}
		if end, _ := b.turn("again"); end.Reason != event.StopError || strings.Contains(end.Error, "sk-test") {
			t.Fatalf("%+v", end)
		}
		if end, _ := b.turn("once more"); end.Text != "recovered" {
			t.Fatalf("%+v", end)
		}
	})
}

func TestInterruptsOverEveryProtocol(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, id string) {
		var runs atomic.Int32
		b, _ := polyglot(t, id, []tools.Tool{counted("read", readParams, &runs)}, nil,
			modeltest.Text("half ", "an answer").WithReasoning("hm").WithCalls(modeltest.Call{Name: "read", Args: `{}`}).SilenceAfter(5), modeltest.Text("on"))
		b.Prompt(event.Prompt{Text: "go"})
		b.until(func(ev event.Event) bool {
			switch ev.(type) {
			case event.TextDelta, event.ReasoningDelta:
				return true
			}
			return false
		})
		b.Interrupt()
		if end, _ := b.turnEnd(); end.Reason != event.StopInterrupted || runs.Load() != 0 {
			t.Fatalf("%+v", end)
		}
		if end, _ := b.turn("go on"); end.Text != "on" {
			t.Fatalf("%+v", end)
		}
	})
}

func TestCompactionOverEveryProtocol(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, id string) {
		var runs atomic.Int32
		call := modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"a"}`}).WithReasoning("hm")
		b, srv := polyglot(t, id, []tools.Tool{counted("read", readParams, &runs)}, nil,
			call, modeltest.Text(strings.Repeat("one ", 200)), call, modeltest.Text("two"), call, modeltest.ContextOverflow(), modeltest.Text("SUMMARY"), modeltest.Text("three"), modeltest.Text("four"))
		for _, prompt := range []string{"first", "second", "third", "fourth"} {
			if end, _ := b.turn(prompt); end.Reason != event.StopDone {
				t.Fatalf("%s: %+v", prompt, end)
			}
		}
		if raw := string(lastRequest(srv).Raw); !strings.Contains(raw, "SUMMARY") || strings.Contains(raw, "one one one") {
			t.Errorf("%s", raw)
		}
	})
}

// In this turn each step uses a different model over a different protocol.
func TestModelsChangeInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	ids := []string{"test-model", "claude-opus-5-5", "gpt-5.6"}
	for from := range ids {
		t.Run(ids[from], func(t *testing.T) {
			var b *bench
			next := from
			switching := tool{
				spec: tools.Spec{Name: "switch", ReadOnly: true, Trusted: true},
				run: func(context.Context, tools.Call) (tools.Result, error) {
					next = (next + 1) % len(ids)
					return tools.Result{Text: "switched to " + ids[next]}, b.SetModel(ids[next])
				},
			}
			var replies []modeltest.Reply
			for i := range 7 {
				replies = append(replies, modeltest.Text(fmt.Sprintf("step %d", i)).WithReasoning(fmt.Sprintf("thought %d", i)).WithCalls(modeltest.Call{Name: "switch", Args: fmt.Sprintf(`{"n":%d}`, i)}))
			}
			replies = append(replies, modeltest.Text("done"))
			b, _ = polyglot(t, ids[from], []tools.Tool{switching}, nil, replies...)
			if end, _ := b.turn("go"); end.Text != "done" || end.Reason != event.StopDone {
				t.Fatalf("%+v", end)
			}
		})
	}
}

func TestResumeAndForkOverEveryProtocol(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, id string) {
		var runs atomic.Int32
		b, srv := polyglot(t, id, []tools.Tool{counted("read", readParams, &runs)}, nil,
			modeltest.Text("I look.").WithReasoning("thought").WithCalls(modeltest.Call{Name: "read", Args: `{"path":"a"}`}), modeltest.Text("done").WithReasoning("more"),
			modeltest.Text("resumed"), modeltest.Text("rewound"))
		if end, _ := b.turn("go"); end.Text != "done" {
			t.Fatalf("%+v", end)
		}
		before := string(srv.Requests()[1].Raw)
		session := b.State().Session
		b.Close()
		opt := b.opt
		again, err := agent.Resume(t.Context(), opt, session)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { again.Close() })
		r := &bench{Conversation: again, t: t, store: b.store, reg: b.reg, sub: again.Subscribe()}
		if end, _ := r.turn("and now"); end.Text != "resumed" {
			t.Fatalf("%+v", end)
		}
		// The request begins with the bytes of the previous one: the opaque parts came out of the
		// database unchanged.
		common := before[:strings.LastIndex(before, `"go"`)]
		if raw := string(lastRequest(srv).Raw); id != "test-model" && (!strings.HasPrefix(raw, common) || !strings.Contains(raw, "thought") && !strings.Contains(raw, "gAAAA")) {
			t.Errorf("%s\n%s", before, raw)
		}
	})
}

func TestSessionsOfEveryProtocolAreRecordedAndPlayed(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, id string) {
		var runs atomic.Int32
		path := filepath.Join(t.TempDir(), "session.jsonl")
		rec, err := replay.NewRecorder(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		list := []tools.Tool{counted("read", readParams, &runs)}
		b, _ := polyglot(t, id, list, func(o *agent.Options) {
			resolve := o.Resolve
			o.Resolve = func(name string) (agent.Model, error) {
				m, err := resolve(name)
				m.Client = rec.Wrap(m.Client)
				return m, err
			}
		}, modeltest.Text("I look.").WithReasoning("thought").WithCalls(modeltest.Call{Name: "read", Args: `{"path":"a"}`}), modeltest.Text("done"))
		if end, _ := b.turn("go"); end.Text != "done" {
			t.Fatalf("%+v", end)
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		played := startWith(t, nil, func(o *agent.Options) {
			o.Resolve = func(name string) (agent.Model, error) {
				c, err := replay.Open(path, replay.Options{})
				return agent.Model{Name: name, ID: name, Client: c, Untitled: true}, err
			}
		}, list...)
		if end, _ := played.turn("go"); end.Text != "done" || runs.Load() != 2 {
			t.Fatalf("%+v, %d runs", end, runs.Load())
		}
	})
}

// A switch of role changes the beginning of the conversation: the provider drops the model's earlier
// thinking and keeps the later.
func TestThinkingThatTheProviderLeavesOutIsCounted(t *testing.T) {
	t.Parallel()
	const id = "claude-opus-5-5"
	b, _ := polyglot(t, id, nil, func(o *agent.Options) {
		o.System = func(_ string, role agent.Role, _ *tools.Scope) string { return "You are " + role.Name }
		o.Roles = func(_ context.Context, want agent.RoleRequest) (agent.Role, error) {
			return agent.Role{Name: want.Name}, nil
		}
		resolve := o.Resolve
		o.Resolve = func(name string) (agent.Model, error) {
			m, err := resolve(name)
			m.Keeps = func(part model.Opaque) bool { return !dialer.Lost(m.Client.(dialer.Client), name, part) }
			return m, err
		}
	}, modeltest.Text("one").WithReasoning("thought"), modeltest.Text("two").WithReasoning("thought"), modeltest.Text("three").WithReasoning("thought"))
	unsent := func() int {
		use, err := b.ContextUse(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return use.Unsent
	}
	b.turn("go")
	b.turn("more")
	if n := unsent(); n != 0 {
		t.Errorf("%d answers before anything changed", n)
	}
	if err := b.SetRole(t.Context(), "pirate"); err != nil {
		t.Fatal(err)
	}
	b.turn("and now")
	if n := unsent(); n != 2 {
		t.Errorf("%d answers, want 2", n)
	}
}

func TestThinkingThatIsNotSentIsCounted(t *testing.T) {
	t.Parallel()
	keeps := func(o *agent.Options) {
		resolve := o.Resolve
		o.Resolve = func(name string) (agent.Model, error) {
			m, err := resolve(name)
			protocol := speaking()[name]
			m.Keeps = func(part model.Opaque) bool {
				return catalogue.GoesBack(part, string(protocol), string(protocol), name)
			}
			return m, err
		}
	}
	b, _ := polyglot(t, "claude-opus-5-5", nil, keeps, modeltest.Text("one").WithReasoning("thought"), modeltest.Text("two").WithReasoning("thought"), modeltest.Text("three"))
	b.turn("go")
	b.turn("more")
	for id, want := range map[string]int{"claude-opus-5-5": 0, "gpt-5.6": 2, "test-model": 2} {
		if err := b.SetModel(id); err != nil {
			t.Fatal(err)
		}
		if use, err := b.ContextUse(t.Context()); err != nil || use.Unsent != want {
			t.Errorf("%s: %d answers, want %d, %v", id, use.Unsent, want, err)
		}
	}
}
