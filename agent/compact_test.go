package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/session"
	"jcode/tools/builtin/desk"
)

// window sets the window of the model under test, and a price of a dollar a token.
func window(tokens int) func(*agent.Options) {
	return func(o *agent.Options) {
		resolve := o.Resolve
		o.Resolve = func(n string) (agent.Model, error) {
			m, err := resolve(n)
			m.Window = tokens
			m.Cost = func(_ string, u model.Usage) (float64, bool) { return float64(u.Input + u.Output), true }
			return m, err
		}
	}
}

var overflow = reply{err: &model.Error{Class: model.ClassOverflow, Status: 400, Text: "too long"}}

func count[T event.Event](events []event.Event) int {
	n := 0
	for _, ev := range events {
		if _, ok := ev.(T); ok {
			n++
		}
	}
	return n
}

// A long turn may outgrow the window more than once: each time it is compacted, as long as
// requests succeed in between.
func TestLongTurnMayOverflowAgainAndAgain(t *testing.T) {
	t.Parallel()
	read := reader("read", says(strings.Repeat("line\n", 2000)))
	var replies []reply
	for i := range 3 {
		for k := range 3 {
			replies = append(replies, reply{calls: []model.Call{call(fmt.Sprint("c", i, k), "read", fmt.Sprintf(`{"n":%d%d}`, i, k))}})
		}
		replies = append(replies, overflow)
	}
	b := start(t, append(replies, reply{text: "made it"}), read)
	if end, _ := b.turn("go"); end.Text != "made it" {
		t.Errorf("%+v", end)
	}
}

// If nothing can be shortened, the same request is not sent again.
func TestMessageThatNeverFitsIsSentOnce(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{overflow, {text: "unreached"}})
	end, _ := b.turn(strings.Repeat("word ", 1000))
	if end.Reason != event.StopError || !strings.Contains(end.Error, "nothing to compact") || len(b.model.requests) != 1 {
		t.Errorf("%+v after %d requests", end, len(b.model.requests))
	}
}

// The part that is kept verbatim may be too long by itself.
func TestHugeLastStepIsShrunkToo(t *testing.T) {
	t.Parallel()
	read := reader("read", says(strings.Repeat("line\n", 4000)))
	step := func(id string) reply {
		return reply{calls: []model.Call{call(id+"1", "read", `{"a":"`+id+`"}`), call(id+"2", "read", `{"b":"`+id+`"}`)}}
	}
	b := startWith(t, []reply{{text: "hi"}, step("a"), step("b"), overflow, {text: "made it"}}, window(8000), read)
	b.turn("hello")
	if end, _ := b.turn("go"); end.Text != "made it" {
		t.Fatalf("%+v", end)
	}
	last := b.model.requests[len(b.model.requests)-1]
	if n := model.EstimateRequest(&last); n > 8000 {
		t.Errorf("the request after it has %d tokens", n)
	}
}

// The window that a provider names applies from then on.
func TestWindowOfARefusalIsRemembered(t *testing.T) {
	t.Parallel()
	small := reply{err: &model.Error{Class: model.ClassOverflow, Status: 400, Text: "too long", Window: 2000}}
	b := startWith(t, []reply{{text: strings.Repeat("word ", 1000)}, small, {text: "made it"}}, window(100_000))
	b.turn("1")
	if end, _ := b.turn("2"); end.Text != "made it" || b.Window() != 2000 {
		t.Errorf("%+v, window %d", end, b.Window())
	}
}

// A failed compaction leaves the history unchanged, is reported once, and is not repeated at every
// step.
func TestFailedCompactionIsNotTriedWithEveryStep(t *testing.T) {
	t.Parallel()
	for name, summary := range map[string]func(context.Context) (model.Response, error){
		"an error": func(context.Context) (model.Response, error) { return model.Response{}, errors.New("down") },
		"nothing":  func(context.Context) (model.Response, error) { return model.Response{Text: " \n"}, nil },
		"no shorter than before": func(context.Context) (model.Response, error) {
			return model.Response{Text: strings.Repeat("blah ", 100_000)}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			read := reader("read", says("short"))
			replies := []reply{{text: strings.Repeat("word ", 1000)}}
			for i := range 4 {
				replies = append(replies, reply{calls: []model.Call{call(fmt.Sprint(i), "read", fmt.Sprintf(`{"n":%d}`, i))}})
			}
			b := startWith(t, append(replies, reply{text: "done"}), window(1400), read)
			b.model.summary = summary
			b.turn("1")
			end, events := b.turn("2")
			tries := 0
			for _, r := range b.model.requests {
				if r.Purpose == model.PurposeSummary {
					tries++
				}
			}
			if end.Reason != event.StopDone || tries != 1 || count[event.Compacted](events) != 0 {
				t.Errorf("%+v, %d tries, %d compactions", end, tries, count[event.Compacted](events))
			}
			rows, err := b.store.History().All(t.Context(), b.ID())
			if err != nil || rows[0].Archived != 0 {
				t.Errorf("archived by a compaction that failed: %v", err)
			}
		})
	}
}

