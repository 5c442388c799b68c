package mcptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// message is any JSON-RPC message.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// tool is one tool of a fault server.
type tool struct {
	name string
	def  string // the whole definition as JSON
	run  func(s *server, c call)
}

// call is one running `tools/call`.
type call struct {
	id    json.RawMessage
	tool  string
	args  map[string]any
	token json.RawMessage
	end   <-chan struct{} // closed by notifications/cancelled
}

// server is one run of the fault server.
type server struct {
	mode, value string
	log         *eventLog
	in          *bufio.Reader

	outMu sync.Mutex
	out   *bufio.Writer

	// What a mode changes.
	tools        []tool
	capabilities map[string]any
	version      string
	instructions string
	frame        func([]byte) []byte             // dresses an outgoing frame; nil = plain line
	intercept    func(s *server, m message) bool // handles a message itself
	onEOF        func(s *server)                 // nil = end
	pageSize     int

	mu      sync.Mutex
	cancels map[string]chan struct{}
	answers []string // the client's answers to our requests
	waiting map[string]chan message
	calls   int
	nextID  int
}

// Run runs the fault server; args[0] is the mode. It returns the exit code.
func Run(args []string) int {
	if len(args) == 0 {
		args = []string{"ok"}
	}
	mode, value, _ := strings.Cut(args[0], "=")
	if value == "" && len(args) > 1 {
		value = args[1]
	}
	s := &server{
		mode: mode, value: value, log: openLog(),
		in: bufio.NewReaderSize(os.Stdin, 64<<10), out: bufio.NewWriterSize(os.Stdout, 64<<10),
		tools:        baseTools(),
		capabilities: map[string]any{"tools": map[string]any{}},
		cancels:      map[string]chan struct{}{}, waiting: map[string]chan message{},
	}
	s.log.add("start", "", nil)
	setup, ok := modes()[mode]
	if !ok {
		fmt.Fprintf(os.Stderr, "unknown mode %q\n", mode)
		return 64
	}
	setup(s)
	s.serve()
	s.log.add("eof", "", nil)
	if s.onEOF != nil {
		s.onEOF(s)
	}
	return 0
}

func (s *server) serve() {
	for {
		line, err := s.in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			s.receive(line)
		}
		if err != nil {
			return
		}
	}
}

func (s *server) receive(line []byte) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		fmt.Fprintf(os.Stderr, "bad line from the client: %v\n", err)
		return
	}
	s.log.add("receive", m.Method, bytes.TrimSpace(line))
	if s.intercept != nil && s.intercept(s, m) {
		return
	}
	s.handle(m)
}

func (s *server) handle(m message) {
	switch m.Method {
	case "initialize":
		s.reply(m.ID, s.initializeResult(m.Params))
	case "tools/list":
		s.listTools(m)
	case "tools/call":
		s.startCall(m)
	case "ping":
		s.reply(m.ID, map[string]any{})
	case "notifications/cancelled":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			s.mu.Lock()
			if end := s.cancels[string(p.RequestID)]; end != nil {
				close(end)
				delete(s.cancels, string(p.RequestID))
			}
			s.mu.Unlock()
		}
	case "":
		s.answer(m)
	default:
		if len(m.ID) > 0 {
			s.fail(m.ID, -32601, "Method not found", nil)
		}
	}
}

func (s *server) initializeResult(params json.RawMessage) map[string]any {
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	// A client that sends no version gets ours.
	if json.Unmarshal(params, &p) != nil || p.ProtocolVersion == "" {
		p.ProtocolVersion = "2025-06-18"
	}
	if s.version != "" {
		p.ProtocolVersion = s.version
	}
	result := map[string]any{
		"protocolVersion": p.ProtocolVersion,
		"capabilities":    s.capabilities,
		"serverInfo":      map[string]any{"name": "fault-server", "version": "1.2.3"},
	}
	if s.instructions != "" {
		result["instructions"] = s.instructions
	}
	return result
}

