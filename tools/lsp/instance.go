package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/proc"
	"jcode/internal/text"
)

// State says what an instance of a server does.
type State string

// The states of an instance.
const (
	StateStarting State = "starting"
	StateReady    State = "ready"
	StateFailed   State = "failed"
	StateOff      State = "off"
)

const (
	startLimit  = 30 * time.Second       // until a server has introduced itself
	stopGrace   = 500 * time.Millisecond // between asking a server to end and ending it
	maxLastWord = 4 << 10                // bytes of standard error that are kept
	maxOpen     = 100                    // documents that a server has open
)

// instance is one running server for one root.
type instance struct {
	server Server
	root   string
	owner  *Manager

	proc   *proc.Process
	conn   *conn
	pipes  []*os.File
	caps   capabilities
	ready  chan struct{} // closed when it is initialized, or has failed
	gone   chan struct{} // closed when its process has ended and was reaped
	stderr lastWords

	syncing sync.Mutex // versions are sent in order

	mu       sync.Mutex
	state    State
	err      error
	stopping bool
	docs     map[string]*document
	reports  map[string]*report // what it reported, by path
	told     map[string]counts  // what of it is known to the model
	news     chan struct{}      // closed and replaced when something is reported
	busy     map[string]bool    // progress that goes on, by token
	worked   bool               // some progress was reported
	used     time.Time
	started  time.Time
	encoding string // of positions
	watches  int    // registrations of watched files
	silences int    // changes in a row that it did not answer
	overdue  bool   // a change has waited for its start in vain
}

// document is a file that the server has open.
type document struct {
	version int
	content string
	touched time.Time
	stamp   stamp
}

// stamp tells whether a file was changed by somebody else.
type stamp struct {
	size int64
	time time.Time
}

// report is what a server said last of a file.
type report struct {
	items []diagnostic
	// version is the document's that it speaks of; -1 where the server doesn't say.
	version int
	at      time.Time
}

// lastWords keeps the end of a standard error.
type lastWords struct {
	mu  sync.Mutex
	buf []byte
}

func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p...)
	if over := len(l.buf) - maxLastWord; over > 0 {
		l.buf = append(l.buf[:0], l.buf[over:]...)
	}
	return len(p), nil
}

func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(text.Clean(string(l.buf)))
}

// launch starts the server's process and its connection. It returns at once; ready is closed
// when the server can be asked.
func (m *Manager) launch(s Server, root string, program []string, confined bool) (*instance, error) {
	in := &instance{
		server: s, root: root, owner: m, ready: make(chan struct{}), gone: make(chan struct{}), state: StateStarting,
		docs: map[string]*document{}, reports: map[string]*report{}, told: map[string]counts{}, news: make(chan struct{}), busy: map[string]bool{},
		used: time.Now(), started: time.Now(), encoding: "utf-16",
	}
	var ends [6]*os.File
	for i := 0; i < len(ends); i += 2 {
		r, w, err := os.Pipe()
		if err != nil {
			closeFiles(ends[:])
			return nil, fmt.Errorf("start %s: %w", s.Name, err)
		}
		ends[i], ends[i+1] = r, w
	}
	spec := proc.Spec{Argv: program, Dir: root, Env: m.environment(s), Stdin: ends[0], Stdout: ends[3], Stderr: ends[5]}
	if confined {
		var err error
		if spec, err = m.opts.Confine(spec); err != nil {
			closeFiles(ends[:])
			return nil, fmt.Errorf("start %s: %w", s.Name, err)
		}
	}
	p, err := m.launcher().Start(spec)
	closeFiles([]*os.File{ends[0], ends[3], ends[5]})
	if err != nil {
		closeFiles([]*os.File{ends[1], ends[2], ends[4]})
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	in.proc, in.pipes = p, []*os.File{ends[1], ends[2], ends[4]}
	m.work.Go(func() {
		buf := make([]byte, 4<<10)
		for {
			n, err := ends[4].Read(buf)
			_, _ = in.stderr.Write(buf[:n]) // it never fails
			if err != nil {
				return
			}
		}
	})
	in.conn = newConn(ends[2], ends[1], in.handle)
	m.work.Go(in.watch)
	m.work.Go(in.initialize)
	return in, nil
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // pipe ends: nothing is lost
		}
	}
}

