//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// lender is a program that serves tools over the line of a run.
type lender struct {
	*fed
	tools   string // what tools/list answers
	called  func(id json.RawMessage, name string, args json.RawMessage)
	cancels int
}

// lend serves a server, and returns the answer to it.
func (l *lender) lend(name, more string) fedLine {
	l.t.Helper()
	l.write(fmt.Sprintf(`{"type": "serve", "name": %q, "request": "serve"%s}`, name, more))
	return l.serveUntil("response", func(r fedLine) bool { return r.Request == "serve" })
}

// say writes a message of a server.
func (l *lender) say(server, message string) {
	l.write(fmt.Sprintf(`{"type": "mcp", "server": %q, "message": {"jsonrpc": "2.0", %s}}`, server, message))
}

func (l *lender) reply(server string, id json.RawMessage, result string) {
	l.say(server, fmt.Sprintf(`"id": %s, "result": %s`, id, result))
}

// serveUntil serves until there is a line of a type.
func (l *lender) serveUntil(kind string, fits ...func(fedLine) bool) fedLine {
	l.t.Helper()
	for {
		got := l.until("")
		if got.Type == "mcp" {
			l.serve(got)
		}
		if got.Type == kind && (len(fits) == 0 || fits[0](got)) {
			return got
		}
	}
}

func (l *lender) serve(line fedLine) {
	l.t.Helper()
	var got struct {
		Server  string
		Message struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion, Name string
				Arguments             json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(line.raw), &got); err != nil {
		l.t.Fatal(err)
	}
	switch m := got.Message; m.Method {
	case "initialize":
		l.reply(got.Server, m.ID, fmt.Sprintf(`{"protocolVersion": %q, "capabilities": {"tools": {"listChanged": true}}, "serverInfo": {"name": "test", "version": "1"}}`, m.Params.ProtocolVersion))
	case "tools/list":
		l.reply(got.Server, m.ID, `{"tools": [`+l.tools+`]}`)
	case "tools/call":
		if l.called != nil {
			l.called(m.ID, m.Params.Name, m.Params.Arguments)
		}
	case "notifications/cancelled":
		l.cancels++
	}
}

const lookup = `{"name": "lookup", "description": "looks up", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}}`

// lendTo starts a run that is lent tools.
func lendTo(c *chat, tools string, args ...string) *lender {
	return &lender{fed: c.feed(args...), tools: tools}
}

func TestAProgramLendsItsFunctions(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("c1", "mcp__app__lookup", map[string]any{"q": "bolts"})), modeltest.Calls(tool("c2", "mcp__app__lookup", map[string]any{"q": []any{map[string]any{}}})),
		modeltest.Calls(tool("c3", "mcp__app__lookup", map[string]any{"q": "nuts"})), modeltest.Calls(tool("c4", "mcp__app__peek", map[string]any{})), modeltest.Text("done"))
	l := lendTo(c, lookup+`, {"name": "peek", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}, {"name": "read", "inputSchema": {"type": "object"}}, `+
		`{"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "https://elsewhere.example/s.json"}}}}, {"name": "worse", "inputSchema": "x"}`)
	var asked []string
	l.called = func(id json.RawMessage, name string, args json.RawMessage) {
		asked = append(asked, name+string(args))
		l.reply("app", id, `{"content": [{"type": "text", "text": "there are 42"}]}`)
	}
	got := l.lend("app", `, "trusted": true`)
	if !got.OK || !strings.Contains(string(got.Result), `"mcp:app:lookup"`) || !strings.Contains(string(got.Result), `"mcp:app:read"`) || !strings.Contains(string(got.Result), `"name":"worse"`) {
		t.Errorf("%s", got.raw)
	}
	l.write(promptLine("how many?"))
	for _, option := range []string{"once", "no", "once"} { // a call whose arguments do not fit asks nothing
		q := l.serveUntil("approval_asked")
		l.write(fmt.Sprintf(`{"type": "answer", "id": %q, "option": %d}`, q.ID, optionOf(t, q, option)))
	}
	if res := l.serveUntil("result"); res.Text != "done" {
		t.Error(res.raw)
	}
	if code := l.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if want := `lookup{"q":"bolts"} peek{}`; strings.Join(asked, " ") != want {
		t.Errorf("called were %v, not %s", asked, want)
	}
	requests := c.turns(c.srv.Requests())
	first := string(requests[0].Raw)
	if !strings.Contains(first, `"mcp__app__lookup"`) || strings.Contains(first, "elsewhere.example") || strings.Count(first, `"name":"read"`) > 1 {
		t.Errorf("the tools of the request: %s", first)
	}
	if last := string(requests[len(requests)-1].Raw); !strings.Contains(last, "there are 42") || !strings.Contains(last, "argument q must be string") {
		t.Errorf("the model did not read what came of its calls: %s", last)
	}
}

// optionOf returns the place of an answer.
func optionOf(t *testing.T, q fedLine, scope string) int {
	t.Helper()
	var asked struct {
		Question struct{ Options []struct{ Scope string } }
	}
	if err := json.Unmarshal([]byte(q.raw), &asked); err != nil {
		t.Fatal(err)
	}
	for i, o := range asked.Question.Options {
		if o.Scope == scope {
			return i
		}
	}
	t.Fatalf("no option %s: %s", scope, q.raw)
	return 0
}

