package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Request is one HTTP request that a server saw.
type Request struct {
	Method  string // HTTP
	RPC     string // JSON-RPC, of a POST
	Header  http.Header
	Body    string
	Session string
}

// HTTPServer speaks MCP over HTTP with one fault, on a loopback address.
type HTTPServer struct {
	*httptest.Server
	mode, value string
	// Elsewhere is the target of the mode redirect-other.
	Elsewhere string

	mu       sync.Mutex
	requests []Request
	sessions map[string]bool
	next     int
	calls    map[string]int // tool → how often it ran
	done     bool           // the fault that happens once has happened
	streams  []chan string
	names    []string
	// guard answers requests before the MCP server sees them; false leaves one to it.
	guard func(w http.ResponseWriter, req *http.Request) bool
}

// NewHTTP starts a server. A mode may carry a value: `status=401`.
func NewHTTP(mode string) *HTTPServer {
	s := &HTTPServer{sessions: map[string]bool{}, calls: map[string]int{}, names: []string{"echo", "sleep", "big", "grow"}}
	s.mode, s.value, _ = strings.Cut(mode, "=")
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Endpoint returns the URL to configure.
func (s *HTTPServer) Endpoint() string { return s.URL + "/mcp" }

// Requests lists the requests in order.
func (s *HTTPServer) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count counts requests by HTTP method and, for POST, JSON-RPC method ("" = any).
func (s *HTTPServer) Count(method, rpc string) int {
	n := 0
	for _, r := range s.Requests() {
		if r.Method == method && (rpc == "" || r.RPC == rpc) {
			n++
		}
	}
	return n
}

// Ran returns how often a tool ran.
func (s *HTTPServer) Ran(tool string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[tool]
}

// Forget makes the server forget all sessions, as a restart does.
func (s *HTTPServer) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = map[string]bool{}
}

// Notify sends a notification on all open streams.
func (s *HTTPServer) Notify(method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range s.streams {
		select {
		case ch <- fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method):
		default:
		}
	}
}

// once reports whether a fault that happens once happens now.
func (s *HTTPServer) once() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.done
	s.done = true
	return first
}

