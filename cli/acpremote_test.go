//go:build linux || darwin

package cli_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"jcode/internal/testkit/modeltest"
)

// wsEditor is an editor on the other end of a WebSocket.
type wsEditor struct {
	t    *testing.T
	ctx  context.Context
	ws   *websocket.Conn
	next int
	seen []wsMessage // what came besides answers
	// allow answers questions: the kind of the option that is chosen.
	allow   string
	offered []string
}

type wsMessage struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// dialACP opens a WebSocket with a token.
func (s *served) dialACP(token string, header ...string) (*wsEditor, *http.Response, error) {
	s.t.Helper()
	h := http.Header{}
	if token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*patience)
	ws, res, err := websocket.Dial(ctx, strings.Replace(s.address, "http", "ws", 1)+"/acp", &websocket.DialOptions{HTTPHeader: h})
	if err != nil {
		cancel()
		return nil, res, err
	}
	ws.SetReadLimit(64 << 20)
	s.t.Cleanup(func() {
		_ = ws.CloseNow() // it may be closed
		cancel()
	})
	return &wsEditor{t: s.t, ctx: ctx, ws: ws}, res, nil
}

// call sends a request and returns its answer; questions in between are answered.
func (e *wsEditor) call(method string, params any) wsMessage {
	e.t.Helper()
	e.next++
	e.send(map[string]any{"jsonrpc": "2.0", "id": e.next, "method": method, "params": params})
	for {
		kind, data, err := e.ws.Read(e.ctx)
		if err != nil {
			e.t.Fatalf("%s: %v", method, err)
		}
		var m wsMessage
		if err := json.Unmarshal(data, &m); err != nil || kind != websocket.MessageText {
			e.t.Fatalf("%v %s", err, data)
		}
		switch {
		case m.Method == "session/request_permission":
			e.permit(m)
		case m.Method == "":
			return m
		default:
			e.seen = append(e.seen, m)
		}
	}
}

func (e *wsEditor) permit(m wsMessage) {
	e.t.Helper()
	var p struct {
		Options []struct{ OptionID, Kind, Name string }
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		e.t.Fatal(err)
	}
	chosen := ""
	for _, o := range p.Options {
		e.offered = append(e.offered, o.Name)
		if o.Kind == e.allow && chosen == "" {
			chosen = o.OptionID
		}
	}
	e.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": chosen}}})
}

func (e *wsEditor) send(v any) {
	e.t.Helper()
	data, err := json.MarshalIndent(v, "", "  ") // over several lines
	if err == nil {
		err = e.ws.Write(e.ctx, websocket.MessageText, data)
	}
	if err != nil {
		e.t.Fatal(err)
	}
}

// begin initializes the connection and begins a session in a folder.
func (e *wsEditor) begin(dir string) (session string) {
	e.t.Helper()
	if m := e.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{"fs": map[string]any{"readTextFile": true, "writeTextFile": true}}}); m.Error != nil {
		e.t.Fatalf("%+v", m.Error)
	}
	m := e.call("session/new", map[string]any{"cwd": dir, "mcpServers": []any{}})
	var opened struct{ SessionID string }
	if m.Error != nil || json.Unmarshal(m.Result, &opened) != nil {
		e.t.Fatalf("%+v %s", m.Error, m.Result)
	}
	return opened.SessionID
}

func (e *wsEditor) prompt(session, text string) wsMessage {
	e.t.Helper()
	return e.call("session/prompt", map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}})
}

