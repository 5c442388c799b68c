package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/tools"
)

// roles knows two roles; "reader" may only read and needs a server.
func roles(_ context.Context, want agent.RoleRequest) (agent.Role, error) {
	name := want.Name
	switch name {
	case "reader":
		return agent.Role{Name: name, Prompt: "READER", Scope: &tools.Scope{Name: name, Tools: []string{"read"}, ModeCeiling: tools.ModePlan}, Servers: []string{"github"}}, nil
	case "other":
		return agent.Role{Name: name, Prompt: "OTHER"}, nil
	case "endless":
		return agent.Role{Name: name, Servers: []string{"endless"}}, nil
	case "broken":
		return agent.Role{Name: name, Servers: []string{"down"}}, nil
	}
	return agent.Role{}, fmt.Errorf("unknown role %q", name)
}

// leases records what is held.
type leases struct {
	held    []string
	waiting chan struct{} // closed when the wait for a server that never starts begins
}

func (l *leases) Acquire(ctx context.Context, names []string) (func(), error) {
	if slices.Contains(names, "endless") {
		close(l.waiting)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if slices.Contains(names, "down") {
		return nil, errors.New("server down: exited")
	}
	l.held = append(l.held, names...)
	return func() { l.held = nil }, nil
}

func roleBench(t testing.TB, l *leases, replies ...reply) *bench {
	return startWith(t, replies, func(o *agent.Options) {
		o.Roles, o.Leases = roles, l
		o.System = func(_ string, r agent.Role, _ *tools.Scope) string { return "SYSTEM " + r.Prompt }
	}, reader("read", says("r")), writer("write", says("w")))
}

func TestRoleSwitchChangesOfferPromptAndModeAndIsToldOnce(t *testing.T) {
	t.Parallel()
	l := &leases{}
	b := roleBench(t, l, reply{text: "1"}, reply{calls: []model.Call{call("a", "write", "{}")}}, reply{text: "2"}, reply{text: "3"})
	b.turn("one")
	if err := b.SetRole(t.Context(), "reader"); err != nil {
		t.Fatal(err)
	}
	if st := b.State(); st.Role != "reader" || st.Mode != tools.ModePlan || !slices.Equal(l.held, []string{"github"}) {
		t.Errorf("state %+v, held %v", st, l.held)
	}
	b.turn("two")
	req := b.model.request(t, 1)
	if !slices.Equal(toolNames(req), []string{"read"}) || req.System != "SYSTEM READER" {
		t.Errorf("offers %v, system %q", toolNames(req), req.System)
	}
	// A call to what the role leaves out is refused at dispatch too.
	if res := results(b.model.request(t, 2)); !strings.Contains(res["a"], "permission denied") {
		t.Errorf("results %q", res)
	}
	if err := b.SetRole(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	b.turn("three")
	last := b.model.request(t, 3)
	if !slices.Equal(toolNames(last), []string{"read", "write"}) || l.held != nil || b.State().Mode != tools.ModeAsk {
		t.Errorf("after leaving: offers %v, held %v, mode %s", toolNames(last), l.held, b.State().Mode)
	}
	told := 0
	for _, m := range last.Messages {
		if strings.Contains(m.Text, "switched to the role reader") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the model was told %d times", told)
	}
}

func TestFailingRoleLeavesTheOldScopeUntouched(t *testing.T) {
	t.Parallel()
	l := &leases{}
	b := roleBench(t, l, reply{text: "1"}, reply{text: "2"})
	if err := b.SetRole(t.Context(), "reader"); err != nil {
		t.Fatal(err)
	}
	b.turn("one")
	err := b.SetRole(t.Context(), "broken")
	if err == nil || !strings.Contains(err.Error(), "server down") {
		t.Fatalf("error %v", err)
	}
	if b.SetRole(t.Context(), "nobody") == nil {
		t.Error("an unknown role was entered")
	}
	b.turn("two")
	first, second := b.model.request(t, 0), b.model.request(t, 1)
	if b.State().Role != "reader" || second.System != first.System || !slices.Equal(toolNames(second), toolNames(first)) || !slices.Equal(l.held, []string{"github"}) {
		t.Errorf("state %+v, held %v, offers %v", b.State(), l.held, toolNames(second))
	}
}

func TestRoleForOneMessageIsRestored(t *testing.T) {
	t.Parallel()
	l := &leases{}
	b := roleBench(t, l, reply{text: "1"}, reply{text: "2"})
	b.Prompt(event.Prompt{Text: "one", Role: "reader"})
	b.turnEnd()
	b.turn("two")
	if got := toolNames(b.model.request(t, 0)); !slices.Equal(got, []string{"read"}) {
		t.Errorf("the message was sent with %v", got)
	}
	if got := toolNames(b.model.request(t, 1)); !slices.Equal(got, []string{"read", "write"}) || b.State().Role != "" || l.held != nil {
		t.Errorf("afterwards %v, role %q, held %v", got, b.State().Role, l.held)
	}
}

func BenchmarkRoleSwitch(b *testing.B) {
	c := roleBench(b, &leases{}, reply{text: "1"})
	c.turn("one")
	for i := 0; b.Loop(); i++ {
		name := ""
		if i%2 == 0 {
			name = "reader"
		}
		if err := c.SetRole(b.Context(), name); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRoleSwitchThatIsTakenBackLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	l := &leases{waiting: make(chan struct{})}
	b := roleBench(t, l, reply{text: "1"})
	if err := b.SetRole(t.Context(), "reader"); err != nil {
		t.Fatal(err)
	}
	before := b.State()
	ctx, takeBack := context.WithCancel(t.Context())
	go func() {
		<-l.waiting
		takeBack()
	}()
	if err := b.SetRole(ctx, "endless"); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if now := b.State(); now != before || b.Role().Name != "reader" || !slices.Equal(l.held, []string{"github"}) {
		t.Errorf("state %+v, was %+v; held %v", now, before, l.held)
	}
}

// A message with its own role is returned to the queue when the wait for the role's servers is interrupted.
func TestInterruptBeforeAMessagesRoleIsEnteredKeepsTheMessage(t *testing.T) {
	t.Parallel()
	l := &leases{waiting: make(chan struct{})}
	b := roleBench(t, l)
	b.Prompt(event.Prompt{Text: "do it", Role: "endless"})
	<-l.waiting
	b.Interrupt()
	if end, _ := b.turnEnd(); end.Reason != event.StopInterrupted {
		t.Errorf("the turn ended with %+v", end)
	}
	if got := b.unsent(1); len(got) != 1 || got[0].Text != "do it" || got[0].Role != "endless" {
		t.Errorf("given back: %+v", got)
	}
	if q := b.Queue(); len(q) != 0 {
		t.Errorf("the queue holds %+v", q)
	}
}

func TestWhatThePersonSetsHoldsInARoleAndAfterIt(t *testing.T) {
	t.Parallel()
	half, tenth := 0.5, 0.1
	b := startWith(t, []reply{{text: "1"}, {text: "2"}}, func(o *agent.Options) {
		o.Roles = func(context.Context, agent.RoleRequest) (agent.Role, error) {
			return agent.Role{Name: "careful", Model: "roles", Temperature: &half, Scope: &tools.Scope{Name: "careful", ModeCeiling: tools.ModeAsk}}, nil
		}
		client := o.Resolve
		o.Resolve = func(name string) (agent.Model, error) {
			m, err := client(name)
			m.Name, m.ID = name, name
			return m, err
		}
	})
	if err := b.SetRole(t.Context(), "careful"); err != nil {
		t.Fatal(err)
	}
	if b.State().Model != "roles" || b.OwnModel() != "script" {
		t.Errorf("model %s, own %s", b.State().Model, b.OwnModel())
	}
	b.SetMode(tools.ModeYolo)
	if got := b.State().Mode; got != tools.ModeAsk {
		t.Errorf("the role's ceiling is passed: %s", got)
	}
	if err := b.SetModel("chosen"); err != nil {
		t.Fatal(err)
	}
	tuned := b.Tuning()
	tuned.TopP = &tenth
	b.Tune(tuned)
	b.turn("one")
	if req := b.model.request(t, 0); req.Model != "chosen" || req.Temperature == nil || *req.Temperature != half || req.TopP == nil {
		t.Errorf("in the role: %s, temperature %v, top_p %v", req.Model, req.Temperature, req.TopP)
	}
	if err := b.SetRole(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if st := b.State(); st.Model != "chosen" || st.Mode != tools.ModeYolo {
		t.Errorf("after the role: %+v", st)
	}
	b.turn("two")
	if req := b.model.request(t, 1); req.Model != "chosen" || req.Temperature != nil || req.TopP == nil || *req.TopP != tenth {
		t.Errorf("after the role: %s, temperature %v, top_p %v", req.Model, req.Temperature, req.TopP)
	}
}

func TestRoleChosenDuringAMessageOfAnotherHolds(t *testing.T) {
	t.Parallel()
	l := &leases{}
	var b *bench
	b = roleBench(t, l, reply{text: "1", act: func(ctx context.Context) {
		if err := b.SetRole(ctx, "reader"); err != nil {
			t.Error(err)
		}
	}}, reply{text: "2"})
	b.Prompt(event.Prompt{Text: "one", Role: "other"})
	b.turnEnd()
	if st := b.State(); st.Role != "reader" || b.Role().Name != "reader" {
		t.Errorf("state %+v, role %s", st, b.Role().Name)
	}
	b.turn("two")
	if req := b.model.request(t, 1); req.System != "SYSTEM READER" {
		t.Errorf("system %q", req.System)
	}
}

func TestRulesOfAQueuedCommandHoldForTheRestOfTheTurn(t *testing.T) {
	t.Parallel()
	var b *bench
	held := map[string]int{}
	read := reader("read", func(context.Context, tools.Call) (tools.Result, error) {
		b.Prompt(event.Prompt{Text: "also this", Allow: []string{"exec(make)"}})
		return tools.Result{Text: "r"}, nil
	})
	b = startWith(t, []reply{{calls: []model.Call{call("a", "read", "{}")}}, {text: "both", act: func(context.Context) {
		if held["exec(make)"] != 1 {
			t.Errorf("in force: %v", held)
		}
	}}}, func(o *agent.Options) {
		o.Allow = func(_ string, rules []string) (func(), error) {
			for _, r := range rules {
				held[r]++
			}
			return func() {
				for _, r := range rules {
					held[r]--
				}
			}, nil
		}
	}, read)
	b.turn("first")
	if held["exec(make)"] != 0 {
		t.Errorf("still in force: %v", held)
	}
}