func (s *HTTPServer) serve(w http.ResponseWriter, req *http.Request) {
	if s.guard != nil && s.guard(w, req) {
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	var m message
	if len(body) > 0 && json.Unmarshal(body, &m) != nil {
		http.Error(w, "parse error", http.StatusBadRequest)
		return
	}
	session := req.Header.Get("Mcp-Session-Id")
	s.mu.Lock()
	s.requests = append(s.requests, Request{req.Method, m.Method, req.Header.Clone(), string(body), session})
	s.mu.Unlock()
	if s.mode == "redirect-other" && req.URL.Path == "/mcp" {
		http.Redirect(w, req, s.Elsewhere, http.StatusTemporaryRedirect)
		return
	}
	if s.mode == "redirect-same" && req.URL.Path == "/mcp" {
		http.Redirect(w, req, "/real", http.StatusTemporaryRedirect)
		return
	}
	if s.mode == "sse2024" {
		s.serve2024(w, req, m)
		return
	}
	switch req.Method {
	case http.MethodGet:
		s.stream(w, req)
	case http.MethodDelete:
		s.mu.Lock()
		delete(s.sessions, session)
		s.mu.Unlock()
	case http.MethodPost:
		s.post(w, req, m)
	}
}

func (s *HTTPServer) stream(w http.ResponseWriter, req *http.Request) {
	switch s.mode {
	case "status":
		s.post(w, req, message{})
		return
	case "get405":
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case "get404":
		http.NotFound(w, req)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	switch s.mode {
	case "getclose":
		return
	case "getprime": // an event without data and the wait in milliseconds, as polled servers send
		fmt.Fprintf(w, "id: 7\nretry: %s\ndata:\n\n", s.value)
		return
	}
	s.hold(w, req, "")
}

// hold sends messages for the open streams until the request ends, after first. The stream is registered
// before the client sees anything of it, so nothing misses it.
func (s *HTTPServer) hold(w http.ResponseWriter, req *http.Request, first string) {
	ch := make(chan string, 100)
	s.mu.Lock()
	s.streams = append(s.streams, ch)
	s.mu.Unlock()
	fmt.Fprint(w, first)
	w.(http.Flusher).Flush()
	for {
		select {
		case text := <-ch:
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
			w.(http.Flusher).Flush()
		case <-req.Context().Done():
			return
		}
	}
}

// post answers one message, with its fault.
func (s *HTTPServer) post(w http.ResponseWriter, req *http.Request, m message) {
	switch s.mode {
	case "busy": // until the first handshake was refused
		if m.Method == "server/discover" || m.Method == "initialize" && s.once() {
			w.Header().Set("Retry-After", s.value)
			http.Error(w, "overloaded", http.StatusServiceUnavailable)
			return
		}
	case "status":
		code, err := strconv.Atoi(s.value)
		if err != nil {
			code = http.StatusInternalServerError
		}
		http.Error(w, "token expired", code)
		return
	case "html":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><body>Welcome</body></html>")
		return
	}
	switch m.Method {
	case "server/discover":
		switch s.mode {
		case "silent-discover":
			select {
			case <-req.Context().Done():
			case <-time.After(time.Minute):
			}
		case "text400-discover":
			http.Error(w, "unknown method", http.StatusBadRequest)
		default:
			s.respond(w, m.ID, "", map[string]any{"code": -32601, "message": "Method not found"})
		}
		return
	case "initialize":
		if s.mode != "stateless" {
			s.mu.Lock()
			s.next++
			id := fmt.Sprint("session-", s.next)
			s.sessions[id] = true
			s.mu.Unlock()
			w.Header().Set("Mcp-Session-Id", id)
		}
		s.respond(w, m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"http-fault","version":"1"}}`, nil)
		return
	}
	s.mu.Lock()
	known := s.mode == "stateless" || s.sessions[req.Header.Get("Mcp-Session-Id")]
	s.mu.Unlock()
	if !known {
		if s.mode == "forget400" {
			http.Error(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`, http.StatusBadRequest)
			return
		}
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	if len(m.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.answer(w, req, m)
}

// answer handles a request after the handshake.
func (s *HTTPServer) answer(w http.ResponseWriter, req *http.Request, m message) {
	switch m.Method {
	case "tools/list":
		s.respond(w, m.ID, s.toolList(), nil)
	case "tools/call":
		s.call(w, req, m)
	default:
		s.respond(w, m.ID, "", map[string]any{"code": -32601, "message": "Method not found"})
	}
}

func (s *HTTPServer) toolList() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var defs []string
	for _, name := range s.names {
		defs = append(defs, define(name, "A tool.", anySchema))
	}
	if s.mode == "xheader" {
		defs = append(defs, `{"name":"headed","description":"d","inputSchema":{"type":"object","properties":{"n":{"type":"number","x-mcp-header":"X-N"}}}}`)
	}
	return `{"tools":[` + strings.Join(defs, ",") + `]}`
}

func (s *HTTPServer) call(w http.ResponseWriter, req *http.Request, m message) {
	var p struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		s.respond(w, m.ID, "", map[string]any{"code": -32602, "message": "bad params"})
		return
	}
	if s.callFault(w, m) {
		return
	}
	s.mu.Lock()
	s.calls[p.Name]++
	s.mu.Unlock()
	text := fmt.Sprint("echo: ", p.Arguments["text"])
	switch p.Name {
	case "sleep":
		ms, _ := p.Arguments["ms"].(float64)
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
		case <-req.Context().Done():
			return
		}
		text = "slept"
	case "big":
		n, _ := p.Arguments["bytes"].(float64)
		text = strings.Repeat("x", int(n))
	case "grow":
		s.mu.Lock()
		name := fmt.Sprint("grown_", len(s.names))
		s.names = append(s.names, name)
		s.mu.Unlock()
		s.Notify("notifications/tools/list_changed")
		text = "added " + name
	}
	result, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
	if err != nil {
		return
	}
	s.respond(w, m.ID, string(result), nil)
}

func (s *HTTPServer) respond(w http.ResponseWriter, id json.RawMessage, result string, fault map[string]any) {
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	if fault != nil {
		e, err := json.Marshal(fault)
		if err != nil {
			return
		}
		text = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, id, e)
	}
	if s.mode == "sse" {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, text)
}

// peekBody reads a request's body and restores it.
func peekBody(req *http.Request) string {
	data, err := io.ReadAll(req.Body)
	if err != nil {
		return ""
	}
	req.Body = io.NopCloser(bytes.NewReader(data))
	return string(data)
}
