package agent_test

import (
	"strings"
	"testing"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/internal/testkit/modeltest"
	"jcode/tools"
)

const summaryMark = "Summarise this conversation"

// summaries returns the requests for a summary.
func summaries(all []modeltest.Request) (out []modeltest.Request) {
	for _, r := range all {
		if strings.Contains(string(r.Raw), summaryMark) {
			out = append(out, r)
		}
	}
	return out
}

func TestSummaryIsAskedAtTheEndOfTheSameRequest(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, id string) {
		read := reader("read", says(strings.Repeat("A line of a file.\n", 1650))) // about 7,425 tokens
		step := func(arg string) modeltest.Reply {
			return modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"` + arg + `"}`}).WithReasoning("hm").NoUsage()
		}
		b, srv := polyglot(t, id, []tools.Tool{read}, window(60_000), step("a"), step("b"), step("c"), step("d"), step("e"), step("f"), step("g"),
			modeltest.Text("## Goal\nsix files").WithReasoning("what was it"), modeltest.Text("done"))
		end, events := b.turn("read seven files")
		if end.Text != "done" || count[event.Compacted](events) != 1 {
			t.Fatalf("%+v", end)
		}
		all := srv.Requests()
		asked := summaries(all)
		if len(asked) != 1 {
			t.Fatalf("%d requests for a summary", len(asked))
		}
		r := asked[0]
		shared, size := modeltest.Prefix(all[:r.Index], r)
		last, lastSize := modeltest.Prefix(all[:r.Index], all[r.Index-1])
		if shared < lastSize || last != lastSize || size-shared > 40_000 {
			t.Errorf("%d of %d bytes are as in the request before, which has %d", shared, size, lastSize)
		}
		if len(r.ToolNames()) != 1 {
			t.Errorf("tools: %v", r.ToolNames())
		}
		said := string(r.Raw)
		for _, section := range []string{"## Goal", "## State", "## Files", "## What failed", "## Next step"} {
			if !strings.Contains(said, section) {
				t.Errorf("no %s in the question", section)
			}
		}
		after := string(all[r.Index+1].Raw)
		if strings.Count(after, "A line of a file.") < 1650 || !strings.Contains(after, "six files") || strings.Contains(after, summaryMark) {
			t.Errorf("after it: %.3000s", after)
		}
	})
}

func TestSummaryIsAskedAsOneTextWhereItHasNoRoomAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		window int
		first  []modeltest.Reply
		want   int
	}{
		"a small window":           {8_000, nil, 1},
		"refused as too long":      {40_000, []modeltest.Reply{modeltest.ContextOverflow()}, 2},
		"a call in place of words": {40_000, []modeltest.Reply{modeltest.Calls(modeltest.Call{Name: "read", Args: `{}`})}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			read := reader("read", says(strings.Repeat("A line of a file.\n", c.window*80/100/18)))
			var replies []modeltest.Reply
			for _, file := range []string{"a", "b", "c", "d"} {
				replies = append(replies, modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"` + file + `"}`}).NoUsage())
			}
			replies = append(replies, c.first...)
			b, srv := polyglot(t, "test-model", []tools.Tool{read}, func(o *agent.Options) { window(c.window)(o); o.CompactAt = 0.75 }, append(replies, modeltest.Text("SUMMARY"), modeltest.Text("done"))...)
			if end, events := b.turn("go"); end.Text != "done" || count[event.Compacted](events) != 1 {
				t.Fatalf("%+v", end)
			}
			asked := summaries(srv.Requests())
			if len(asked) != c.want || len(asked[len(asked)-1].Tools) != 0 {
				t.Errorf("%d requests for a summary", len(asked))
			}
		})
	}
}
