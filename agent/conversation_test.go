package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/leaks"
	"jcode/session"
	"jcode/tools"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func TestPromptRunsCallsAndCommitsEverything(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{
		{text: "Looking.", calls: []model.Call{call("c1", "read", `{}`)}, usage: model.Usage{Input: 10, Output: 2}},
		{text: "Done."},
	}, reader("read", says("content")))
	end, events := b.turn("look")
	if end.Reason != event.StopDone || end.Text != "Done." || end.Steps != 2 {
		t.Fatalf("end is %+v", end)
	}
	if got := results(b.model.request(t, 1)); got["c1"] != "content" {
		t.Errorf("the second request carries %v", got)
	}
	var kinds []string
	for _, ev := range events {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", ev), "event."))
	}
	for _, want := range []string{"TurnStart", "StepStart", "TextDelta", "AssistantMessage", "CallStart", "CallEnd", "Usage"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("no %s among %v", want, kinds)
		}
	}
	rows, err := b.store.History().All(t.Context(), b.ID())
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if c := rows[1].Calls[0]; c.Status != session.StatusDone || c.Result != "content" || rows[1].Usage.Input != 10 {
		t.Errorf("stored call is %+v, usage %+v", c, rows[1].Usage)
	}
}

// Notices from before the first subscription are kept for the first one that shows them; observers do not take them.
func TestEarlyNoticesAreNotLostToAnObserver(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	c, err := agent.New(b.opt)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	seen := c.Observe()
	defer seen.Close()
	c.Notify(event.LevelWarn, "early")
	sub := c.Subscribe()
	defer sub.Close()
	for name, s := range map[string]*event.Subscription{"observer": seen, "subscriber": sub} {
		if got := s.Drain(); len(got) != 1 || got[0].(event.Notice).Text != "early" {
			t.Errorf("the %s got %v", name, got)
		}
	}
}

func TestNoSessionIsWrittenBeforeTheFirstMessage(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	list, err := b.store.List(t.Context(), session.Filter{All: true})
	if err != nil || len(list) != 0 || b.ID() != "" {
		t.Errorf("%d sessions, %v, ID %q", len(list), err, b.ID())
	}
}

func TestToolAddedByACallIsOfferedInTheNextStepOfTheTurn(t *testing.T) {
	t.Parallel()
	var b *bench
	add := writer("connect", func(context.Context, tools.Call) (tools.Result, error) {
		b.reg.Replace("mcp:x", tools.RankMCP, []tools.Tool{tool{spec: tools.Spec{Name: "mcp:x:t", Wire: "mcp__x__t", Group: tools.GroupMCP, Server: "x"}, run: says("new")}})
		return tools.Result{Text: "ok"}, nil
	})
	drop := writer("disconnect", func(context.Context, tools.Call) (tools.Result, error) {
		b.reg.UnregisterOwner("mcp:x")
		return tools.Result{Text: "ok"}, nil
	})
	b = start(t, []reply{
		{calls: []model.Call{call("1", "connect", "{}")}},
		{calls: []model.Call{call("2", "mcp__x__t", "{}"), call("3", "disconnect", "{}"), call("4", "mcp__x__t", "{}")}},
		{text: "ok"},
	}, add, drop)
	_, events := b.turn("go")
	if got := toolNames(b.model.request(t, 1)); !slices.Equal(got, []string{"connect", "disconnect", "mcp__x__t"}) {
		t.Errorf("second request offers %v", got)
	}
	last := b.model.request(t, 2)
	res := results(last)
	if res["2"] != "new" || !strings.Contains(res["4"], "unknown intent: mcp:x:t (removed)") {
		t.Errorf("results are %v", res)
	}
	if text := last.Messages[len(last.Messages)-1].Text; !strings.Contains(text, "No longer available: mcp:x:t") {
		t.Errorf("the model was told %q", text)
	}
	var changes []event.ToolsChanged
	for _, ev := range events {
		if c, ok := ev.(event.ToolsChanged); ok {
			changes = append(changes, c)
		}
	}
	if len(changes) != 2 || !slices.Equal(changes[0].Added, []string{"mcp:x:t"}) || !slices.Equal(changes[1].Removed, []string{"mcp:x:t"}) {
		t.Errorf("changes are %+v", changes)
	}
}

