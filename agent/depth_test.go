package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/agent/roster"
	"jcode/internal/testkit/eventually"
	"jcode/tools"
)

func TestAgentsStartAgentsTwoGenerationsDeep(t *testing.T) {
	t.Parallel()
	b, s := startSpeakers(t, map[string][]reply{
		"":      {{calls: []model.Call{call("t", "task", `{"prompt":"a","name":"one","background":true}`)}}, {calls: []model.Call{call("w", "agent", `{"action":"wait"}`)}}, {text: "done"}},
		"one":   {{calls: []model.Call{call("u", "task", `{"prompt":"b","name":"two","background":true}`)}}, {text: "two works"}, {text: "two said so"}},
		"two":   {{calls: []model.Call{call("v", "task", `{"prompt":"c","name":"three"}`)}}, {calls: []model.Call{call("x", "write", `{}`)}}, {text: "forty-two"}},
		"three": {{text: "never"}},
	}, func(o *agent.Options) { o.Gate = allowAll{ask: true} }, writer("write", says("written")))
	b.Prompt(event.Prompt{Text: "go"})
	// The two questions come in any order.
	pending := map[string]string{}
	for len(pending) < 2 {
		asked := b.until(func(ev event.Event) bool { _, ok := ev.(event.ApprovalAsked); return ok })
		q := asked[len(asked)-1].(event.ApprovalAsked)
		pending[q.Question.Tool] = q.ID
		if d := q.Question.Details; q.Question.Tool == "write" && (q.Question.Label != "two" || len(d) == 0 || !strings.HasPrefix(d[len(d)-1], "the agent two, in ")) {
			t.Errorf("the question names %q and %q", q.Question.Label, d)
		}
	}
	if status(b, "two") != roster.Waiting || status(b, "one") != roster.Working {
		t.Errorf("two is %s and one is %s", status(b, "two"), status(b, "one"))
	}
	eventually.True(t, "one has said that two works", func() bool { return len(s.requests("one")) == 2 })
	for _, id := range pending {
		if err := b.Answer(id, tools.Answer{Scope: tools.AnswerOnce}); err != nil {
			t.Fatal(err)
		}
	}
	b.turnEnd()
	if got := results(s.requests("two")[1])["v"]; !strings.Contains(got, "do the work yourself") {
		t.Errorf("the third generation: %q", got)
	}
	if slices.Contains(toolNames(s.requests("two")[0]), "task") || !slices.Contains(toolNames(s.requests("one")[0]), "task") {
		t.Error("who is offered task is wrong")
	}
	if got := results(s.requests("")[2])["w"]; !strings.Contains(got, "two said so") {
		t.Errorf("the end of one did not wait for two: %q", got)
	}
}

func TestStoppingAnAgentStopsThoseThatItStarted(t *testing.T) {
	t.Parallel()
	endless := func(ctx context.Context) { <-ctx.Done() }
	b, s := startSpeakers(t, map[string][]reply{
		"":    {{calls: []model.Call{call("t", "task", `{"prompt":"a","name":"one","background":true}`)}}, {text: "started"}},
		"one": {{calls: []model.Call{call("u", "task", `{"prompt":"b","name":"two","background":true}`)}}, {text: "two works"}},
		"two": {{act: endless}},
	}, nil)
	b.turn("go")
	eventually.True(t, "two asks", func() bool { return len(s.requests("two")) == 1 && len(s.requests("one")) == 2 })
	if err := b.Agents().Stop(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if status(b, "one") != roster.Stopped || status(b, "two") != roster.Stopped {
		t.Errorf("one is %s, two is %s", status(b, "one"), status(b, "two"))
	}
}