func (s *server) listTools(m message) {
	s.mu.Lock()
	all := append([]tool(nil), s.tools...)
	s.mu.Unlock()
	start := 0
	next := ""
	if s.pageSize > 0 {
		var p struct {
			Cursor string `json:"cursor"`
		}
		if json.Unmarshal(m.Params, &p) == nil && p.Cursor != "" {
			_, _ = fmt.Sscanf(p.Cursor, "at-%d", &start) // an odd cursor starts over
		}
		if end := start + s.pageSize; end < len(all) {
			next = fmt.Sprintf("at-%d", end)
			all = all[start:end]
		} else {
			all = all[min(start, len(all)):]
		}
	}
	var b bytes.Buffer
	b.WriteString(`{"tools":[`)
	for i, t := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(t.def)
	}
	b.WriteByte(']')
	if next != "" {
		fmt.Fprintf(&b, `,"nextCursor":%q`, next)
	}
	b.WriteByte('}')
	s.replyRaw(m.ID, b.Bytes())
}

func (s *server) startCall(m message) {
	var p struct {
		Name      string `json:"name"`
		Arguments any    `json:"arguments"`
		Meta      struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		s.fail(m.ID, -32602, err.Error(), nil)
		return
	}
	args, ok := p.Arguments.(map[string]any)
	if !ok { // a tool whose schema is not an object
		args = map[string]any{"value": p.Arguments}
	}
	end := make(chan struct{})
	s.mu.Lock()
	s.calls++
	s.cancels[string(m.ID)] = end
	var found *tool
	for i := range s.tools {
		if s.tools[i].name == p.Name {
			found = &s.tools[i]
			break
		}
	}
	s.mu.Unlock()
	if found == nil {
		s.fail(m.ID, -32602, "unknown tool "+p.Name, nil)
		return
	}
	go found.run(s, call{id: m.ID, tool: p.Name, args: args, token: p.Meta.ProgressToken, end: end})
}

// answer takes the client's response to one of our requests.
func (s *server) answer(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(m.ID) + " "
	if len(m.Error) > 0 && string(m.Error) != "null" {
		text += "error " + string(m.Error)
	} else {
		text += "result " + string(m.Result)
	}
	s.answers = append(s.answers, text)
	if ch := s.waiting[string(m.ID)]; ch != nil {
		ch <- m
		delete(s.waiting, string(m.ID))
	}
}

// request sends the client a request and waits for its answer, at most a minute.
func (s *server) request(method string, params any) (message, bool) {
	s.mu.Lock()
	s.nextID++
	id := fmt.Sprintf(`"srv-%d"`, s.nextID)
	ch := make(chan message, 1)
	s.waiting[id] = ch
	s.mu.Unlock()
	s.send(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params})
	select {
	case m := <-ch:
		return m, true
	case <-time.After(time.Minute):
		return message{}, false
	}
}

func (s *server) notify(method string, params any) {
	s.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (s *server) reply(id json.RawMessage, result any) {
	raw, err := json.Marshal(result)
	if err != nil {
		raw = []byte("null")
	}
	s.replyRaw(id, raw)
}

func (s *server) replyRaw(id json.RawMessage, result []byte) {
	frame := make([]byte, 0, len(result)+64)
	frame = append(frame, `{"jsonrpc":"2.0","id":`...)
	frame = append(frame, id...)
	frame = append(frame, `,"result":`...)
	frame = append(frame, result...)
	s.writeFrame(append(frame, '}'))
}

func (s *server) text(c call, text string) {
	s.reply(c.id, map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
}

func (s *server) fail(id json.RawMessage, code int, text string, data any) {
	e := map[string]any{"code": code, "message": text}
	if data != nil {
		e["data"] = data
	}
	s.send(map[string]any{"jsonrpc": "2.0", "id": id, "error": e})
}

func (s *server) send(v any) {
	frame, err := json.Marshal(v)
	if err == nil {
		s.writeFrame(frame)
	}
}

func (s *server) writeFrame(frame []byte) {
	if s.frame != nil {
		frame = s.frame(frame)
	} else {
		frame = append(frame, '\n')
	}
	s.writeRaw(frame)
}

// writeRaw writes bytes unchanged. A client that is gone ends the server.
func (s *server) writeRaw(b []byte) {
	s.outMu.Lock()
	defer s.outMu.Unlock()
	_, err := s.out.Write(b)
	if err == nil {
		err = s.out.Flush()
	}
	if err != nil {
		if s.onEOF != nil {
			s.onEOF(s)
		}
		os.Exit(0)
	}
}