// token makes one for a program.
func (c *chat) token(name string, args ...string) string {
	c.t.Helper()
	out, err := c.jcode("", append([]string{"serve", "token", name}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err != nil {
		c.t.Fatal(err, out)
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// used runs one session in the folder of the chat, and quits.
func (c *chat) used() {
	c.t.Helper()
	c.start()
	c.say("hi")
	c.wait("Hello.")
	c.idle()
	c.quit()
}

// TestAnEditorWorksOverAWebSocket: a session, a change that is asked about, and another window that sees it.
func TestAnEditorWorksOverAWebSocket(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello."),
		modeltest.Calls(tool("w", "write", map[string]any{"path": "made.txt", "content": "one\n"})), modeltest.Text("Written."), modeltest.Text("As it is."))
	c.used()
	s := c.serve()
	e, res, err := s.dialACP(c.token("zed"))
	if err != nil {
		t.Fatal(err)
	}
	if res.Header.Get("Acp-Connection-Id") == "" {
		t.Errorf("the connection has no name: %v", res.Header)
	}
	e.allow = "allow_once"
	session := e.begin(c.dir)
	if m := e.prompt(session, "write it"); m.Error != nil || !strings.Contains(string(m.Result), "end_turn") {
		t.Fatalf("%+v %s", m.Error, m.Result)
	}
	if c.read("made.txt") != "one\n" {
		t.Error("it is not written")
	}
	for _, name := range e.offered {
		if !strings.HasSuffix(name, "once") && !strings.Contains(name, "until I leave") && !strings.HasPrefix(name, "no") && !strings.Contains(name, "hunks") {
			t.Errorf("an answer that outlasts the session is offered: %q", name)
		}
	}
	if out, err := c.jcode("", "sessions", "ps"); err != nil || !strings.Contains(out, session[len(session)-8:]) {
		t.Errorf("other windows do not see it: %v %s", err, out)
	}
	if m := e.prompt(session, "/export /tmp/never.md"); m.Error != nil || !strings.Contains(c.last().Prompt().Content, "/export") {
		t.Errorf("a command of the chat was run: %+v", m.Error)
	}
}

// TestWhoComesOverAWebSocketIsLimited: no token, a watcher's, a foreign page, another folder, more than the owner's mode,
// servers of its own, an unfinished beginning, a frame that is too large, and a token that is revoked.
func TestWhoComesOverAWebSocketIsLimited(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello."))
	c.used()
	s := c.serve()
	token := c.token("zed")
	for name, try := range map[string]struct {
		token  string
		header []string
		code   int
	}{
		"no token": {code: http.StatusUnauthorized}, "a wrong one": {token: strings.Repeat("a", 64), code: http.StatusUnauthorized},
		"a watcher's": {token: c.token("looker", "--watch"), code: http.StatusForbidden}, "a foreign page": {token: token, header: []string{"Origin", "https://evil.example"}, code: http.StatusForbidden},
	} {
		if _, res, err := s.dialACP(try.token, try.header...); err == nil || res == nil || res.StatusCode != try.code {
			t.Errorf("%s: %v %v", name, res, err)
		}
	}
	e, _, err := s.dialACP(token)
	if err != nil {
		t.Fatal(err)
	}
	if m := e.call("session/new", map[string]any{"cwd": c.dir, "mcpServers": []any{}}); m.Error == nil || !strings.Contains(m.Error.Message, "initialize") {
		t.Errorf("before initialize: %+v", m)
	}
	session := e.begin(c.dir)
	for what, m := range map[string]wsMessage{
		"another folder":      e.call("session/new", map[string]any{"cwd": t.TempDir(), "mcpServers": []any{}}),
		"a server of its own": e.call("session/new", map[string]any{"cwd": c.dir, "mcpServers": []any{map[string]any{"name": "x", "command": "/bin/sh", "args": []any{}, "env": []any{}}}}),
		"mode yolo":           e.call("session/set_mode", map[string]any{"sessionId": session, "modeId": "yolo"}),
		"mode auto":           e.call("session/set_config_option", map[string]any{"sessionId": session, "configId": "mode", "value": "auto"}),
	} {
		if m.Error == nil {
			t.Errorf("%s: %s", what, m.Result)
		}
	}
	if m := e.call("session/set_mode", map[string]any{"sessionId": session, "modeId": "plan"}); m.Error != nil {
		t.Errorf("down to plan: %+v", m.Error)
	}
	if err := e.ws.Write(e.ctx, websocket.MessageBinary, []byte("{")); err != nil { // ignored
		t.Error(err)
	}
	if m := e.call("session/set_mode", map[string]any{"sessionId": session, "modeId": "ask"}); m.Error != nil {
		t.Errorf("back to the owner's: %+v", m.Error)
	}
	if m := e.call("session/delete", map[string]any{"sessionId": session}); m.Error == nil {
		t.Errorf("deleted: %s", m.Result)
	}
	if out, err := c.jcode("", "serve", "revoke", "zed"); err != nil {
		t.Errorf("%v %s", err, out)
	}
	if _, _, err := e.ws.Read(e.ctx); err == nil || e.ctx.Err() != nil {
		t.Errorf("after the revoke: %v", err)
	}
	if _, res, err := s.dialACP(token); err == nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a revoked token: %v", err)
	}
	e, _, err = s.dialACP(c.token("again"))
	if err != nil {
		t.Fatal(err)
	}
	_ = e.ws.Write(e.ctx, websocket.MessageText, make([]byte, 100<<20)) // it may be cut off
	for {
		if _, _, err := e.ws.Read(e.ctx); err != nil {
			if e.ctx.Err() != nil {
				t.Error("a frame of 100 MB is taken")
			}
			break
		}
	}
}