func TestParallelResultsGoBackInCallOrder(t *testing.T) {
	t.Parallel()
	var begun, running, most atomic.Int32
	gate := make(chan struct{})
	read := reader("read", func(_ context.Context, c tools.Call) (tools.Result, error) {
		running.Add(1)
		if begun.Add(1) == 3 {
			most.Store(running.Load())
			close(gate)
		}
		<-gate
		running.Add(-1)
		return tools.Result{Text: "for " + c.ID}, nil
	})
	b := start(t, []reply{
		{calls: []model.Call{call("a", "read", `{"n":1}`), call("b", "read", `{"n":2}`), call("c", "read", `{"n":3}`)}},
		{text: "ok"},
	}, read)
	b.turn("go")
	var order []string
	for _, m := range b.model.request(t, 1).Messages {
		if m.Role == model.RoleTool {
			order = append(order, m.CallID+"="+m.Text)
		}
	}
	if !slices.Equal(order, []string{"a=for a", "b=for b", "c=for c"}) || most.Load() != 3 {
		t.Errorf("order %v, %d at once", order, most.Load())
	}
}

func TestMutatingCallsRunOneAfterAnother(t *testing.T) {
	t.Parallel()
	var running atomic.Int32
	write := writer("write", func(context.Context, tools.Call) (tools.Result, error) {
		running.Add(1)
		defer running.Add(-1)
		if eventually.Holds(2*time.Millisecond, func() bool { return running.Load() > 1 }) {
			t.Error("two mutating calls at once")
		}
		return tools.Result{Text: "ok"}, nil
	})
	b := start(t, []reply{{calls: []model.Call{call("a", "write", `{"n":1}`), call("b", "write", `{"n":2}`)}}, {text: "ok"}}, write)
	b.turn("go")
}

func TestInterruptLeavesAValidHistoryAndTheNextPromptWorks(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	slow := writer("slow", func(ctx context.Context, _ tools.Call) (tools.Result, error) {
		close(started)
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	})
	b := start(t, []reply{{calls: []model.Call{call("a", "slow", "{}"), call("b", "slow", `{"n":2}`)}}, {text: "again"}}, slow)
	b.Prompt(event.Prompt{Text: "go"})
	<-started
	b.Prompt(event.Prompt{Text: "queued"})
	if !b.Interrupt() {
		t.Fatal("nothing to interrupt")
	}
	end, _ := b.turnEnd()
	if end.Reason != event.StopInterrupted {
		t.Fatalf("reason %s", end.Reason)
	}
	if q := b.Queue(); len(q) != 1 || q[0].Text != "queued" {
		t.Errorf("queue is %v", q)
	}
	if back := b.Unqueue(""); len(back) != 1 || back[0].Text != "queued" {
		t.Errorf("taken back: %v", back)
	}
	if end, _ := b.turn("and now"); end.Text != "again" {
		t.Errorf("next turn ended %+v", end)
	}
	res := results(b.model.request(t, 1))
	if res["a"] != "interrupted by user" || res["b"] != "not run: interrupted by user" {
		t.Errorf("results are %q", res)
	}
}

func TestInterruptWhileStreamingKeepsTheTextAndRunsNothing(t *testing.T) {
	t.Parallel()
	var b *bench
	ran := false
	b = start(t, []reply{
		{text: "half an ans", calls: []model.Call{call("a", "write", "{}")}, act: func(ctx context.Context) { b.Interrupt(); <-ctx.Done() }},
		{text: "ok"},
	}, writer("write", func(context.Context, tools.Call) (tools.Result, error) { ran = true; return tools.Result{}, nil }))
	if end, _ := b.turn("go"); end.Reason != event.StopInterrupted || end.Text != "half an ans" {
		t.Errorf("end is %+v", end)
	}
	b.turn("next")
	if m := b.model.request(t, 1).Messages; len(m) != 3 || m[1].Text != "half an ans" || len(m[1].Calls) != 0 || ran {
		t.Errorf("messages are %+v, ran %v", m, ran)
	}
}

