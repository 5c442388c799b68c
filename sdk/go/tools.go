package sdk

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
)

// server is the name of the MCP server as which the tools of this program are served.
const server = "app"

// Tool is a function of this program that the model may call.
type Tool struct {
	Name        string
	Description string
	// Schema is a JSON Schema of the arguments, an object; nil for none.
	Schema json.RawMessage
	// ReadOnly says that it changes nothing.
	ReadOnly bool
	// Run does a call, beside others. Its context ends when the answer is not wanted any more: Close waits for it. Its
	// error is read by the model.
	Run func(ctx context.Context, arguments json.RawMessage) (string, error)
}

// lent serves the tools of this program.
type lent struct {
	tools   []Tool
	write   func(line map[string]any) error
	working *sync.WaitGroup

	mu      sync.Mutex
	running map[string]context.CancelFunc // calls, by the ID of their request
}

// message is a message of MCP.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Name            string          `json:"name"`
		Arguments       json.RawMessage `json:"arguments"`
		RequestID       json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// serve offers the tools, and returns when the model can call them.
func (s *Session) serve(ctx context.Context) error {
	return s.Do(ctx, "serve", map[string]any{"name": server, "trusted": true}, nil)
}

// receive does what a message says. It does not wait.
func (l *lent) receive(ev Event) {
	var line struct {
		Message message `json:"message"`
	}
	if ev.Decode(&line) != nil {
		return
	}
	m := line.Message
	if m.Method == "notifications/cancelled" {
		l.cancel(string(m.Params.RequestID))
	}
	if len(m.ID) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.mu.Lock()
	l.running[string(m.ID)] = cancel
	l.mu.Unlock()
	l.working.Go(func() {
		defer l.cancel(string(m.ID))
		answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
		if result := l.do(ctx, m); result != nil {
			answer["result"] = result
		} else {
			answer["error"] = map[string]any{"code": -32601, "message": "there is no " + m.Method}
		}
		if ctx.Err() == nil {
			_ = l.write(map[string]any{"type": "mcp", "server": server, "message": answer}) // the end of the output says so, too
		}
	})
}

// do returns the result of a request, nil for one that is not known.
func (l *lent) do(ctx context.Context, m message) any {
	switch m.Method {
	case "initialize":
		return map[string]any{
			"protocolVersion": m.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": server, "version": "1"},
		}
	case "ping":
		return map[string]any{}
	case "tools/list":
		list := []any{}
		for _, t := range l.tools {
			schema := t.Schema
			if schema == nil {
				schema = json.RawMessage(`{"type": "object"}`)
			}
			list = append(list, map[string]any{
				"name": t.Name, "description": t.Description, "inputSchema": schema, "annotations": map[string]any{"readOnlyHint": t.ReadOnly},
			})
		}
		return map[string]any{"tools": list}
	case "tools/call":
		text, err := l.call(ctx, m.Params.Name, m.Params.Arguments)
		if err != nil {
			text = err.Error()
		}
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": err != nil}
	}
	return nil
}

// call runs a function. One that panics has failed.
func (l *lent) call(ctx context.Context, name string, arguments json.RawMessage) (text string, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%s failed: %v", name, fault)
		}
	}()
	for _, t := range l.tools {
		if t.Name == name {
			return t.Run(ctx, arguments)
		}
	}
	return "", fmt.Errorf("there is no tool %s", name)
}

// cancel ends a call.
func (l *lent) cancel(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if stop := l.running[id]; stop != nil {
		stop()
		delete(l.running, id)
	}
}

// end ends all calls.
func (l *lent) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, stop := range l.running {
		stop()
	}
}
