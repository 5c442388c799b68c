package acp_test

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/mcptest"
	"jcode/internal/testkit/modeltest"
)

func TestBadInputIsAnsweredAndTheNextMessageIsRead(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: writeScript})
	s := c.open()
	long := strings.Repeat("x", 65<<20)
	raw := map[string]int{ // errors without an ID, by line
		`junk`:                       -32700,
		`{"jsonrpc":"2.0","id":`:     -32700,
		`{"jsonrpc":"2.0"} trailing`: -32700,
		`[]`:                         -32600,
		`"text"`:                     -32600,
		`{}`:                         -32600,
		`{"jsonrpc":"2.0","id":{},"method":"session/list"}`:      -32600,
		`{"jsonrpc":"2.0","method":"x","params":"` + long + `"}`: -32600,
	}
	for line, code := range raw {
		c.mu.Lock()
		delete(c.results, "null")
		c.mu.Unlock()
		c.write(line)
		if a := c.finish("null"); a.err == nil || a.err.Code != code {
			t.Errorf("%.60s: %+v, want %d", line, a, code)
		}
	}
	for id, line := range map[string]string{ // of a request that is too long, wherever it is
		"901":     `{"jsonrpc":"2.0","id":901,"method":"session/prompt","params":{"id":1,"prompt":"` + long + `"}}`,
		`"later"`: `{"method":"session/prompt","params":{"prompt":["` + long + `"]},"jsonrpc":"2.0","id":"later"}`,
	} {
		c.write(line)
		if a := c.finish(id); a.err == nil || a.err.Code != -32600 || !strings.Contains(a.err.Message, "64 MiB") {
			t.Errorf("%.60s: %+v", line, a)
		}
	}
	requests := []struct {
		method string
		params any
		code   int
		says   string
	}{
		{"no/such", object{}, -32601, "no/such"},
		{"session/fork", object{"sessionId": s}, -32602, "cwd"},
		{"session/fork", object{"sessionId": "unknown", "cwd": c.dir}, -32002, "no session"},
		{"session/new", object{"cwd": "relative", "mcpServers": []any{}}, -32602, "absolute"},
		{"session/new", object{"mcpServers": []any{}}, -32602, ""},
		{"session/new", object{"cwd": filepath.Join(c.dir, "missing"), "mcpServers": []any{}}, 0, "missing"},
		{"session/new", object{"cwd": c.dir, "mcpServers": []any{object{"type": "pigeon", "name": "x", "url": "http://127.0.0.1:1", "headers": []any{}}}}, -32602, "stdio, http or sse"},
		{"session/load", object{"sessionId": "unknown", "cwd": c.dir, "mcpServers": []any{}}, -32002, "no session"},
		{"session/load", object{"sessionId": s, "cwd": c.dir, "mcpServers": []any{}}, -32602, "open already"},
		{"session/prompt", object{"sessionId": "unknown", "prompt": []any{text("x")}}, -32602, "session/new"},
		{"session/prompt", object{"sessionId": s, "prompt": []any{}}, -32602, "empty"},
		{"session/prompt", object{"sessionId": s, "prompt": []any{object{"type": "image", "data": "!", "mimeType": "image/png"}}}, -32602, "base64"},
		{"session/prompt", object{"sessionId": s, "prompt": "text"}, -32602, ""},
		{"session/prompt", []any{}, -32602, ""},
		{"session/close", object{"sessionId": "unknown"}, -32602, "no session"},
		{"session/list", object{"cursor": "nonsense"}, -32602, "cursor"},
		{"session/set_mode", object{"sessionId": s, "modeId": "reckless"}, -32602, "reckless"},
	}
	for _, r := range requests {
		a := c.finish(c.begin(r.method, r.params))
		if a.err == nil || r.code != 0 && a.err.Code != r.code || !strings.Contains(a.err.Message, r.says) {
			t.Errorf("%s %v: %+v, want %d with %q", r.method, r.params, a.err, r.code, r.says)
		}
	}
	c.on("session/request_permission", choose("allow_once"))
	if got := c.stop(c.prompt(s, text("go"))); got != "end_turn" {
		t.Errorf("afterwards a prompt ended with %q", got)
	}
}

