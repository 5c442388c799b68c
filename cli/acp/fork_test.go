package acp_test

import (
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/mcptest"
)

// A fork is a session of its own that knows what was said, also one of a session that is open, and in another folder. The
// original stays as it is.
func TestForkedSessionGoesOnByItself(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: `{"text":"first answer"}
{"text":"second answer"}
`})
	s := c.open()
	c.stop(c.prompt(s, text("first question")))
	elsewhere := t.TempDir()
	if real, err := filepath.EvalSymlinks(elsewhere); err == nil {
		elsewhere = real
	}
	var forked struct {
		SessionID     string
		ConfigOptions []object
	}
	c.must("session/fork", object{"sessionId": s, "cwd": elsewhere, "mcpServers": []any{}}, &forked)
	if forked.SessionID == "" || forked.SessionID == s || len(forked.ConfigOptions) == 0 {
		t.Fatalf("%+v", forked)
	}
	c.stop(c.prompt(forked.SessionID, text("second question")))
	c.end()

	again := start(t, setup{script: `{"text":"x"}` + "\n", home: c.home, dir: c.dir})
	for id, want := range map[string]string{s: "first question", forked.SessionID: "first questionsecond question"} {
		again.must("session/load", object{"sessionId": id, "cwd": again.dir, "mcpServers": []any{}}, nil)
		if got := again.said(id, "user_message_chunk"); got != want {
			t.Errorf("%s: %q", id, got)
		}
	}
	for dir, id := range map[string]string{c.dir: s, elsewhere: forked.SessionID} {
		var list struct {
			Sessions []struct{ SessionID, Cwd string }
		}
		again.must("session/list", object{"cwd": dir}, &list)
		if len(list.Sessions) != 1 || list.Sessions[0].SessionID != id || list.Sessions[0].Cwd != dir {
			t.Errorf("%s: %+v", dir, list)
		}
	}
}

// A session that never had a prompt is not stored, and can be opened again all the same: an editor knows it.
func TestSessionWithoutAPromptCanBeOpenedAgain(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: `{"text":"hello"}` + "\n"})
	s, dropped := c.open(), c.open()
	c.must("session/delete", object{"sessionId": dropped}, nil)
	c.end()
	for _, method := range []string{"session/load", "session/resume", "session/fork"} {
		again := start(t, setup{script: `{"text":"hello"}` + "\n", home: c.home, dir: c.dir})
		var list struct{ Sessions []object }
		again.must("session/list", object{}, &list)
		if len(list.Sessions) != 0 {
			t.Errorf("it is listed: %v", list)
		}
		var forked struct{ SessionID string }
		again.must(method, object{"sessionId": s, "cwd": c.dir, "mcpServers": []any{}}, &forked)
		if method == "session/fork" {
			if forked.SessionID == s || again.stop(again.prompt(forked.SessionID, text("hi"))) != "end_turn" {
				t.Errorf("%+v", forked)
			}
		}
		if a := again.finish(again.begin("session/load", object{"sessionId": dropped, "cwd": c.dir, "mcpServers": []any{}})); a.err == nil || a.err.Code != -32002 {
			t.Errorf("a deleted session: %+v", a)
		}
		again.end()
	}
	again := start(t, setup{script: `{"text":"hello"}` + "\n", home: c.home, dir: c.dir})
	params := object{"sessionId": s, "cwd": c.dir, "mcpServers": []any{}}
	again.must("session/load", params, nil)
	again.stop(again.prompt(s, text("at last")))
	again.must("session/close", object{"sessionId": s}, nil)
	again.must("session/load", params, nil)
	if got := again.said(s, "user_message_chunk"); got != "at last" {
		t.Errorf("%q", got)
	}
	again.must("session/delete", object{"sessionId": s}, nil)
	if a := again.finish(again.begin("session/load", params)); a.err == nil || a.err.Code != -32002 {
		t.Errorf("a deleted session: %+v", a)
	}
}

// A server of the editor over the transport of 2024 is connected like the others.
func TestServerOfTheEditorOverSSE(t *testing.T) {
	t.Parallel()
	server := mcptest.NewHTTP("sse2024")
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	c := start(t, setup{script: `{"tool_calls":[{"name":"mcp:old:echo","arguments":{"text":"over here"}}]}
{"text":"ok","expect":{"tool_result_contains":"over here"}}
`})
	c.on("session/request_permission", choose("allow_once"))
	s := c.open(object{"mcpServers": []any{object{"type": "sse", "name": "old", "url": server.Endpoint(), "headers": []any{}}}})
	c.wait("the server", func() bool {
		for _, u := range c.updates {
			if strings.Contains(flat(u.body), "server old is connected") {
				return true
			}
		}
		return false
	})
	if got := c.stop(c.prompt(s, text("go"))); got != "end_turn" {
		t.Errorf("stop reason %q", got)
	}
}

// An answer of the editor that is too long fails what waits for it, instead of leaving it waiting.
func TestAnswerThatIsTooLongFailsWhatWaitsForIt(t *testing.T) {
	t.Parallel()
	c := start(t, setup{caps: editorFiles, script: `{"tool_calls":[{"name":"read","arguments":{"path":"a.txt"}}]}
{"text":"done","expect":{"tool_result_contains":"64 MiB"}}
`})
	write(t, filepath.Join(c.dir, "a.txt"), "one\n")
	c.on("fs/read_text_file", func(request) any { return object{"content": strings.Repeat("x", 65<<20)} })
	if got := c.stop(c.prompt(c.open(), text("go"))); got != "end_turn" {
		t.Errorf("stop reason %q", got)
	}
}