func TestAnInterruptCancelsACallOfTheProgramsFunction(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Calls(tool("c1", "mcp__app__lookup", map[string]any{"q": "x"})), modeltest.Text("after"))
	l := lendTo(c, lookup, "--mode", "yolo")
	l.lend("app", "")
	l.called = func(json.RawMessage, string, json.RawMessage) { l.write(`{"type": "interrupt"}`) }
	l.write(promptLine("go"))
	if res := l.serveUntil("result"); res.Error != "interrupted" || l.cancels != 1 {
		t.Errorf("%s, cancelled %d times", res.raw, l.cancels)
	}
	l.called = nil
	l.write(promptLine("and now"))
	if res := l.serveUntil("result"); res.Text != "after" {
		t.Error(res.raw)
	}
	l.end()
}

func TestCallsOfAProgramsFunctionsFailInTime(t *testing.T) {
	t.Parallel()
	call := modeltest.Calls(tool("c1", "mcp__app__lookup", map[string]any{"q": "x"}))
	c := newChat(t, call, modeltest.Text("too slow"), call, call, modeltest.Text("gone"))
	l := lendTo(c, lookup, "--mode", "yolo")
	l.lend("app", `, "timeout_seconds": 0.2`)
	l.write(promptLine("go"))
	if res := l.serveUntil("result"); res.Text != "too slow" {
		t.Error(res.raw)
	}
	if last := string(c.request(1).Raw); !strings.Contains(last, "timed out after 200ms without progress") {
		t.Errorf("the model reads nothing of the time: %s", last)
	}
	if l.cancels != 1 {
		t.Errorf("the program was told %d times that its answer is not wanted any more", l.cancels)
	}
	l.called = func(json.RawMessage, string, json.RawMessage) { _ = l.in.Close() }
	l.write(promptLine("again"))
	if res := l.serveUntil("result"); res.Text != "gone" {
		t.Error(res.raw)
	}
	for i, want := range []string{"MCP call failed: the program that serves it has ended its input", "mcp:app:lookup is not there: MCP server app is failed: the program that serves it has ended its input"} {
		if got := string(c.request(3 + i).Raw); !strings.Contains(got, want) && !strings.Contains(got, "mcp__app__lookup is not there: MCP server app is failed: the program that serves it has ended its input") {
			t.Errorf("the model does not read %q: %s", want, got)
		}
	}
}

func TestAServerOfAProgramHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Calls(tool("c1", "mcp_connect", map[string]any{"name": "app", "command": "cat"})), modeltest.Text("done"))
	if out, err := c.jcode("", "mcp", "add", "taken", "--", "cat"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l := lendTo(c, lookup, "--mode", "yolo")
	for name, want := range map[string]string{"taken": "there is a server", "a b": "invalid server name", "": "invalid server name", "a__b": "invalid server name"} {
		if r := l.lend(name, ""); r.OK || !strings.Contains(r.Error, want) {
			t.Errorf("%q: %s", name, r.raw)
		}
	}
	l.write(`{"type": "mcp", "server": "app", "message": {"jsonrpc": "2.0", "id": 1, "result": {}}, "request": "serve"}`)
	if r := l.serveUntil("response"); r.OK || r.Kind != "gone" {
		t.Errorf("a message of a server that is not served: %s", r.raw)
	}
	if r := l.lend("app", ""); !r.OK {
		t.Fatal(r.raw)
	}
	if r := l.lend("app", ""); r.OK || !strings.Contains(r.Error, "served already") {
		t.Errorf("served twice: %s", r.raw)
	}
	l.write(`{"type": "mcp", "server": "app", "message": {"id": 1}}`)
	if r := l.serveUntil("response"); r.OK || r.Kind != "invalid" {
		t.Errorf("no message: %s", r.raw)
	}
	l.tools += `, {"name": "more", "inputSchema": {"type": "object"}}`
	l.say("app", `"method": "notifications/tools/list_changed"`)
	l.serveUntil("mcp", func(m fedLine) bool { return strings.Contains(m.raw, `"tools/list"`) })
	l.write(promptLine("go"))
	l.serveUntil("result")
	if got := string(c.request(1).Raw); !strings.Contains(got, "the program that drives this run serves") {
		t.Errorf("the model took the name of the program's server: %s", got)
	}
	if got := string(c.request(1).Raw); !strings.Contains(got, `"mcp__app__more"`) {
		t.Errorf("a tool that came later is not offered: %s", got)
	}
	l.end()
}

func TestAServerThatDoesNotAnswerIsNotServed(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("without"))
	f := c.feed()
	f.write(`{"type": "serve", "name": "app", "request": "s"}`)
	f.until("mcp")
	f.write(promptLine("go"))
	code := f.end()
	all := f.transcript()
	if !strings.Contains(all, `server app: the program that serves it has ended its input`) || !strings.Contains(all, `"text":"without"`) || code != 0 {
		t.Errorf("exit code %d\n%s", code, all)
	}
	f = c.feed("--no-mcp")
	f.write(`{"type": "serve", "name": "app", "request": "s"}`)
	if r := f.until("response"); r.OK || !strings.Contains(r.Error, "--no-mcp") {
		t.Error(r.raw)
	}
	f.end()
}