func TestNothingComesBeforeInitialize(t *testing.T) {
	t.Parallel()
	c := launch(t, setup{script: writeScript})
	if a := c.finish(c.begin("session/new", object{"cwd": c.dir, "mcpServers": []any{}})); a.err == nil || !strings.Contains(a.err.Message, "initialize") {
		t.Errorf("answer %+v", a)
	}
}

func TestWithoutAModelTheErrorSaysWhatToSet(t *testing.T) {
	t.Parallel()
	c := start(t, setup{caps: object{"auth": object{"terminal": true}}})
	a := c.finish(c.begin("session/new", object{"cwd": c.dir, "mcpServers": []any{}}))
	if a.err == nil || a.err.Code != -32000 || !strings.Contains(a.err.Message, "OPENAI_API_KEY") {
		t.Errorf("answer %+v", a)
	}
	if a := c.finish(c.begin("authenticate", object{"methodId": "setup"})); a.err == nil || a.err.Code != -32000 {
		t.Errorf("authenticate without a key: %+v", a)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if got := string(c.results["1"].result); !strings.Contains(got, `"type":"terminal"`) {
		t.Errorf("no way to set a model up is offered: %s", got)
	}
}

func TestContentOfEveryKindReachesTheModel(t *testing.T) {
	t.Parallel()
	pixel := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	var got modeltest.Request
	c := start(t, setup{replies: []modeltest.Reply{modeltest.Func(func(r modeltest.Request) modeltest.Reply {
		if r.Index == 0 { // the next request asks for a title
			got = r
		}
		return modeltest.Text("seen")
	}).Times(2)}})
	write(t, filepath.Join(c.dir, "linked.txt"), "x")
	s := c.open()
	id := c.prompt(s, text("look at "),
		object{"type": "resource_link", "name": "linked.txt", "uri": "file://" + filepath.Join(c.dir, "linked.txt")},
		object{"type": "resource", "resource": object{"uri": "file:///buffer.go", "text": "package unsaved"}},
		object{"type": "resource", "resource": object{"uri": "file:///b.bin", "blob": base64.StdEncoding.EncodeToString([]byte{1, 2, 3})}},
		object{"type": "image", "data": pixel, "mimeType": "image/png"})
	if stop := c.stop(id); stop != "end_turn" {
		t.Fatalf("stop reason %q", stop)
	}
	body := string(got.Raw)
	for _, want := range []string{"look at @linked.txt", "package unsaved", "/buffer.go", "binary content", pixel[:40]} {
		if !strings.Contains(body, want) {
			t.Errorf("the model did not get %q", want)
		}
	}
	// Attachments are not part of what the person typed.
	c.end()
	again := start(t, setup{script: writeScript, home: c.home, dir: c.dir})
	again.must("session/load", object{"sessionId": s, "cwd": c.dir, "mcpServers": []any{}}, nil)
	if shown := again.said(s, "user_message_chunk"); shown != "look at @linked.txt" {
		t.Errorf("replayed prompt %q", shown)
	}
}

func TestSlashCommandsAreListedRunAndReloaded(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, filepath.Join(home, "commands", "greet.md"), "---\ndescription: says hello\n---\nSay hello to $ARGUMENTS")
	c := start(t, setup{home: home, script: `{"text":"hello"}
{"text":"again"}
`})
	s := c.open()
	c.wait("the list of commands", func() bool { return has(c.updates, "available_commands_update") })
	if got := flat(c.of(s, "available_commands_update")); !strings.Contains(got, `"greet"`) || !strings.Contains(got, `"undo"`) {
		t.Errorf("commands %s", got)
	}
	if got := c.stop(c.prompt(s, text("/greet the captain"))); got != "end_turn" || c.said(s, "agent_message_chunk") != "hello" {
		t.Errorf("%q, said %q", got, c.said(s, "agent_message_chunk"))
	}
	write(t, filepath.Join(home, "commands", "later.md"), "---\ndescription: came later\n---\nx")
	if got := c.stop(c.prompt(s, text("/reload-skills"))); got != "end_turn" {
		t.Errorf("a command that needs no model ended with %q", got)
	}
	c.stop(c.prompt(s, text("next")))
	if got := flat(c.of(s, "available_commands_update")); !strings.Contains(got, `"later"`) {
		t.Errorf("the new command was not told: %s", got)
	}
}

