//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
)

// editor is a minimal client of `jcode acp`.
type editor struct {
	b   *testing.B
	in  io.WriteCloser
	out *bufio.Reader
}

// ask sends a request and reads up to its answer; each notification is counted.
func (e editor) ask(id int, method string, params any) (result json.RawMessage, updates int) {
	e.b.Helper()
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		e.b.Fatal(err)
	}
	if _, err := e.in.Write(append(raw, '\n')); err != nil {
		e.b.Fatal(err)
	}
	for {
		line, err := e.out.ReadBytes('\n')
		if err != nil {
			e.b.Fatalf("%s: %v", method, err)
		}
		var m struct {
			ID     int             `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  any             `json:"error"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			e.b.Fatal(err)
		}
		switch {
		case m.Method != "":
			updates++
		case m.Error != nil:
			e.b.Fatalf("%s: %v", method, m.Error)
		case m.ID == id:
			return m.Result, updates
		}
	}
}

// BenchmarkEditor measures an editor session: the start, a session, and 20,000 tokens.
func BenchmarkEditor(b *testing.B) {
	answer := modeltest.Text(markdown(20_000)...).Burst()
	p := newProgram(b, func(modeltest.Request) modeltest.Reply { return answer })
	f := samples{}
	for b.Loop() {
		cmd := p.command("acp")
		in, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		e := editor{b, in, bufio.NewReaderSize(out, 1<<20)}
		e.ask(1, "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
		f.add("initialize-ms", ms(time.Since(began)))
		began = time.Now()
		raw, _ := e.ask(2, "session/new", map[string]any{"cwd": p.project, "mcpServers": []any{}})
		f.add("session-ms", ms(time.Since(began)))
		var session struct {
			SessionID string `json:"sessionId"`
		}
		if err := json.Unmarshal(raw, &session); err != nil {
			b.Fatal(err)
		}
		began = time.Now()
		_, updates := e.ask(3, "session/prompt", map[string]any{
			"sessionId": session.SessionID, "prompt": []any{map[string]string{"type": "text", "text": "go"}},
		})
		f.add("stream-ms", ms(time.Since(began)))
		f.add("after-MiB", pss(b, cmd.Process.Pid))
		if updates == 0 {
			b.Fatal("no update came")
		}
		if err := in.Close(); err != nil {
			b.Fatal(err)
		}
		began = time.Now()
		if err := cmd.Wait(); err != nil {
			b.Fatal(fmt.Errorf("the agent's end: %w", err))
		}
		f.add("end-ms", ms(time.Since(began)))
	}
	f.report(b)
}
