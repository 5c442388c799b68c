package acp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"jcode/cli"
	"jcode/cli/console"
	"jcode/internal/testkit/mcptest"
	"jcode/internal/testkit/modeltest"
)

// deadline bounds every wait of these tests; a slow machine must not break one.
const deadline = 3 * time.Minute

func TestMain(m *testing.M) {
	mcptest.Main()
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") { // jcode starts itself again
		os.Exit(cli.Main(os.Args[1:], cli.System()))
	}
	os.Exit(m.Run())
}

type object = map[string]any

// client plays an editor. It has its own reader of the protocol and checks every line that it
// receives against the protocol's schema.
type client struct {
	t    *testing.T
	home string
	dir  string
	in   io.WriteCloser
	exit chan int
	errs *lockedBuffer

	mu      sync.Mutex
	changed chan struct{}
	updates []update
	results map[string]answer
	sent    map[string]string // method by ID
	asked   []request         // of the agent, in order
	next    int
	closed  bool
	// answers settle the agent's requests by method; nil leaves them open.
	answers map[string]func(request) any
}

type update struct {
	session string
	kind    string
	body    object
}

type answer struct {
	result json.RawMessage
	err    *rpcError
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type request struct {
	ID     json.RawMessage
	Method string
	Params object
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// setup says how a client is started.
type setup struct {
	home, dir string
	script    string            // replay lines; "" uses replies
	replies   []modeltest.Reply // of a model server
	env       map[string]string // in addition
	args      []string          // flags before acp
	caps      object            // the client's capabilities
}

// start runs `jcode acp` and initializes it.
func start(t *testing.T, s setup) *client {
	t.Helper()
	c := launch(t, s)
	caps := s.caps
	if caps == nil {
		caps = object{}
	}
	c.must("initialize", object{"protocolVersion": 1, "clientCapabilities": caps}, nil)
	return c
}

func launch(t *testing.T, s setup) *client {
	t.Helper()
	if s.home == "" {
		s.home = t.TempDir()
	}
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	dir, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"JCODE_HOME": s.home, "HOME": s.home, "PATH": os.Getenv("PATH"), "SHELL": "/bin/sh"}
	args := s.args
	switch {
	case s.script != "":
		file := filepath.Join(t.TempDir(), "script.jsonl")
		write(t, file, s.script)
		args = append([]string{"-m", "replay:" + file}, args...)
	case s.replies != nil:
		srv := modeltest.New(t, s.replies...)
		env["OPENAI_API_KEY"] = "sk-test"
		args = append([]string{"--base-url", srv.URL(), "-m", "test-model"}, args...)
	}
	for k, v := range s.env {
		env[k] = v
	}
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	c := &client{
		t: t, home: s.home, dir: dir, in: stdin, exit: make(chan int, 1), errs: &lockedBuffer{},
		changed: make(chan struct{}), results: map[string]answer{}, sent: map[string]string{}, answers: map[string]func(request) any{},
	}
	go func() {
		code := cli.Main(append(args, "acp"), cli.Streams{Streams: console.Streams{In: in, Out: out, Err: c.errs, Getenv: func(k string) string { return env[k] }}})
		out.Close()
		in.CloseWithError(io.ErrClosedPipe)
		c.exit <- code
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.read(stdout)
	}()
	t.Cleanup(func() {
		c.end()
		<-done
	})
	return c
}

// end closes the input and waits for the agent to exit.
func (c *client) end() int {
	c.mu.Lock()
	closed := c.closed
	c.closed = true
	c.mu.Unlock()
	if closed {
		return 0
	}
	c.in.Close()
	select {
	case code := <-c.exit:
		return code
	case <-time.After(deadline):
		c.t.Error("the agent did not end when its input did")
		return -1
	}
}

func (c *client) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.message(line)
		}
		if err != nil {
			return
		}
	}
}

