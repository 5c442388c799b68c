package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/agent/roster"
	"jcode/internal/testkit/eventually"
	"jcode/tools"
	"jcode/tools/builtin/desk"
)

// speakers answers each agent with its own lines, and waits where a line says so.
type speakers struct {
	mu    sync.Mutex
	lines map[string][]reply
	asked map[string][]model.Request
}

func (s *speakers) Stream(ctx context.Context, req model.Request, _ func(model.Event)) (model.Response, error) {
	s.mu.Lock()
	s.asked[req.Agent] = append(s.asked[req.Agent], req)
	list := s.lines[req.Agent]
	if len(list) == 0 {
		s.mu.Unlock()
		return model.Response{}, errors.New("the script has ended")
	}
	r := list[0]
	s.lines[req.Agent] = list[1:]
	s.mu.Unlock()
	if r.act != nil {
		r.act(ctx)
	}
	if ctx.Err() != nil {
		return model.Response{}, ctx.Err()
	}
	return model.Response{Text: r.text, Calls: r.calls, Usage: r.usage, Finish: "stop"}, r.err
}

func (s *speakers) requests(name string) []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

func startSpeakers(t *testing.T, lines map[string][]reply, change func(*agent.Options), list ...tools.Tool) (*bench, *speakers) {
	s := &speakers{lines: lines, asked: map[string][]model.Request{}}
	b := startWith(t, nil, func(o *agent.Options) {
		o.Resolve = func(string) (agent.Model, error) {
			return agent.Model{Name: "script", ID: "script", Client: s, Untitled: true}, nil
		}
		if change != nil {
			change(o)
		}
	}, append(desk.Tools(), list...)...)
	return b, s
}

// held is a gate at which a scripted line waits.
func held() (line func(ctx context.Context), open func()) {
	ch := make(chan struct{})
	return func(ctx context.Context) {
		select {
		case <-ch:
		case <-ctx.Done():
		}
	}, func() { close(ch) }
}

func status(b *bench, name string) roster.Status {
	for _, s := range b.Agents().List() {
		if s.Name == name {
			return s.Status
		}
	}
	return ""
}

func TestAgentInTheBackgroundOutlivesTheTurnAndItsEndIsAnnounced(t *testing.T) {
	t.Parallel()
	wait, open := held()
	b, s := startSpeakers(t, map[string][]reply{
		"": {
			{calls: []model.Call{call("t", "task", `{"prompt":"count","name":"Counter One","background":true}`)}},
			{text: "started"},
			{text: "heard"},
		},
		"counter-one": {{act: wait, text: "forty-two"}},
	}, nil)
	if end, _ := b.turn("go"); end.Text != "started" {
		t.Fatalf("end is %+v", end)
	}
	if got := status(b, "counter-one"); got != roster.Working {
		t.Fatalf("it is %q", got)
	}
	open()
	b.until(func(ev event.Event) bool {
		n, ok := ev.(event.Notice)
		return ok && strings.Contains(n.Text, "agent counter-one done: forty-two")
	})
	b.turn("and now")
	last := s.requests("")[2]
	if text := last.Messages[len(last.Messages)-1].Text; !strings.Contains(text, "counter-one ended (done)") || !strings.Contains(text, "forty-two") {
		t.Errorf("the model was told %q", text)
	}
}

func TestAgentsAreListedMessagedWaitedForAndStopped(t *testing.T) {
	t.Parallel()
	wait, open := held()
	endless := func(ctx context.Context) { <-ctx.Done() }
	b, s := startSpeakers(t, map[string][]reply{
		"": {
			{calls: []model.Call{
				call("t1", "task", `{"prompt":"a","name":"one","background":true}`), call("t2", "task", `{"prompt":"b","name":"two","background":true}`),
			}},
			{calls: []model.Call{call("l", "agent", `{"action":"list"}`), call("m", "agent", `{"action":"message","name":"one","text":"hurry"}`)}},
			{calls: []model.Call{call("w", "agent", `{"action":"wait","name":"one"}`)}, act: func(context.Context) { open() }},
			{calls: []model.Call{call("s", "agent", `{"action":"stop","name":"two"}`), call("n", "agent", `{"action":"stop","name":"three"}`), call("o", "agent", `{"action":"output","name":"one"}`)}},
			{text: "done"},
		},
		"one": {{act: wait, text: "almost"}, {text: "ready"}},
		"two": {{act: endless}},
	}, nil)
	b.turn("go")
	main := s.requests("")
	if got := results(main[2]); !strings.Contains(got["l"], "one: working") || !strings.Contains(got["m"], "one reads it") {
		t.Errorf("results %q", got)
	}
	if got := results(main[3])["w"]; !strings.Contains(got, "ready") || !strings.Contains(got, "two: working") {
		t.Errorf("the wait gave %q", got)
	}
	got := results(main[4])
	if !strings.Contains(got["s"], "was stopped") || !strings.Contains(got["n"], "there is no agent \"three\"; there are: ") || !strings.Contains(got["o"], "almost") {
		t.Errorf("results %q", got)
	}
	if one := s.requests("one"); len(one) != 2 || !strings.Contains(one[1].Messages[len(one[1].Messages)-1].Text, "hurry") {
		t.Errorf("the message did not arrive: %+v", one)
	}
}