func TestQuestionsGoThroughAFormOrChoicesOrAreDeclined(t *testing.T) {
	t.Parallel()
	ask := func(args string) string {
		return `{"tool_calls":[{"name":"ask","arguments":` + args + `}]}
{"text":"ok","expect":{"tool_result_contains":"` + "%s" + `"}}
`
	}
	form := object{"elicitation": object{"form": object{}}}
	for name, test := range map[string]struct {
		caps     object
		args     string
		answer   any
		expected string
	}{
		"form":     {caps: form, args: `{"question":"Which?"}`, answer: object{"action": "accept", "content": object{"answer": "the red one"}}, expected: "the red one"},
		"declined": {caps: form, args: `{"question":"Which?"}`, answer: object{"action": "decline"}, expected: "declined"},
		"choices":  {args: `{"question":"Which?","options":["red","blue"]}`, expected: "red"},
		"neither":  {args: `{"question":"Which?"}`, expected: "cannot ask"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, setup{caps: test.caps, script: strings.Replace(ask(test.args), "%s", test.expected, 1)})
			c.on("elicitation/create", func(request) any { return test.answer })
			c.on("session/request_permission", choose("allow_once"))
			if got := c.stop(c.prompt(c.open(), text("go"))); got != "end_turn" {
				t.Errorf("stop reason %q", got)
			}
		})
	}
}

func TestClientsMCPServerIsAskedForAndItsToolsAreThere(t *testing.T) {
	t.Parallel()
	server := mcptest.Server("ok")
	env := []any{}
	for name, value := range server.Env {
		env = append(env, object{"name": name, "value": value})
	}
	c := start(t, setup{script: `{"tool_calls":[{"name":"mcp:tool:echo","arguments":{"text":"over here"}}]}
{"text":"ok","expect":{"tool_result_contains":"over here"}}
`})
	c.on("session/request_permission", choose("allow_once"))
	s := c.open(object{"mcpServers": []any{object{"name": "tool", "command": server.Path, "args": server.Args, "env": env}}})
	first := c.waitAsked("session/request_permission", 1)
	if got := flat(first.Params); !strings.Contains(got, filepath.Base(server.Path)) {
		t.Errorf("the question does not name the program: %s", got)
	}
	c.wait("the server", func() bool {
		for _, u := range c.updates {
			if strings.Contains(flat(u.body), "server tool is connected") {
				return true
			}
		}
		return false
	})
	if got := c.stop(c.prompt(s, text("go"))); got != "end_turn" {
		t.Errorf("stop reason %q", got)
	}
}

func TestProjectIsTrustedByAQuestionAndStaysInertWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	server := mcptest.Server("ok")
	dir := t.TempDir()
	entry, err := json.Marshal(object{"mcpServers": object{"theirs": object{"command": server.Path, "args": server.Args, "env": server.Env}}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".mcp.json"), string(entry))
	c := start(t, setup{dir: dir, script: `{"text":"hi"}` + "\n"})
	s := c.open()
	asked := c.waitAsked("session/request_permission", 1)
	if got := flat(asked.Params); !strings.Contains(got, "theirs") || !strings.Contains(got, "Trust ") {
		t.Errorf("question %s", got)
	}
	if got := c.stop(c.prompt(s, text("go"))); got != "end_turn" {
		t.Errorf("an open question holds prompts up: %q", got)
	}
	c.answer(asked, object{"outcome": object{"outcome": "selected", "optionId": "0"}})
	c.wait("the answer's echo", func() bool {
		for _, u := range c.updates {
			if strings.Contains(flat(u.body), "is trusted") {
				return true
			}
		}
		return false
	})
}