func TestQueuedPromptJoinsTheRunningTurnAtTheNextStep(t *testing.T) {
	t.Parallel()
	var b *bench
	read := reader("read", func(context.Context, tools.Call) (tools.Result, error) {
		b.Prompt(event.Prompt{Text: "also this"})
		return tools.Result{Text: "r"}, nil
	})
	b = start(t, []reply{{calls: []model.Call{call("a", "read", "{}")}}, {text: "both"}}, read)
	b.turn("first")
	m := b.model.request(t, 1).Messages
	if last := m[len(m)-1]; last.Text != "also this" || last.Role != model.RoleUser {
		t.Errorf("last message is %+v", last)
	}
}

func TestPromptDuringAFinalAnswerIsAnsweredToo(t *testing.T) {
	t.Parallel()
	var b *bench
	b = start(t, []reply{{text: "one", act: func(context.Context) { b.Prompt(event.Prompt{Text: "two?"}) }}, {text: "two"}})
	if end, _ := b.turn("one?"); end.Text != "two" {
		t.Errorf("end is %+v", end)
	}
}

func TestLoopingModelIsStopped(t *testing.T) {
	t.Parallel()
	var replies []reply
	for i := range 10 {
		replies = append(replies, reply{calls: []model.Call{call(fmt.Sprint(i), "read", "{}")}})
	}
	runs := 0
	b := start(t, replies, reader("read", func(context.Context, tools.Call) (tools.Result, error) {
		runs++
		return tools.Result{Text: "same"}, nil
	}))
	end, _ := b.turn("go")
	if end.Reason != event.StopLimit || runs != 4 || end.Steps != 6 {
		t.Errorf("ended %s after %d steps and %d runs", end.Reason, end.Steps, runs)
	}
	if res := results(b.model.request(t, 5)); !strings.Contains(res["4"], "not run again") {
		t.Errorf("the fifth call got %q", res["4"])
	}
}

func TestStepCapEndsTheTurnAndTheNextOneGoesOn(t *testing.T) {
	t.Parallel()
	n := 0
	read := reader("read", func(context.Context, tools.Call) (tools.Result, error) {
		n++
		return tools.Result{Text: fmt.Sprint(n)}, nil
	})
	one := reply{calls: []model.Call{call("x", "read", "{}")}}
	b := startWith(t, []reply{one, one, one, {text: "ok"}}, func(o *agent.Options) { o.MaxSteps = 3 }, read)
	if end, _ := b.turn("go"); end.Reason != event.StopLimit || !strings.Contains(end.Error, "3 steps") {
		t.Errorf("end is %+v", end)
	}
	if end, _ := b.turn("continue"); end.Reason != event.StopDone {
		t.Errorf("end is %+v", end)
	}
	if ids := results(b.model.request(t, 3)); len(ids) != 3 {
		t.Errorf("equal call IDs of three answers gave the results %v", ids)
	}
}

func TestApprovalIsAskedAndAnswered(t *testing.T) {
	t.Parallel()
	b := startWith(t, []reply{{calls: []model.Call{call("a", "write", "{}"), call("b", "write", `{"n":1}`)}}, {text: "ok"}},
		func(o *agent.Options) { o.Gate = allowAll{ask: true} }, writer("write", says("written")))
	b.Prompt(event.Prompt{Text: "go"})
	for _, scope := range []tools.AnswerScope{tools.AnswerOnce, tools.AnswerNo} {
		events := b.until(func(ev event.Event) bool { _, ok := ev.(event.ApprovalAsked); return ok })
		ask := events[len(events)-1].(event.ApprovalAsked)
		if err := b.Answer(ask.ID, tools.Answer{Scope: scope}); err != nil {
			t.Fatal(err)
		}
		if b.Answer(ask.ID, tools.Answer{}) == nil {
			t.Error("a question was answered twice")
		}
	}
	b.turnEnd()
	if res := results(b.model.request(t, 1)); res["a"] != "written" || res["b"] != "denied by user" {
		t.Errorf("results are %q", res)
	}
}

func TestInterruptEndsAnOpenQuestion(t *testing.T) {
	t.Parallel()
	b := startWith(t, []reply{{calls: []model.Call{call("a", "write", "{}")}}}, func(o *agent.Options) { o.Gate = allowAll{ask: true} }, writer("write", says("written")))
	b.Prompt(event.Prompt{Text: "go"})
	b.until(func(ev event.Event) bool { _, ok := ev.(event.ApprovalAsked); return ok })
	b.Interrupt()
	_, events := b.turnEnd()
	if !slices.ContainsFunc(events, func(ev event.Event) bool { _, ok := ev.(event.ApprovalClosed); return ok }) {
		t.Error("the question was not closed")
	}
}