// watch waits for the end of the connection or of the process, and clears up after it.
func (in *instance) watch() {
	select {
	case <-in.proc.Done():
	case <-in.conn.done:
	}
	// A server whose connection has ended is of no use, and one whose process has ended may
	// have left children.
	err := in.proc.Stop(context.Background(), stopGrace)
	<-in.proc.Done()
	in.conn.fail(errClosed)
	closeFiles(in.pipes)
	<-in.conn.done
	in.mu.Lock()
	stopping := in.stopping
	if in.state != StateOff {
		in.state = StateFailed
	}
	if in.err == nil && !stopping {
		in.err = errors.Join(endOf(in.proc.Exit()), err)
	}
	in.tell()
	in.mu.Unlock()
	close(in.gone)
	if !stopping {
		in.owner.died(in)
	}
}

func endOf(e proc.Exit) error {
	if e.Signal != "" {
		return fmt.Errorf("it was ended by %s", e.Signal)
	}
	return fmt.Errorf("it ended with exit code %d", e.Code)
}

// tell wakes who waits for news. The caller holds the lock.
func (in *instance) tell() {
	close(in.news)
	in.news = make(chan struct{})
}

// initialize introduces jcode to the server.
func (in *instance) initialize() {
	defer close(in.ready)
	ctx, cancel := context.WithTimeout(in.owner.life, startLimit)
	defer cancel()
	var result struct {
		Capabilities capabilities `json:"capabilities"`
	}
	err := in.conn.call(ctx, "initialize", in.introduction(), &result)
	if err == nil {
		err = in.conn.notify(ctx, "initialized", struct{}{})
	}
	if err == nil && in.server.Settings != nil {
		err = in.conn.notify(ctx, "workspace/didChangeConfiguration", map[string]any{"settings": in.server.Settings})
	}
	in.mu.Lock()
	if err == nil {
		in.caps, in.state = result.Capabilities, StateReady
		if result.Capabilities.PositionEncoding == "utf-8" {
			in.encoding = "utf-8"
		}
	} else if in.err == nil && !in.stopping {
		in.state, in.err = StateFailed, fmt.Errorf("it did not introduce itself: %w", err)
	}
	in.tell()
	in.mu.Unlock()
	if err != nil {
		_ = in.proc.Stop(context.Background(), stopGrace) // watch sees to what is left
	}
}

// introduction is what jcode says of itself.
func (in *instance) introduction() map[string]any {
	uri := uriOf(in.root)
	symbols := map[string]any{"hierarchicalDocumentSymbolSupport": true}
	return map[string]any{
		"processId":        os.Getpid(),
		"clientInfo":       map[string]any{"name": "jcode", "version": in.owner.opts.Version},
		"rootUri":          uri,
		"rootPath":         in.root,
		"workspaceFolders": []any{map[string]any{"uri": uri, "name": "workspace"}},
		// What is not said here is not done.
		"initializationOptions": in.server.Settings,
		"capabilities": map[string]any{
			"general": map[string]any{"positionEncodings": []string{"utf-16", "utf-8"}},
			"window":  map[string]any{"workDoneProgress": true},
			"workspace": map[string]any{
				"configuration": true, "workspaceFolders": true, "applyEdit": false,
				"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true},
				"symbol":                map[string]any{},
				"workspaceEdit":         map[string]any{"documentChanges": true},
			},
			"textDocument": map[string]any{
				"synchronization":    map[string]any{"didSave": true},
				"publishDiagnostics": map[string]any{"versionSupport": true},
				"diagnostic":         map[string]any{"relatedDocumentSupport": true},
				"definition":         map[string]any{"linkSupport": true},
				"references":         map[string]any{},
				"hover":              map[string]any{"contentFormat": []string{"plaintext", "markdown"}},
				"documentSymbol":     symbols,
				"rename":             map[string]any{},
				"codeAction": map[string]any{
					"codeActionLiteralSupport": map[string]any{"codeActionKind": map[string]any{"valueSet": []string{"quickfix", "refactor", "source"}}},
					"dataSupport":              true,
					"resolveSupport":           map[string]any{"properties": []string{"edit"}},
				},
			},
		},
	}
}

// handle answers what the server asks and takes what it tells.
func (in *instance) handle(method string, params json.RawMessage) (any, *wireError) {
	switch method {
	case "textDocument/publishDiagnostics":
		in.published(params)
	case "$/progress":
		in.progress(params)
	case "window/workDoneProgress/create", "client/unregisterCapability", "workspace/diagnostic/refresh",
		"workspace/semanticTokens/refresh", "workspace/inlayHint/refresh", "workspace/codeLens/refresh", "workspace/foldingRange/refresh":
		if method == "workspace/diagnostic/refresh" {
			in.mu.Lock()
			in.tell()
			in.mu.Unlock()
		}
	case "client/registerCapability":
		in.registered(params)
	case "workspace/configuration":
		return in.configuration(params), nil
	case "workspace/workspaceFolders":
		return []any{map[string]any{"uri": uriOf(in.root), "name": "workspace"}}, nil
	case "workspace/applyEdit":
		return map[string]any{"applied": false, "failureReason": "jcode changes files only where a person approved it"}, nil
	case "window/showMessageRequest":
		return nil, nil
	case "window/showMessage", "window/logMessage":
		in.logged(method, params)
	default:
		if strings.HasPrefix(method, "$/") || strings.HasPrefix(method, "telemetry/") {
			return nil, nil
		}
		return nil, &wireError{Code: codeMethodNotFound, Message: "unknown method " + method}
	}
	return nil, nil
}