func (c *client) message(line []byte) {
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   *rpcError       `json:"error"`
	}
	if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" {
		c.t.Errorf("stdout has a line that is no message of the protocol: %q (%v)", line, err)
		return
	}
	c.mu.Lock()
	defer func() {
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
	}()
	switch {
	case m.Method == "session/update":
		conforms(c.t, "SessionNotification", m.Params)
		var p struct {
			SessionID string `json:"sessionId"`
			Update    object `json:"update"`
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			c.t.Error(err)
		}
		kind, _ := p.Update["sessionUpdate"].(string)
		c.updates = append(c.updates, update{p.SessionID, kind, p.Update})
	case m.Method == "$/cancel_request":
		c.asked = append(c.asked, request{Method: m.Method})
	case m.Method != "":
		schema := map[string]string{
			"session/request_permission": "RequestPermissionRequest", "fs/read_text_file": "ReadTextFileRequest",
			"fs/write_text_file": "WriteTextFileRequest", "elicitation/create": "CreateElicitationRequest",
		}[m.Method]
		conforms(c.t, schema, m.Params)
		r := request{ID: m.ID, Method: m.Method}
		if err := json.Unmarshal(m.Params, &r.Params); err != nil {
			c.t.Error(err)
		}
		c.asked = append(c.asked, r)
		if f := c.answers[m.Method]; f != nil {
			go func() {
				if result := f(r); result != nil {
					c.answer(r, result)
				}
			}()
		}
	default:
		id := string(m.ID)
		if m.Error == nil {
			if schema := responses[c.sent[id]]; schema != "" {
				conforms(c.t, schema, m.Result)
			}
		} else if m.Error.Message == "" {
			c.t.Errorf("an error without a sentence: %s", line)
		}
		if c.sent[id] == "session/new" || c.sent[id] == "session/fork" {
			c.notEarlier(m.Result)
		}
		c.results[id] = answer{m.Result, m.Error}
	}
}

// notEarlier checks that nothing was said about a new session before its answer: a client knows none by that ID.
func (c *client) notEarlier(result json.RawMessage) {
	var opened struct{ SessionID string }
	if json.Unmarshal(result, &opened) != nil {
		return // an error
	}
	for _, u := range c.updates {
		if u.session == opened.SessionID {
			c.t.Errorf("%s of session %s came before the session's answer", u.kind, u.session)
		}
	}
}

var responses = map[string]string{
	"initialize": "InitializeResponse", "authenticate": "AuthenticateResponse", "session/new": "NewSessionResponse", "session/fork": "ForkSessionResponse",
	"session/load": "LoadSessionResponse", "session/resume": "ResumeSessionResponse", "session/list": "ListSessionsResponse",
	"session/close": "CloseSessionResponse", "session/prompt": "PromptResponse", "session/set_mode": "SetSessionModeResponse",
	"session/set_config_option": "SetSessionConfigOptionResponse",
}

// write sends a raw line.
func (c *client) write(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed { // an answer may come too late
			c.t.Errorf("the agent's input is closed: %v", err)
		}
	}
}

func (c *client) send(v any) {
	c.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(string(raw))
}

func (c *client) answer(r request, result any) {
	c.send(object{"jsonrpc": "2.0", "id": r.ID, "result": result})
}