func TestHeadlessHasNobodyToAskAndGoesOn(t *testing.T) {
	t.Parallel()
	b := startWith(t, []reply{{calls: []model.Call{call("a", "write", "{}")}}, {text: "fine without"}},
		func(o *agent.Options) { o.Gate = allowAll{ask: true}; o.Headless = true }, writer("write", says("written")))
	if end, _ := b.turn("go"); end.Text != "fine without" {
		t.Errorf("end is %+v", end)
	}
	if res := results(b.model.request(t, 1)); !strings.Contains(res["a"], "no one to ask") {
		t.Errorf("results are %q", res)
	}
}

func TestResumeGoesOnWhereACrashLeftOff(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{{text: "hello"}})
	b.turn("hi")
	id := b.ID()
	// A process that died between two calls leaves rows like these.
	seq, err := b.store.History().Append(t.Context(), session.Message{Session: id, Role: session.RoleAssistant, Calls: []session.Call{
		{Index: 0, ID: "x", Name: "read", Wire: "read", Arguments: "{}", Status: session.StatusPending},
		{Index: 1, ID: "y", Name: "read", Wire: "read", Arguments: `{"cut`, Status: session.StatusPending},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.store.History().FinishCall(t.Context(), session.Call{Session: id, Seq: seq, Index: 0, ID: "x", Status: session.StatusDone, Result: "got it"}); err != nil {
		t.Fatal(err)
	}
	b.Close()
	again := &script{replies: []reply{{text: "back"}}}
	opt := b.opt
	opt.Resolve = func(string) (agent.Model, error) { return agent.Model{Name: "s", Client: again}, nil }
	c, err := agent.Resume(t.Context(), opt, id)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b2 := &bench{t: t, Conversation: c, sub: c.Subscribe(), model: again}
	b2.turn("go on")
	req := again.request(t, 0)
	if res := results(req); res["x"] != "got it" || !strings.Contains(res["y"], "not run") {
		t.Errorf("results are %q", res)
	}
	if m := req.Messages; m[0].Text != "hi" || m[1].Text != "hello" || m[2].Calls[1].Arguments != "{}" {
		t.Errorf("messages are %+v", m)
	}
}

func TestSessionHeldByAnotherProcessIsReadOnly(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{{text: "hello"}})
	b.turn("hi")
	c, err := agent.Resume(t.Context(), b.opt, b.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if !c.State().ReadOnly || c.Prompt(event.Prompt{Text: "me too"}) != "" {
		t.Errorf("state is %+v", c.State())
	}
	rows, err := b.store.History().All(t.Context(), b.ID())
	if err != nil || len(rows) != 2 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestFullWindowIsCompactedBetweenSteps(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 2000) // 2,500 tokens
	replies := []reply{}
	for i := range 6 {
		replies = append(replies, reply{text: fmt.Sprintf("answer %d %s", i, long)})
	}
	b := startWith(t, append(replies, reply{text: "end"}), func(o *agent.Options) {
		resolve := o.Resolve
		o.Resolve = func(n string) (agent.Model, error) { m, err := resolve(n); m.Window = 10000; return m, err }
	})
	compactions := 0
	for i := range 7 {
		_, events := b.turn(fmt.Sprintf("prompt %d", i))
		for _, ev := range events {
			if c, ok := ev.(event.Compacted); ok {
				compactions++
				if c.AfterTokens >= c.BeforeTokens {
					t.Errorf("compaction from %d to %d", c.BeforeTokens, c.AfterTokens)
				}
			}
		}
	}
	if compactions == 0 || compactions > 3 {
		t.Errorf("%d compactions", compactions)
	}
	last := b.model.request(t, 6)
	if !strings.Contains(last.Messages[0].Text, "SUMMARY") || last.Messages[len(last.Messages)-1].Text != "prompt 6" {
		t.Errorf("first message %.60q", last.Messages[0].Text)
	}
	rows, err := b.store.History().All(t.Context(), b.ID())
	if err != nil || len(rows) < 14 {
		t.Errorf("%d rows are left: archived ones must not be deleted (%v)", len(rows), err)
	}
}

func TestOverflowCompactsOnceThenGivesOneClearError(t *testing.T) {
	t.Parallel()
	overflow := reply{err: &model.Error{Class: model.ClassOverflow, Status: 400, Text: "too long"}}
	b := start(t, []reply{{text: "a"}, {text: "b"}, {text: "c"}, overflow, {text: "made it"}, overflow, overflow, {text: "unreached"}})
	for _, p := range []string{"1", "2", "3"} {
		b.turn(p)
	}
	if end, _ := b.turn("4"); end.Text != "made it" {
		t.Fatalf("end is %+v", end)
	}
	end, _ := b.turn("5")
	if end.Reason != event.StopError || !strings.Contains(end.Error, "also after compaction") {
		t.Errorf("end is %+v", end)
	}
}

func TestRequestsShareTheirPrefix(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{{calls: []model.Call{call("1", "read", "{}")}}, {calls: []model.Call{call("2", "read", `{"n":1}`)}}, {text: "ok"}}, reader("read", says("r")))
	b.turn("go")
	for i := 1; i < 3; i++ {
		before, now := b.model.request(t, i-1), b.model.request(t, i)
		if now.System != before.System || string(object(now.Tools)) != string(object(before.Tools)) {
			t.Errorf("request %d changes the system prompt or the tools", i)
		}
		if string(object(now.Messages[:len(before.Messages)])) != string(object(before.Messages)) {
			t.Errorf("request %d changes earlier messages", i)
		}
	}
}

func TestEmptyAnswerIsSaidAndNeverSentAgain(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{{}, {text: "ok"}})
	_, events := b.turn("hi")
	if !slices.ContainsFunc(events, func(ev event.Event) bool {
		n, ok := ev.(event.Notice)
		return ok && strings.Contains(n.Text, "empty answer")
	}) {
		t.Error("nothing was said")
	}
	b.turn("again")
	for _, m := range b.model.request(t, 1).Messages {
		if m.Role == model.RoleAssistant {
			t.Errorf("an empty message was sent: %+v", m)
		}
	}
}