func TestHeadlessRunWaitsForItsAgents(t *testing.T) {
	t.Parallel()
	wait, open := held()
	b, _ := startSpeakers(t, map[string][]reply{
		"":    {{calls: []model.Call{call("t", "task", `{"prompt":"a","name":"one","background":true}`)}}, {text: "meanwhile", act: func(context.Context) { open() }}, {text: "one says forty-two"}},
		"one": {{act: wait, text: "forty-two"}},
	}, func(o *agent.Options) { o.Headless = true })
	if end, _ := b.turn("go"); end.Text != "one says forty-two" {
		t.Errorf("end is %+v", end)
	}
}

func TestOneCapOnTheCostHoldsForAllAgents(t *testing.T) {
	t.Parallel()
	dear := model.Usage{Input: 1, Output: 1}
	b, s := startSpeakers(t, map[string][]reply{
		"":    {{calls: []model.Call{call("t", "task", `{"prompt":"a","name":"one","background":true}`), call("w", "agent", `{"action":"wait"}`)}, usage: dear}},
		"one": {{calls: []model.Call{call("r", "read", "{}")}, usage: dear}, {calls: []model.Call{call("r2", "read", `{"n":1}`)}, usage: dear}, {text: "never"}},
	}, func(o *agent.Options) {
		o.MaxCost = 3
		resolve := o.Resolve
		o.Resolve = func(name string) (agent.Model, error) {
			m, err := resolve(name)
			m.Cost = func(string, model.Usage) (float64, bool) { return 1, true }
			return m, err
		}
	}, reader("read", says("x")))
	end, _ := b.turn("go")
	if end.Reason != event.StopLimit || !strings.Contains(end.Error, "has reached --max-cost $3.00") {
		t.Errorf("end is %+v", end)
	}
	if n := len(s.requests("one")); n != 2 {
		t.Errorf("the agent made %d requests", n)
	}
}

func TestNoMoreAgentsThanAllowedWorkAtOnce(t *testing.T) {
	t.Parallel()
	endless := func(ctx context.Context) { <-ctx.Done() }
	b, s := startSpeakers(t, map[string][]reply{
		"":      {{calls: []model.Call{call("t1", "task", `{"prompt":"a","background":true}`), call("t2", "task", `{"prompt":"b","background":true}`)}}, {text: "ok"}},
		"agent": {{act: endless}},
	}, func(o *agent.Options) { o.MaxAgents = 1 })
	b.turn("go")
	got := results(s.requests("")[1])
	if !strings.Contains(got["t1"]+got["t2"], "1 agent is working, which is the most at once") {
		t.Errorf("results %q", got)
	}
}

func TestAgentLeftBehindByACrashIsFoundAndResumed(t *testing.T) {
	t.Parallel()
	endless := func(ctx context.Context) { <-ctx.Done() }
	lines := map[string][]reply{
		"":    {{calls: []model.Call{call("t", "task", `{"prompt":"count","name":"one","background":true}`)}}, {text: "started"}},
		"one": {{act: endless}, {text: "forty-two"}},
	}
	b, s := startSpeakers(t, lines, nil)
	b.turn("go")
	eventually.True(t, "the agent asks", func() bool { return len(s.requests("one")) == 1 })
	id := b.ID()
	b.Close()
	// A kill leaves the row as it was while the agent worked.
	kept, err := b.store.Agents().List(t.Context(), id)
	if err != nil || len(kept) != 1 {
		t.Fatalf("%+v, %v", kept, err)
	}
	if err := b.store.Agents().SetState(t.Context(), kept[0].Session, "working"); err != nil {
		t.Fatal(err)
	}
	c, err := agent.Resume(t.Context(), b.opt, id)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if list := c.Agents().List(); len(list) != 1 || list[0].Status != roster.Left {
		t.Fatalf("agents %+v", list)
	}
	if err := c.Agents().Message(t.Context(), "one", "hello"); err == nil {
		t.Error("one that was left behind takes messages")
	}
	if err := c.Agents().Resume(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "it is done", func() bool { return c.Agents().List()[0].Status == roster.Done })
	if got := c.Agents().List()[0].Answer; got != "forty-two" {
		t.Errorf("it answered %q", got)
	}
	second := s.requests("one")[1]
	if !strings.Contains(second.Messages[0].Text, "count") {
		t.Errorf("it goes on without its assignment: %+v", second.Messages)
	}
}