// logged keeps what the server says beside its standard error.
func (in *instance) logged(method string, params json.RawMessage) {
	var p struct {
		Type    int    `json:"type"`
		Message string `json:"message"`
	}
	if json.Unmarshal(params, &p) == nil && (p.Type <= severityWarning || method == "window/showMessage") {
		_, _ = fmt.Fprintf(&in.stderr, "%s\n", text.Cut(p.Message, 1000)) // it never fails
	}
}

// configuration answers each item with the part of the settings that its section names.
func (in *instance) configuration(params json.RawMessage) []any {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	if json.Unmarshal(params, &p) != nil {
		return []any{}
	}
	out := make([]any, len(p.Items))
	for i, item := range p.Items {
		if item.Section == in.server.Name {
			out[i] = in.server.Settings
			continue
		}
		at := in.server.Settings
		for part := range strings.SplitSeq(item.Section, ".") {
			if object, ok := at.(map[string]any); ok && item.Section != "" {
				at = object[part]
			} else if item.Section != "" {
				at = nil
			}
		}
		out[i] = at
	}
	return out
}

// registered counts the registrations of watched files.
func (in *instance) registered(params json.RawMessage) {
	var p struct {
		Registrations []struct {
			Method  string          `json:"method"`
			Options json.RawMessage `json:"registerOptions"`
		} `json:"registrations"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, r := range p.Registrations {
		switch r.Method {
		case "workspace/didChangeWatchedFiles":
			in.watches++
		case "textDocument/diagnostic":
			in.caps.DocumentDiagnostic = json.RawMessage("true")
		case "textDocument/rename":
			in.caps.Rename = json.RawMessage("true")
		case "textDocument/codeAction":
			in.caps.CodeAction = json.RawMessage("true")
		}
	}
	in.tell()
}

// progress notes work that goes on, such as the loading of packages.
func (in *instance) progress(params json.RawMessage) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind string `json:"kind"`
		} `json:"value"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	switch p.Value.Kind {
	case "begin":
		if in.worked = true; len(in.busy) < 100 {
			in.busy[string(p.Token)] = true
		}
	case "end":
		delete(in.busy, string(p.Token))
		in.tell()
	}
}

// loading reports whether the server still reads the project.
func (in *instance) loading() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.state == StateStarting || len(in.busy) > 0
}

// end asks the server to end and ends it.
func (in *instance) end() {
	in.mu.Lock()
	in.stopping = true
	if in.state != StateFailed {
		in.state = StateOff
	}
	was := in.err == nil
	in.mu.Unlock()
	if was {
		ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
		defer cancel()
		if in.conn.call(ctx, "shutdown", nil, nil) == nil {
			_ = in.conn.notify(ctx, "exit", nil) // else it is ended in a moment
		}
	}
	_ = in.proc.Stop(context.Background(), stopGrace) // watch sees to what is left
}

// failure says why the instance can't be asked.
func (in *instance) failure() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err == nil {
		return errClosed
	}
	return in.err
}

// usable waits until the server can be asked.
func (in *instance) usable(ctx context.Context) error {
	select {
	case <-in.ready:
	case <-ctx.Done():
		return fmt.Errorf("%s is still starting: try again in a moment", in.server.Name)
	}
	in.mu.Lock()
	state := in.state
	in.used = time.Now()
	in.mu.Unlock()
	if state != StateReady {
		return fmt.Errorf("%s can't be asked: %w%s", in.server.Name, in.failure(), in.said())
	}
	return nil
}

// said are the server's last words, for an error.
func (in *instance) said() string {
	words := in.stderr.String()
	if words == "" {
		return ""
	}
	lines := strings.Split(words, "\n")
	return "; it said: " + text.Cut(strings.Join(lines[max(0, len(lines)-3):], " / "), 500)
}

// openPaths lists the open documents, sorted.
func (in *instance) openPaths() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	out := make([]string, 0, len(in.docs))
	for path := range in.docs {
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}