func TestRefusedToolIsLeftOutForTheRestOfTheSession(t *testing.T) {
	t.Parallel()
	refusal := reply{err: &model.Error{Class: model.ClassTool, Status: 400, Text: "tools[1] is odd", ToolIndex: 1, Tool: "odd"}}
	b := start(t, []reply{refusal, {text: "a"}, {text: "b"}}, reader("fine", says("r")), reader("odd", says("r")))
	for i, prompt := range []string{"1", "2"} {
		if end, _ := b.turn(prompt); end.Reason != event.StopDone {
			t.Fatalf("end is %+v", end)
		}
		if offered := b.model.request(t, i+1).Tools; len(offered) != 1 || offered[0].Name != "fine" {
			t.Errorf("turn %d is offered %v", i+1, offered)
		}
	}
}

func TestEscSkipsTheWaitForScriptsAndNotTheTurn(t *testing.T) {
	t.Parallel()
	waiting := make(chan struct{})
	b := startWith(t, []reply{{text: "answered"}}, func(o *agent.Options) {
		o.Extensions = agent.Extensions{{Ready: func(ctx context.Context) { close(waiting); <-ctx.Done() }}}
	})
	b.Prompt(event.Prompt{Text: "go"})
	<-waiting
	if !b.Interrupt() {
		t.Fatal("nothing to interrupt")
	}
	if end, _ := b.turnEnd(); end.Text != "answered" {
		t.Errorf("end is %+v", end)
	}
}

// A queued message with its own model waits for its own turn: the running turn makes no request
// without a new message.
func TestQueuedMessageWithItsOwnModelWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	var b *bench
	b = start(t, []reply{
		{text: "one", act: func(context.Context) { b.Prompt(event.Prompt{Text: "two?", Model: "other"}) }},
		{text: "two"},
	})
	if end, _ := b.turn("one?"); end.Text != "one" || end.Steps != 1 {
		t.Errorf("%+v", end)
	}
	if end, _ := b.turnEnd(); end.Text != "two" || len(b.model.requests) != 2 {
		t.Errorf("%+v after %d requests", end, len(b.model.requests))
	}
}
