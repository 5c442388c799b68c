package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/tools"
)

// said runs a server over all of its input at once and returns the answers: ID and either the text of the result or the
// error's message.
func said(t *testing.T, names []string, lines ...string) []string {
	t.Helper()
	reg := tools.NewRegistry()
	slow := func(ctx context.Context, call tools.Call) (tools.Result, error) {
		if call.Progress != nil {
			call.Progress(tools.Progress{Output: "building\nhalf done\n"})
		}
		select {
		case <-time.After(300 * time.Millisecond): // longer than the input lasts
		case <-ctx.Done():
		}
		return tools.Result{Text: "ran " + call.Name}, ctx.Err()
	}
	for _, name := range []string{"read", "grep", "glob", "ls", "agent", "task", "todo", "ask"} {
		if err := reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, plainTool{tools.Spec{Name: name, Description: "d", ReadOnly: true, Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}, slow}); err != nil {
			t.Fatal(err)
		}
	}
	head := []string{`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`}
	var out bytes.Buffer
	in := strings.NewReader(strings.Join(append(head, lines...), "\n") + "\n")
	if err := Run(t.Context(), Options{Dispatcher: &tools.Dispatcher{Registry: reg, Gate: askingGate{}}, Tools: names, Mode: tools.ModeAsk, Version: "test", In: in, Out: &out}); err != nil {
		t.Error(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID     any
			Method string
			Params struct{ Message string }
			Error  struct{ Message string }
			Result struct {
				Content []struct{ Text string }
				Tools   []struct{ Name string }
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		text := m.Error.Message
		for _, c := range m.Result.Content {
			text += c.Text
		}
		for _, tool := range m.Result.Tools {
			text += tool.Name + " "
		}
		switch {
		case m.Method == "notifications/progress":
			got = append(got, "progress: "+m.Params.Message)
		case m.ID != "i" && m.Method == "":
			got = append(got, fmt.Sprint(m.ID, ": ", text))
		}
	}
	slices.Sort(got)
	return got
}

const callOfRead = `"method":"tools/call","params":{"name":"read","arguments":{}}}`

// What was asked before the end of the input is answered, alone and in a batch.
func TestWhatWasAskedBeforeTheInputEndedIsAnswered(t *testing.T) {
	t.Parallel()
	got := said(t, nil, `{"jsonrpc":"2.0","id":1,`+callOfRead, `[{"jsonrpc":"2.0","id":2,`+callOfRead+`,{"jsonrpc":"2.0","id":3,"method":"ping"}]`)
	if want := []string{"1: ran read", "2: ran read", "3: "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An empty batch, and a request whose ID is in use, are refused and disturb nothing.
func TestEmptyBatchAndAnIDInUseAreRefused(t *testing.T) {
	t.Parallel()
	got := said(t, nil, `{"jsonrpc":"2.0","id":1,`+callOfRead, `[]`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	want := []string{
		"1: ran read", "2: ", "<nil>: Invalid Request: a request with the ID 1 is not answered yet: every request needs an ID of its own",
		"<nil>: Invalid Request: an empty batch",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressShowsTheLastLineOfACommand(t *testing.T) {
	t.Parallel()
	got := said(t, nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{},"_meta":{"progressToken":"p"}}}`)
	if !slices.Contains(got, "progress: half done") {
		t.Errorf("got %q", got)
	}
}

// Tools that work for a conversation are not offered, however they are named.
func TestToolsOfConversationsAreNotServed(t *testing.T) {
	t.Parallel()
	if got := said(t, []string{"*"}, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !slices.Equal(got, []string{"1: glob grep ls read "}) {
		t.Errorf("offered %q", got)
	}
	err := Run(t.Context(), Options{Dispatcher: &tools.Dispatcher{Registry: tools.NewRegistry()}, Tools: []string{"task"}, In: strings.NewReader(""), Out: &bytes.Buffer{}})
	if err == nil || !strings.Contains(err.Error(), "works for a conversation") {
		t.Error(err)
	}
}
