package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model/chat"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/modeltest"
	"jcode/tools"
)

// These tests drive the whole loop against the scripted server over real HTTP. Its
// validator looks at every request, so each of them is also a test of valid histories.

// dial is a conversation with the scripted server.
func dial(t *testing.T, list []tools.Tool, replies ...modeltest.Reply) (*bench, *modeltest.Server) {
	t.Helper()
	srv := modeltest.New(t, replies...)
	client, err := chat.New(provider.Config{
		Name: "test", BaseURL: srv.URL(),
		Limits: provider.Limits{Attempts: 3, Backoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond, Idle: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return startWith(t, nil, func(o *agent.Options) {
		o.Resolve = func(string) (agent.Model, error) {
			return agent.Model{Name: "test", ID: "test-model", Client: client, Untitled: true, Sees: true}, nil
		}
	}, list...), srv
}

// counted is a tool that counts its runs and returns its arguments.
func counted(name, params string, runs *atomic.Int32) tools.Tool {
	return tool{
		spec: tools.Spec{Name: name, Parameters: json.RawMessage(params), ReadOnly: true, Trusted: true},
		run: func(_ context.Context, c tools.Call) (tools.Result, error) {
			runs.Add(1)
			return tools.Result{Text: "ran with " + string(c.Arguments)}, nil
		},
	}
}

const readParams = `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"},"edits":{"type":"array","items":{"type":"object"}}}}`

// tells returns the text of the result for a call in the last request.
func tells(t *testing.T, srv *modeltest.Server, id string) string {
	t.Helper()
	reqs := srv.Requests()
	m, ok := reqs[len(reqs)-1].Result(id)
	if !ok {
		t.Fatalf("there is no result for %s in %s", id, reqs[len(reqs)-1].Raw)
	}
	return m.Content
}

func TestMissingArgumentsAreAnEmptyObject(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	b, srv := dial(t, []tools.Tool{counted("ls", `{"type":"object","properties":{}}`, &runs)},
		modeltest.Chunks(
			modeltest.DeltaChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"ls","arguments":""}},{"index":1,"id":"b","function":{"name":"ls","arguments":null}},{"index":2,"id":"c","function":{"name":"ls"}}]}`),
			modeltest.FinishChunk("tool_calls")),
		modeltest.Text("done"))
	if end, _ := b.turn("go"); end.Text != "done" || runs.Load() != 3 {
		t.Errorf("%+v after %d runs", end, runs.Load())
	}
	for _, id := range []string{"a", "b", "c"} {
		if got := tells(t, srv, id); got != "ran with {}" {
			t.Errorf("%s: %q", id, got)
		}
	}
}

func TestMalformedArgumentsAreAnsweredAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	b, srv := dial(t, []tools.Tool{counted("read", readParams, &runs)},
		modeltest.Calls(modeltest.Call{ID: "cut", Name: "read", Args: `{"path": "a`}, modeltest.Call{ID: "list", Name: "read", Args: `[1]`}, modeltest.Call{ID: "word", Name: "read", Args: `read it`}),
		modeltest.Text("sorry"), modeltest.Text("still here"))
	if end, _ := b.turn("go"); end.Text != "sorry" || runs.Load() != 0 {
		t.Fatalf("%+v after %d runs", end, runs.Load())
	}
	for _, id := range []string{"cut", "list", "word"} {
		if got := tells(t, srv, id); !strings.Contains(got, `"path"`) {
			t.Errorf("the result for %s does not show the schema: %q", id, got)
		}
	}
	if end, _ := b.turn("again"); end.Text != "still here" {
		t.Errorf("%+v", end)
	}
}

func TestSchemaDecidesWhatArgumentsMean(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	b, srv := dial(t, []tools.Tool{counted("read", readParams, &runs)},
		modeltest.Calls(modeltest.Call{ID: "n", Name: "read", Args: `{"limit":"20"}`}, modeltest.Call{ID: "l", Name: "read", Args: `{"edits":"[{\"a\":1}]"}`},
			modeltest.Call{ID: "o", Name: "read", Args: `{"path":{"a":1}}`}),
		modeltest.Text("done"))
	b.turn("go")
	if got := tells(t, srv, "n"); got != `ran with {"limit":20}` {
		t.Error(got)
	}
	if got := tells(t, srv, "l"); got != `ran with {"edits":[{"a":1}]}` {
		t.Error(got)
	}
	if got := tells(t, srv, "o"); !strings.Contains(got, "path") || runs.Load() != 2 {
		t.Error(got)
	}
}

func TestCutAnswersAreTriedAgainAndNeverRun(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	read := counted("read", readParams, &runs)
	call := modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"a long path"}`}).WithText("let me see").ArgPieces(5)
	t.Run("for ever", func(t *testing.T) {
		b, srv := dial(t, []tools.Tool{read}, call.EndAfter(4).Times(3), modeltest.Text("on"))
		end, _ := b.turn("go")
		if end.Reason != event.StopError || runs.Load() != 0 || len(srv.Requests()) != 3 {
			t.Fatalf("%+v, %d runs, %d requests", end, runs.Load(), len(srv.Requests()))
		}
		if end, _ := b.turn("again"); end.Text != "on" {
			t.Errorf("%+v", end)
		}
		reqs := srv.Requests()
		if kept := reqs[3].Messages; !slices.ContainsFunc(kept, func(m modeltest.Message) bool { return m.Content == "let me see" && len(m.Calls) == 0 }) {
			t.Errorf("the text that had arrived is lost: %s", reqs[3].Raw)
		}
	})
	t.Run("once", func(t *testing.T) {
		b, _ := dial(t, []tools.Tool{read}, call.CutAfter(4), call, modeltest.Text("done"))
		if end, _ := b.turn("go"); end.Text != "done" || runs.Load() != 1 {
			t.Errorf("%+v after %d runs", end, runs.Load())
		}
	})
}

func TestReasoningGoesBackWhereItIsWanted(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	wanted := func(r modeltest.Request) string {
		for _, m := range r.Messages {
			if m.Role == "assistant" && m.Reasoning != "I should look" {
				return "Missing `reasoning_content` field in the assistant message"
			}
		}
		return ""
	}
	b, srv := dial(t, []tools.Tool{counted("read", readParams, &runs)},
		modeltest.Calls(modeltest.Call{Name: "read", Args: `{}`}).WithReasoning("I should ", "look"),
		modeltest.RefuseIf(wanted, modeltest.Text("done")).Forever())
	end, events := b.turn("go")
	if end.Text != "done" || len(srv.Requests()) != 3 {
		t.Errorf("%+v after %d requests", end, len(srv.Requests()))
	}
	for _, ev := range events {
		if d, ok := ev.(event.TextDelta); ok && strings.Contains(d.Text, "look") {
			t.Error("reasoning is shown as the answer")
		}
	}
}

func TestOverflowIsCompactedOnce(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long result\n", 2000)
	read := reader("read", says(long))
	calls := func() modeltest.Reply { return modeltest.Calls(modeltest.Call{Name: "read", Args: `{}`}) }
	tooLong := func(limit int, otherwise modeltest.Reply) modeltest.Reply {
		return modeltest.Func(func(r modeltest.Request) modeltest.Reply {
			if len(r.Raw) > limit {
				return modeltest.ContextOverflow()
			}
			return otherwise
		})
	}
	t.Run("and goes on", func(t *testing.T) {
		b, srv := dial(t, []tools.Tool{read}, calls(), modeltest.Text("one"), calls(), modeltest.Text("two"), calls(), tooLong(60_000, modeltest.Text("made it")).Forever())
		b.turn("1")
		b.turn("2")
		if end, _ := b.turn("3"); end.Text != "made it" && end.Reason != event.StopDone {
			t.Errorf("%+v after %d requests", end, len(srv.Requests()))
		}
	})
	t.Run("never twice", func(t *testing.T) {
		b, srv := dial(t, []tools.Tool{read}, calls(), modeltest.Text("one"), modeltest.ContextOverflow().Forever())
		b.turn("1")
		before := len(srv.Requests())
		end, _ := b.turn("2")
		reqs := srv.Requests()[before:]
		if end.Reason != event.StopError || len(reqs) > 4 {
			t.Fatalf("%+v after %d requests", end, len(reqs))
		}
		for i := 1; i < len(reqs); i++ {
			if string(reqs[i].Raw) == string(reqs[i-1].Raw) {
				t.Error("a doomed request was sent twice")
			}
		}
	})
	t.Run("a 429 that speaks of tokens is no overflow", func(t *testing.T) {
		b, srv := dial(t, []tools.Tool{read}, modeltest.Error(429, "tokens", "too many tokens: maximum context length"), modeltest.Text("ok"))
		if end, _ := b.turn("1"); end.Text != "ok" || len(srv.Requests()) != 2 {
			t.Errorf("%+v", end)
		}
	})
}

func TestInterruptBetweenCallsLeavesAValidRequest(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	slow := writer("slow", func(ctx context.Context, _ tools.Call) (tools.Result, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	})
	b, srv := dial(t, []tools.Tool{slow},
		modeltest.Calls(modeltest.Call{ID: "a", Name: "slow", Args: `{"n":1}`}, modeltest.Call{ID: "b", Name: "slow", Args: `{"n":2}`}),
		modeltest.Text("fine"))
	b.Prompt(event.Prompt{Text: "go"})
	<-begun
	b.Interrupt()
	b.turnEnd()
	if end, _ := b.turn("and now"); end.Text != "fine" {
		t.Fatalf("%+v", end)
	}
	if a, c := tells(t, srv, "a"), tells(t, srv, "b"); !strings.Contains(a, "interrupted") || !strings.Contains(c, "not run") {
		t.Errorf("%q, %q", a, c)
	}
}

func TestInterruptAtEveryChunkLeavesAValidRequest(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	reply := modeltest.Text("some ", "text").WithReasoning("hm").WithCalls(modeltest.Call{Name: "read", Args: `{"path":"a"}`}, modeltest.Call{Name: "read", Args: `{"path":"b"}`}).ArgPieces(4)
	for n := range 12 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b, srv := dial(t, []tools.Tool{counted("read", readParams, &runs)}, reply.SilenceAfter(n), modeltest.Text("fine"))
			b.Prompt(event.Prompt{Text: "go"})
			if _, ok := srv.Wait(1, time.Minute); !ok {
				t.Fatal("no request came")
			}
			b.Interrupt()
			b.turnEnd()
			if end, _ := b.turn("and now"); end.Text != "fine" || runs.Load() != 0 {
				t.Errorf("%+v", end)
			}
		})
	}
}

func TestInterruptEndsTheWaitForARetry(t *testing.T) {
	t.Parallel()
	b, _ := dial(t, nil, modeltest.Status(429, map[string][]string{"Retry-After": {"300"}}, ""), modeltest.Text("fine"))
	b.Prompt(event.Prompt{Text: "go"})
	b.until(func(ev event.Event) bool { r, ok := ev.(event.Retrying); return ok && r.Wait >= 300*time.Second })
	b.Interrupt()
	b.turnEnd()
	if end, _ := b.turn("again"); end.Text != "fine" {
		t.Errorf("%+v", end)
	}
}

func TestUnknownToolIsAnsweredWithWhatExists(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	names := []string{"raed", "a name with blanks", strings.Repeat("x", 200), "", "mcp__gone__tool"}
	var calls []modeltest.Call
	for i, n := range names {
		calls = append(calls, modeltest.Call{ID: fmt.Sprint("c", i), Name: n, Args: `{}`})
	}
	b, srv := dial(t, []tools.Tool{counted("read", readParams, &runs)}, modeltest.Calls(calls...), modeltest.Text("ok"), modeltest.Text("on"))
	if end, _ := b.turn("go"); end.Text != "ok" || runs.Load() != 0 {
		t.Fatalf("%+v", end)
	}
	for i := range names {
		if got := tells(t, srv, fmt.Sprint("c", i)); !strings.Contains(got, "read") {
			t.Errorf("%q: %q", names[i], got)
		}
	}
	if end, _ := b.turn("again"); end.Text != "on" {
		t.Errorf("%+v", end)
	}
}

func TestEmptyMessagesAreNeverSent(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	b, _ := dial(t, []tools.Tool{counted("read", readParams, &runs)},
		modeltest.Text(""), modeltest.Text("", " \n").WithCalls(modeltest.Call{Name: "read", Args: `{}`}), modeltest.Text("ok"), modeltest.Text("\n\n"), modeltest.Text("end"))
	for _, p := range []string{"1", "2", "3", "4"} {
		b.turn(p)
	}
}

func TestAnswerIDsMayRepeatFromTurnToTurn(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	same := modeltest.Calls(modeltest.Call{ID: "call_0", Name: "read", Args: `{"path":"a"}`}, modeltest.Call{ID: "call_0", Name: "read", Args: `{"path":"b"}`})
	b, _ := dial(t, []tools.Tool{counted("read", readParams, &runs)}, same, same, modeltest.Text("ok"))
	if end, _ := b.turn("go"); end.Text != "ok" || runs.Load() != 4 {
		t.Errorf("%+v after %d runs", end, runs.Load())
	}
}

func TestUnknownWindowIsAskedForOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	found := make(chan struct{})
	b := startWith(t, nil, func(o *agent.Options) {
		o.Resolve = func(string) (agent.Model, error) {
			return agent.Model{Name: "m", ID: "m", Client: &script{replies: []reply{{text: "a"}, {text: "b"}}}, Untitled: true, FindWindow: func(context.Context) int {
				asked.Add(1)
				close(found)
				return 4321
			}}, nil
		}
	})
	b.turn("1")
	<-found
	b.turn("2")
	eventually.True(t, "the window is known", func() bool { return b.Window() == 4321 }, func() string { return fmt.Sprint(b.Window()) })
	if asked.Load() != 1 {
		t.Errorf("%d questions", asked.Load())
	}
}