// The cost of a summary counts for the session, also after a resume.
func TestSummaryIsPaidFor(t *testing.T) {
	t.Parallel()
	b := startWith(t, []reply{
		{text: strings.Repeat("word ", 1000), usage: model.Usage{Input: 1300, Output: 1}},
		{text: "end", usage: model.Usage{Input: 1, Output: 1}},
	}, window(1400))
	b.model.summary = func(context.Context) (model.Response, error) {
		return model.Response{Text: "SUMMARY", Usage: model.Usage{Input: 100, Output: 7}}, nil
	}
	b.turn("1")
	b.turn("2")
	if got := b.Usage().Total; got.Input != 1401 || got.Output != 9 {
		t.Errorf("used %+v", got)
	}
	b.Close()
	row, err := b.store.Get(t.Context(), b.ID())
	if err != nil || row.InputTokens != 1401 || row.Cost != 1410 {
		t.Errorf("stored %d tokens, cost %v, %v", row.InputTokens, row.Cost, err)
	}
	again, err := agent.Resume(t.Context(), b.opt, b.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := again.Usage().Total; got.Input != 1401 || got.Output != 9 {
		t.Errorf("used after a resume %+v", got)
	}
}

// A session's usage includes its sub-agents and what was rewound. A fork begins with zero.
func TestWhatWasUsedStaysUsed(t *testing.T) {
	t.Parallel()
	used := model.Usage{Input: 10, Output: 1}
	b := startWith(t, []reply{
		{calls: []model.Call{call("t1", "task", `{"prompt":"count"}`)}, usage: used},
		{text: "forty-two", usage: used},
		{text: "So it is.", usage: used},
		{text: "gone", usage: used},
	}, window(0), desk.Tools()...)
	b.turn("how many")
	end, _ := b.turn("and now")
	if err := b.Rewind(t.Context(), int64(end.Turn)); err != nil {
		t.Fatal(err)
	}
	if got := b.Usage().Total; got.Input != 40 {
		t.Errorf("after the rewind %+v", got)
	}
	b.Close()
	fork, err := b.store.Fork(t.Context(), b.ID(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int{b.ID(): 40, fork.ID: 0} {
		again, err := agent.Resume(t.Context(), b.opt, id)
		if err != nil {
			t.Fatal(err)
		}
		if got := again.Usage().Total; got.Input != want {
			t.Errorf("resumed %+v, want %d", got, want)
		}
		again.Close()
	}
}

// A sub-agent is limited by the rest of the cost cap.
func TestSubAgentSharesTheCap(t *testing.T) {
	t.Parallel()
	used := model.Usage{Input: 10, Output: 1} // 11 dollars
	b := startWith(t, []reply{
		{calls: []model.Call{call("t1", "task", `{"prompt":"count"}`)}, usage: used},
		{calls: []model.Call{call("t2", "read", "{}")}, usage: used},
		{text: "unreached", usage: used},
	}, func(o *agent.Options) { window(0)(o); o.MaxCost = 20 }, append(desk.Tools(), reader("read", says("x")))...)
	if end, _ := b.turn("how many"); end.Reason != event.StopLimit || len(b.model.requests) != 2 {
		t.Errorf("%+v after %d requests", end, len(b.model.requests))
	}
}

// A cost cap has no effect if the price is unknown, which is reported once.
func TestCapWithoutAPriceIsSaid(t *testing.T) {
	t.Parallel()
	b := startWith(t, []reply{{text: "a"}, {text: "b"}}, func(o *agent.Options) { o.MaxCost = 1 })
	said := 0
	for range 2 {
		_, events := b.turn("x")
		for _, ev := range events {
			if n, ok := ev.(event.Notice); ok && strings.Contains(n.Text, "price of script is unknown") {
				said++
			}
		}
	}
	if said != 1 {
		t.Errorf("said %d times", said)
	}
}

// A session and its first message are written together: neither a lock that can't be made
// nor a message that can't be stored leaves an empty session.
func TestSessionIsNeverWrittenWithoutItsMessage(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{{text: "unreached"}})
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	if end, _ := b.turn("x"); end.Reason != event.StopError || b.ID() != "" {
		t.Errorf("%+v, ID %q", end, b.ID())
	}
}

// Repeated denied calls count as a loop.
func TestDeniedCallsAreALoopToo(t *testing.T) {
	t.Parallel()
	var replies []reply
	for i := range 10 {
		replies = append(replies, reply{calls: []model.Call{call(fmt.Sprint(i), "write", "{}")}})
	}
	b := startWith(t, replies, func(o *agent.Options) { o.Gate, o.Headless = allowAll{ask: true}, true }, writer("write", says("never")))
	if end, _ := b.turn("go"); end.Reason != event.StopLimit || end.Steps != 6 {
		t.Errorf("ended %s after %d steps", end.Reason, end.Steps)
	}
}

// The person's settings take precedence over a role's, and stay when the role or a command's own
// model ends.
func TestChosenModelAndSettingsOutliveRoles(t *testing.T) {
	t.Parallel()
	half, low := 0.5, 0.1
	var b *bench
	choose := func(name string) func() { return func() { _ = b.SetModel(name) } }
	for name, c := range map[string]struct {
		prompt event.Prompt
		during func()
		want   string
	}{
		"nothing chosen":                     {event.Prompt{Model: "other"}, nil, "script 0.5"},
		"a model while another holds":        {event.Prompt{Model: "other"}, choose("third"), "third 0.5"},
		"nothing chosen in a role":           {event.Prompt{Role: "cool"}, nil, "script 0.5"},
		"a model while a role is lent":       {event.Prompt{Role: "cool"}, choose("third"), "third 0.5"},
		"settings, while another model acts": {event.Prompt{Model: "other"}, func() { b.Tune(agent.Tuning{Temperature: &low}) }, "script 0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			b = startWith(t, []reply{{text: "one"}, {text: "two"}}, func(o *agent.Options) {
				resolve := o.Resolve
				o.Resolve = func(n string) (agent.Model, error) {
					m, err := resolve(n)
					m.Name, m.ID = n, n
					return m, err
				}
				o.Roles = func(context.Context, agent.RoleRequest) (agent.Role, error) {
					return agent.Role{Name: "cool", Model: "rolemodel", Temperature: &low}, nil
				}
			})
			b.Tune(agent.Tuning{Temperature: &half})
			if c.during != nil {
				b.model.replies[0].act = func(context.Context) { c.during() }
			}
			p := c.prompt
			p.Text = "x"
			b.Prompt(p)
			b.turnEnd()
			b.turn("y")
			req := b.model.request(t, 1)
			if got := fmt.Sprintf("%s %v", req.Model, *req.Temperature); got != c.want {
				t.Errorf("then %s, want %s", got, c.want)
			}
		})
	}
}