// begin sends a request and returns its ID.
func (c *client) begin(method string, params any) string {
	c.t.Helper()
	c.mu.Lock()
	c.next++
	id := fmt.Sprint(c.next)
	c.sent[id] = method
	c.mu.Unlock()
	c.send(object{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	return id
}

// wait waits until cond holds, which is called with the lock held.
func (c *client) wait(what string, cond func() bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	for {
		c.mu.Lock()
		ok, changed := cond(), c.changed
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			c.mu.Lock()
			defer c.mu.Unlock()
			c.t.Fatalf("waited in vain for %s; updates: %v; stderr: %s", what, c.updates, c.errs)
		}
	}
}

// finish waits for the answer to a request.
func (c *client) finish(id string) answer {
	c.t.Helper()
	c.wait("the answer to request "+id, func() bool { _, ok := c.results[id]; return ok })
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.results[id]
}

// must sends a request that must succeed.
func (c *client) must(method string, params, result any) {
	c.t.Helper()
	a := c.finish(c.begin(method, params))
	if a.err != nil {
		c.t.Fatalf("%s: %+v; stderr: %s", method, *a.err, c.errs)
	}
	if result != nil {
		if err := json.Unmarshal(a.result, result); err != nil {
			c.t.Fatal(err)
		}
	}
}

// open begins a session in the client's folder.
func (c *client) open(more ...object) string {
	c.t.Helper()
	params := object{"cwd": c.dir, "mcpServers": []any{}}
	for _, m := range more {
		for k, v := range m {
			params[k] = v
		}
	}
	var out struct{ SessionID string }
	c.must("session/new", params, &out)
	if out.SessionID == "" {
		c.t.Fatal("session/new gave no ID")
	}
	return out.SessionID
}

func text(s string) object { return object{"type": "text", "text": s} }

// prompt begins a prompt and returns the request's ID.
func (c *client) prompt(session string, blocks ...object) string {
	c.t.Helper()
	return c.begin("session/prompt", object{"sessionId": session, "prompt": blocks})
}

// stop waits for a prompt to end and returns its stop reason.
func (c *client) stop(id string) string {
	c.t.Helper()
	a := c.finish(id)
	if a.err != nil {
		c.t.Fatalf("prompt: %+v", *a.err)
	}
	var out struct{ StopReason string }
	if err := json.Unmarshal(a.result, &out); err != nil {
		c.t.Fatal(err)
	}
	return out.StopReason
}

// of returns the updates of some kinds that a session has received so far.
func (c *client) of(session string, kinds ...string) []object {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []object
	for _, u := range c.updates {
		for _, k := range kinds {
			if u.session == session && u.kind == k {
				out = append(out, u.body)
			}
		}
	}
	return out
}

// said joins the text of a session's chunks of one kind.
func (c *client) said(session, kind string) string {
	var b strings.Builder
	for _, u := range c.of(session, kind) {
		content, _ := u["content"].(object)
		s, _ := content["text"].(string)
		b.WriteString(s)
	}
	return b.String()
}

// choose answers permission requests with the first option of a kind.
func choose(kind string) func(request) any {
	return func(r request) any {
		options, _ := r.Params["options"].([]any)
		for _, o := range options {
			if o, ok := o.(object); ok && o["kind"] == kind {
				return object{"outcome": object{"outcome": "selected", "optionId": o["optionId"]}}
			}
		}
		return object{"outcome": object{"outcome": "cancelled"}}
	}
}

func (c *client) on(method string, f func(request) any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[method] = f
}

// requests returns the agent's requests of one method.
func (c *client) requests(method string) []request {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []request
	for _, r := range c.asked {
		if r.Method == method {
			out = append(out, r)
		}
	}
	return out
}

// waitAsked waits for the n-th request of a method.
func (c *client) waitAsked(method string, n int) request {
	c.t.Helper()
	c.wait(method, func() bool {
		seen := 0
		for _, r := range c.asked {
			if r.Method == method {
				seen++
			}
		}
		return seen >= n
	})
	return c.requests(method)[n-1]
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(raw)
}

// schemas returns the protocol's schemas, from the SDK's module.
var schemas = sync.OnceValues(func() (map[string]*jsonschema.Resolved, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/coder/acp-go-sdk").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "schema", "schema.unstable.json"))
	if err != nil {
		return nil, err
	}
	var root struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &root); err != nil {
		return nil, err
	}
	out := map[string]*jsonschema.Resolved{}
	for _, name := range []string{
		"SessionNotification", "RequestPermissionRequest", "ReadTextFileRequest", "WriteTextFileRequest", "CreateElicitationRequest",
		"InitializeResponse", "AuthenticateResponse", "NewSessionResponse", "LoadSessionResponse", "ResumeSessionResponse", "ForkSessionResponse",
		"ListSessionsResponse", "CloseSessionResponse", "PromptResponse", "SetSessionModeResponse", "SetSessionConfigOptionResponse",
	} {
		whole, err := json.Marshal(object{"$ref": "#/$defs/" + name, "$defs": root.Defs})
		if err != nil {
			return nil, err
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(whole, &schema); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if out[name], err = schema.Resolve(nil); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
})

// conforms checks a value against a definition of the protocol's schema.
func conforms(t *testing.T, name string, raw json.RawMessage) {
	t.Helper()
	all, err := schemas()
	if err != nil {
		t.Errorf("the protocol's schema cannot be read: %v", err)
		return
	}
	schema := all[name]
	if schema == nil {
		t.Errorf("there is no definition %q for %s", name, raw)
		return
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%s does not conform: %v\n%s", name, err, raw)
	}
}
