package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/builtin/desk"
)

func TestSubAgentWorksInItsOwnSessionAndItsQuestionsReachThePerson(t *testing.T) {
	t.Parallel()
	b := startWith(t, []reply{
		{calls: []model.Call{call("t1", "task", `{"prompt":"count them"}`)}, usage: model.Usage{Input: 10, Output: 1}},
		{calls: []model.Call{call("w", "write", "{}")}, usage: model.Usage{Input: 5, Output: 1}},
		{text: "forty-two", usage: model.Usage{Input: 5, Output: 1}},
		{text: "It is forty-two.", usage: model.Usage{Input: 10, Output: 1}},
	}, func(o *agent.Options) { o.Gate = allowAll{ask: true} }, append(desk.Tools(), writer("write", says("written")))...)
	b.Prompt(event.Prompt{Text: "how many"})
	asked := b.until(func(ev event.Event) bool { _, ok := ev.(event.ApprovalAsked); return ok })
	if err := b.Answer(asked[len(asked)-1].(event.ApprovalAsked).ID, tools.Answer{Scope: tools.AnswerOnce}); err != nil {
		t.Fatal(err)
	}
	end, events := b.turnEnd()
	if end.Text != "It is forty-two." {
		t.Fatalf("end is %+v", end)
	}
	if res := results(b.model.request(t, 3)); res["t1"] != "forty-two" {
		t.Errorf("results are %q", res)
	}
	if got := toolNames(b.model.request(t, 1)); !slices.Contains(got, "task") || slices.Contains(got, "todo") || !slices.Contains(got, "write") {
		t.Errorf("the sub-agent is offered %v", got)
	}
	nested := 0
	for _, ev := range append(asked, events...) {
		if n, ok := ev.(event.Nested); ok && n.CallID == "t1" {
			nested++
		}
	}
	if nested < 4 {
		t.Errorf("%d nested events", nested)
	}
	kids, err := b.store.List(t.Context(), session.Filter{All: true, Kind: session.KindTask})
	if err != nil || len(kids) != 1 || kids[0].ParentID != b.ID() {
		t.Errorf("child sessions %+v, %v", kids, err)
	}
}

func TestInterruptEndsTheSubAgentToo(t *testing.T) {
	t.Parallel()
	var b *bench
	b = start(t, []reply{
		{calls: []model.Call{call("t1", "task", `{"prompt":"p"}`)}},
		{text: "half", act: func(ctx context.Context) { b.Interrupt(); <-ctx.Done() }},
		{text: "ok"},
	}, desk.Tools()...)
	if end, _ := b.turn("go"); end.Reason != event.StopInterrupted {
		t.Fatalf("end is %+v", end)
	}
	b.turn("next")
	if res := results(b.model.request(t, 2)); !strings.Contains(res["t1"], "interrupted by user") {
		t.Errorf("results are %q", res)
	}
}

func TestPlanIsShownAndKept(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{{calls: []model.Call{call("1", "todo", `{"items":[{"text":"a","status":"done"},{"text":"b","status":"pending"}]}`)}}, {text: "ok"}}, desk.Tools()...)
	_, events := b.turn("plan")
	if !slices.ContainsFunc(events, func(ev event.Event) bool { p, ok := ev.(event.TodoChanged); return ok && len(p.Items) == 2 }) {
		t.Error("the plan was not shown")
	}
	id := b.ID()
	b.Close()
	c, err := agent.Resume(t.Context(), b.opt, id)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.Todo(); len(got) != 2 || got[0].Status != "done" {
		t.Errorf("after a resume the plan is %v", got)
	}
}

// An unreadable plan is not treated as an absent one.
func TestPlanThatCannotBeReadIsSaidWhenItsSessionGoesOn(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{{text: "hello"}, {text: "back"}})
	b.turn("hi")
	id := b.ID()
	if err := b.store.Todos().Set(t.Context(), id, json.RawMessage(`{"not":"a list"}`)); err != nil {
		t.Fatal(err)
	}
	b.Close()
	c, err := agent.Resume(t.Context(), b.opt, id)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	again := &bench{t: t, Conversation: c, sub: c.Subscribe(), model: b.model}
	events := again.until(func(ev event.Event) bool { _, ok := ev.(event.Notice); return ok })
	if n := events[len(events)-1].(event.Notice); n.Level != event.LevelWarn || !strings.Contains(n.Text, "the stored plan could not be read") {
		t.Errorf("the notice is %+v", n)
	}
	if end, _ := again.turn("go on"); end.Text != "back" {
		t.Errorf("the session does not go on: %+v", end)
	}
}

func TestQuestionIsRepliedByThePersonOrByPolicy(t *testing.T) {
	t.Parallel()
	replies := []reply{{calls: []model.Call{call("q", "ask", `{"question":"which?","options":["a","b"]}`)}}, {text: "ok"}}
	b := start(t, replies, desk.Tools()...)
	b.Prompt(event.Prompt{Text: "go"})
	events := b.until(func(ev event.Event) bool { _, ok := ev.(event.AskPerson); return ok })
	if err := b.Reply(events[len(events)-1].(event.AskPerson).ID, "b"); err != nil {
		t.Fatal(err)
	}
	b.turnEnd()
	if res := results(b.model.request(t, 1)); res["q"] != "b" {
		t.Errorf("results are %q", res)
	}
	h := startWith(t, replies, func(o *agent.Options) { o.Headless = true }, desk.Tools()...)
	if end, _ := h.turn("go"); end.Text != "ok" {
		t.Errorf("end is %+v", end)
	}
	if res := results(h.model.request(t, 1)); !strings.Contains(res["q"], "no one to ask") {
		t.Errorf("results are %q", res)
	}
}

func TestPlanStaysWholeOverACompaction(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{
		{calls: []model.Call{call("1", "todo", `{"items":[{"text":"mend the roof","status":"in_progress"}]}`)}},
		{text: "one"},
		{text: "two"},
		{text: "three"},
		{text: "four"},
	}, desk.Tools()...)
	for _, p := range []string{"a", "b", "c"} {
		b.turn(p)
	}
	if err := b.Compact(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	b.turn("d")
	first := b.model.request(t, 4).Messages[0].Text
	if !strings.Contains(first, "SUMMARY") || !strings.Contains(first, "[in_progress] mend the roof") {
		t.Errorf("after the compaction the model reads %q", first)
	}
}