// An interrupt while a summary is written, in a turn or by /compact, leaves the history unchanged;
// what was typed meanwhile is sent afterwards.
func TestInterruptDuringACompactionChangesNothing(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	wait := func(ctx context.Context) (model.Response, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return model.Response{}, ctx.Err()
	}
	long := strings.Repeat("word ", 1000)
	unchanged := func(t *testing.T, b *bench) {
		t.Helper()
		rows, err := b.store.History().All(t.Context(), b.ID())
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row.Archived != 0 || row.Role == session.RoleSummary {
				t.Errorf("row %d was archived, or is a summary", row.Seq)
			}
		}
	}
	t.Run("in a turn", func(t *testing.T) {
		b := startWith(t, []reply{{text: long}, {text: "going on"}}, window(1400))
		b.model.summary = wait
		b.turn("1")
		b.Prompt(event.Prompt{Text: "2"})
		<-begun
		b.Interrupt()
		if end, _ := b.turnEnd(); end.Reason != event.StopInterrupted {
			t.Errorf("%+v", end)
		}
		unchanged(t, b)
		b.model.summary = nil
		if end, _ := b.turn("3"); end.Text != "going on" {
			t.Errorf("%+v", end)
		}
	})
	t.Run("by the person", func(t *testing.T) {
		b := startWith(t, []reply{{text: long}, {text: "two"}, {text: "three"}}, window(100_000))
		b.model.summary = wait
		b.turn("1")
		b.turn("2")
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() { failed <- b.Compact(ctx, "") }()
		<-begun
		b.Prompt(event.Prompt{Text: "3"})
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if end, _ := b.turnEnd(); end.Text != "three" {
			t.Errorf("%+v", end)
		}
		unchanged(t, b)
		if last := b.model.requests[len(b.model.requests)-1].Messages; len(last) != 5 || last[4].Text != "3" {
			t.Errorf("%d messages went out", len(last))
		}
	})
}
