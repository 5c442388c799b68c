package replay_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/chat"
	"jcode/agent/model/provider"
	"jcode/agent/model/replay"
	"jcode/internal/testkit/modeltest"
)

func script(t *testing.T, lines string, opt replay.Options) *replay.Client {
	t.Helper()
	r, err := replay.New(strings.NewReader(lines), "tour.jsonl", opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func offer(names ...string) (out []model.Tool) {
	for _, n := range names {
		out = append(out, model.Tool{Name: n})
	}
	return out
}

func TestReplayPlaysTurnByTurn(t *testing.T) {
	p := script(t, "\xef\xbb\xbf# a tour\n"+`{"text":"Let me  look.\n","reasoning":"hm","tool_calls":[{"name":"mcp:git:log","arguments":{"n":1}},{"name":"read"},{"name":"raed","arguments":"{\"path"}]}`+"\n\n"+
		`{"text":"漢字 done","expect":{"tool_result_contains":"second","tools_include":["read","mcp:git:log"]}}`, replay.Options{})
	req := ask("go")
	req.Tools = offer("read", "mcp__git__log")
	for _, purpose := range []model.Purpose{model.PurposeTitle, model.PurposeSummary} {
		side := req
		side.Purpose = purpose
		if _, _, err := stream(t, p, side); err != nil || p.Left() != 2 {
			t.Errorf("%s: %v, %d left", purpose, err, p.Left())
		}
	}
	resp, s, err := stream(t, p, req)
	if err != nil || resp.Text != "Let me  look.\n" || s.text.String() != resp.Text || resp.Reasoning != "hm" || resp.Finish != "tool_calls" || !resp.Usage.Estimated {
		t.Errorf("%+v %v", resp, err)
	}
	want := []string{"mcp__git__log", "read", "raed"}
	args := []string{`{"n":1}`, `{}`, `{"path`}
	ids := map[string]bool{}
	for i, c := range resp.Calls {
		if c.Name != want[i] || c.Arguments != args[i] || ids[c.ID] || c.Incomplete {
			t.Errorf("call %d: %+v", i, c)
		}
		ids[c.ID] = true
	}
	req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Calls: resp.Calls},
		model.Message{Role: model.RoleTool, CallID: "a", Text: "the first"}, model.Message{Role: model.RoleTool, CallID: "b", Text: "the second"})
	if resp, _, err = stream(t, p, req); err != nil || resp.Text != "漢字 done" || resp.Finish != "stop" || p.Left() != 0 {
		t.Errorf("%+v %v", resp, err)
	}
	if _, _, err := stream(t, p, req); classOf(t, err).Class != model.ClassReplay {
		t.Error(err)
	}
}

func TestReplayExpectationsFailClearly(t *testing.T) {
	for line, want := range map[string]string{
		`{"expect":{"tool_result_contains":["ok","PASS"]}}`: `tour.jsonl:1: expected a tool result that contains "PASS", but it is "ok then"`,
		`{"expect":{"tools_include":"weather"}}`:            `expected the tool "weather" on offer; there are read, grep`,
	} {
		req := ask("x")
		req.Tools = offer("read", "grep")
		req.Messages = append(req.Messages, model.Message{Role: model.RoleTool, Text: "ok then"})
		_, _, err := stream(t, script(t, line, replay.Options{}), req)
		if e := classOf(t, err); e.Class != model.ClassReplay || !strings.Contains(e.Text, want) {
			t.Errorf("%v", err)
		}
	}
	if _, _, err := stream(t, script(t, `{"expect":{"tool_result_contains":"x"}}`, replay.Options{}), ask("x")); !strings.Contains(err.Error(), "there is none") {
		t.Error(err)
	}
}

func TestReplayUsesTheRegistrysNames(t *testing.T) {
	p := script(t, `{"tool_calls":[{"name":"mcp:s:long"}],"expect":{"tools_include":"mcp:s:long"}}`, replay.Options{
		Wire: func(c string) (string, bool) { return "mcp__s__lo_1f2e", c == "mcp:s:long" },
	})
	req := ask("x")
	req.Tools = offer("mcp__s__lo_1f2e")
	if resp, _, err := stream(t, p, req); err != nil || resp.Calls[0].Name != "mcp__s__lo_1f2e" {
		t.Errorf("%+v %v", resp, err)
	}
}

func TestBadScriptsNameTheLine(t *testing.T) {
	for lines, want := range map[string]string{
		"{}\n{\"txt\":1}":                   ":2: ",
		"{}\n\n{\"text\":":                  ":3: ",
		`{} {}`:                             "a line of its own",
		`[]`:                                ":1: ",
		`{"tool_calls":[{"arguments":{}}]}`: "tool_calls[0] has no name",
		`{"expect":{"tools_include":7}}`:    "string or a list",
	} {
		if _, err := replay.New(strings.NewReader(lines), "x.jsonl", replay.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", lines, err)
		}
	}
	if _, err := replay.Open(filepath.Join(t.TempDir(), "none"), replay.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestReplayStopsWhenCancelled(t *testing.T) {
	p := script(t, `{"text":"one two three"}`, replay.Options{Pace: time.Hour})
	ctx, cancel := context.WithCancel(context.Background())
	resp, err := p.Stream(ctx, ask("x"), func(model.Event) { cancel() })
	if !errors.Is(err, context.Canceled) || resp.Text != "one " {
		t.Errorf("%+v %v", resp, err)
	}
}

func TestRecordingCanBePlayed(t *testing.T) {
	srv := modeltest.New(t,
		modeltest.Text("a \"quoted\" 漢").WithReasoning("r").WithCalls(modeltest.Call{Name: "mcp__s__t", Args: `{"x": 1}`}, modeltest.Call{Name: "read", Args: `{"cut`}),
		modeltest.Text("title"), modeltest.Error(401, "", "no"), modeltest.Text("end"), modeltest.Text("late"))
	path := filepath.Join(t.TempDir(), "rec.jsonl")
	rec, err := replay.NewRecorder(path, func(w string) string {
		if w == "mcp__s__t" {
			return "mcp:s:t"
		}
		return w
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := chat.New(provider.Config{Name: "test", BaseURL: srv.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c := rec.Wrap(client)
	title := ask("x")
	title.Purpose = model.PurposeTitle
	for _, req := range []model.Request{ask("x"), title, ask("x"), ask("x")} {
		stream(t, c, req)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("%v %v", info.Mode(), err)
	}
	p, err := replay.Open(path, replay.Options{})
	if err != nil || p.Left() != 2 {
		t.Fatalf("%v, %d turns", err, p.Left())
	}
	resp, _, err := stream(t, p, ask("x"))
	if err != nil || resp.Text != "a \"quoted\" 漢" || resp.Reasoning != "r" || resp.Calls[0].Name != "mcp__s__t" || resp.Calls[0].Arguments != `{"x":1}` || resp.Calls[1].Arguments != `{"cut` {
		t.Errorf("%+v %v", resp, err)
	}
	if _, err := replay.NewRecorder(filepath.Join(path, "no"), nil); err == nil {
		t.Error("a file as folder was accepted")
	}
	if _, s, err := stream(t, c, ask("x")); err == nil && len(s.notes) != 1 {
		t.Errorf("a closed recording is not said: %v", s.notes)
	}
}
