package dial_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"jcode/agent/model"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/modeltest"
)

// speaking are a model of each protocol.
func speaking() map[string]provider.Protocol {
	return map[string]provider.Protocol{"test-model": provider.Chat, "claude-opus-5-5": provider.Messages, "gpt-5.6": provider.Responses}
}

func openAs(tb testing.TB, protocol provider.Protocol, url string) dial.Client {
	tb.Helper()
	c, err := dial.Open(provider.Config{Name: string(protocol), BaseURL: url, Key: "sk-test-key-123", Protocol: protocol})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// BenchmarkProtocolStream is one answer of 20,000 tokens, sent as fast as possible. Server and
// client share the process.
func BenchmarkProtocolStream(b *testing.B) {
	tokens := make([]string, 20_000)
	for i := range tokens {
		tokens[i] = []string{"word ", "and ", "`code` ", "漢字 "}[i%4]
	}
	for id, protocol := range speaking() {
		b.Run(string(protocol), func(b *testing.B) {
			srv := modeltest.New(b, modeltest.Text(tokens...).Burst().Forever())
			c := openAs(b, protocol, srv.URL())
			for b.Loop() {
				if _, err := c.Stream(context.Background(), model.Request{Model: id, Messages: []model.Message{{Role: model.RoleUser, Text: "x"}}}, func(model.Event) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkProtocolEncode encodes the request of round 50: the work between a result and the next
// request.
func BenchmarkProtocolEncode(b *testing.B) {
	for id, protocol := range speaking() {
		b.Run(string(protocol), func(b *testing.B) {
			srv := modeltest.New(b, modeltest.Text("x").Forever())
			srv.Lenient()
			c := openAs(b, protocol, srv.URL())
			req := model.Request{Model: id, System: strings.Repeat("Be helpful. ", 400), Messages: []model.Message{{Role: model.RoleUser, Text: "x"}}}
			for i := range 24 {
				req.Tools = append(req.Tools, model.Tool{Name: fmt.Sprintf("tool_%d", i), Description: strings.Repeat("d", 300), Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)})
			}
			for i := range 50 {
				call := fmt.Sprintf("c%d", i)
				req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Calls: []model.Call{{ID: call, Name: "tool_1", Arguments: `{"path":"a.txt"}`}}},
					model.Message{Role: model.RoleTool, CallID: call, Text: strings.Repeat("0123456789abcdef line of a file\n", 64)})
			}
			for b.Loop() {
				if _, err := c.Stream(context.Background(), req, func(model.Event) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
