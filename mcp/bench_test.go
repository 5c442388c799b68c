package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/testkit/mcptest"
	"jcode/mcp/config"
	"jcode/tools"
)

// benchManager returns a manager of fault servers, without files.
func benchManager(b *testing.B, modes map[string]string) *Manager {
	b.Helper()
	m := New(Options{Registry: tools.NewRegistry(), Version: "bench"})
	b.Cleanup(m.Close)
	m.control.Lock()
	m.mu.Lock()
	for name, mode := range modes {
		e := config.NewEntry(name)
		e.Target = testTarget(mcptest.Server(mode))
		m.wants.extra[name] = e
	}
	m.mu.Unlock()
	m.control.Unlock()
	return m
}

func connectAll(b *testing.B, m *Manager, names ...string) {
	b.Helper()
	m.control.Lock()
	m.mu.Lock()
	for _, name := range names {
		if _, err := m.wants.want(name, m.wants.own); err != nil {
			b.Fatal(err)
		}
	}
	m.mu.Unlock()
	begun := m.settle(order{})
	m.control.Unlock()
	for _, name := range names {
		if err := await(context.Background(), begun.outcomes[name]); err != nil {
			b.Fatalf("%s: %v", name, err)
		}
	}
}

// BenchmarkConnect measures the time until the tools of a Go server that is ready at once can be used.
// The goal is 50 ms.
func BenchmarkConnect(b *testing.B) {
	m := benchManager(b, map[string]string{"s": "ok"})
	for b.Loop() {
		connectAll(b, m, "s")
		b.StopTimer()
		if _, err := m.Disconnect("s", "the benchmark"); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkCall compares a call with that of the library's own client over its own
// transport, against the same server. The goal is 10 % at most.
func BenchmarkCall(b *testing.B) {
	b.Run("jcode", func(b *testing.B) {
		m := benchManager(b, map[string]string{"s": "ok"})
		connectAll(b, m, "s")
		s := m.viewOf("s").session
		limits := callLimits{idle: time.Minute, total: time.Minute}
		for b.Loop() {
			raw, _, err := s.call(context.Background(), "echo", json.RawMessage(`{"text":"hello"}`), limits, nil)
			if err != nil || (converter{}).convert(raw).text != "echo: hello" {
				b.Fatal(err)
			}
		}
	})
	b.Run("sdk", func(b *testing.B) {
		c := mcptest.Server("ok")
		cmd := exec.CommandContext(b.Context(), c.Path, c.Args...)
		for k, v := range c.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		client := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil)
		cs, err := client.Connect(b.Context(), &sdk.CommandTransport{Command: cmd}, &sdk.ClientSessionOptions{ProtocolVersion: classicProtocol})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = cs.Close() })
		for b.Loop() {
			res, err := cs.CallTool(context.Background(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}})
			if err != nil || res.Content[0].(*sdk.TextContent).Text != "echo: hello" {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkTwentyServersOneHanging measures the time until 19 servers are connected while one
// hangs; the second figure is the time without the hanging one.
func BenchmarkTwentyServersOneHanging(b *testing.B) {
	for _, hanging := range []bool{true, false} {
		b.Run(fmt.Sprintf("hanging=%v", hanging), func(b *testing.B) {
			modes := map[string]string{}
			var names []string
			for i := range 19 {
				name := fmt.Sprintf("s%02d", i)
				modes[name] = "ok"
				names = append(names, name)
			}
			if hanging {
				modes["hang"] = "hang"
			}
			m := benchManager(b, modes)
			for b.Loop() {
				if hanging {
					m.control.Lock()
					m.mu.Lock()
					_, err := m.wants.want("hang", m.wants.own)
					m.mu.Unlock()
					m.settle(order{})
					m.control.Unlock()
					if err != nil {
						b.Fatal(err)
					}
				}
				connectAll(b, m, names...)
				b.StopTimer()
				for _, name := range append(names, "hang") {
					if _, known := modes[name]; known {
						if _, err := m.Disconnect(name, "the benchmark"); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.StartTimer()
			}
		})
	}
}

// BenchmarkDeathToError measures the time from the call that kills the server to the error result. The
// goal is 100 ms.
func BenchmarkDeathToError(b *testing.B) {
	m := benchManager(b, map[string]string{"s": "ok"})
	for b.Loop() {
		b.StopTimer()
		connectAll(b, m, "s")
		b.StartTimer()
		if _, err := m.call(context.Background(), "s", "die", nil, nil); err == nil {
			b.Fatal("no error")
		}
		b.StopTimer()
		if _, err := m.Disconnect("s", "the benchmark"); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkManyTools measures the time until a server with 5,000 tools is offered through the stand-ins.
// The goal is 500 ms.
func BenchmarkManyTools(b *testing.B) {
	m := benchManager(b, map[string]string{"s": "many=5000"})
	for b.Loop() {
		connectAll(b, m, "s")
		if m.offer.totals().Mode != "deferred" {
			b.Fatal("not deferred")
		}
		b.StopTimer()
		if _, err := m.Disconnect("s", "the benchmark"); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkLargeResult measures a call with a result of 20 MB. The goal is 3 s.
func BenchmarkLargeResult(b *testing.B) {
	m := benchManager(b, map[string]string{"s": "ok"})
	connectAll(b, m, "s")
	s := m.viewOf("s").session
	for b.Loop() {
		raw, _, err := s.call(context.Background(), "big", json.RawMessage(`{"bytes":20000000}`), callLimits{idle: time.Minute, total: time.Minute}, nil)
		if err != nil || len((converter{}).convert(raw).text) == 0 {
			b.Fatal(err)
		}
	}
}
