package chat_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"jcode/agent/model"
	"jcode/internal/testkit/modeltest"
)

// markdownTokens returns n pieces of a Markdown answer, about four bytes each.
func markdownTokens(n int) []string {
	words := strings.SplitAfter("## Head\n\nSome *text* with `code`, a [link](x) and more words to read.\n\n```go\nfunc f() { return }\n```\n\n- an item\n- 漢字\n\n", " ")
	out := make([]string, n)
	for i := range out {
		out[i] = words[i%len(words)]
	}
	return out
}

// canned answers every request with the same bytes, without HTTP parsing in between, so that
// only the client's own cost is measured.
type canned struct {
	l    net.Listener
	body []byte
}

func newCanned(tb testing.TB, stream string) *canned {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
	for _, event := range strings.SplitAfter(stream, "\n\n") {
		if event != "" {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(event), event)
		}
	}
	b.WriteString("0\r\n\r\n")
	c := &canned{l: l, body: []byte(b.String())}
	go c.serve()
	return c
}

func (c *canned) serve() {
	for {
		conn, err := c.l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			buf := make([]byte, 1<<20)
			for {
				seen := 0
				for !strings.HasSuffix(string(buf[max(0, seen-2):seen]), `]}`) {
					n, err := conn.Read(buf[seen:])
					if err != nil {
						return
					}
					seen += n
				}
				if _, err := conn.Write(c.body); err != nil {
					return
				}
			}
		}()
	}
}

func sse(tokens []string) string {
	var b strings.Builder
	for _, s := range tokens {
		b.WriteString("data: " + modeltest.TextChunk(s) + "\n\n")
	}
	b.WriteString("data: " + modeltest.FinishChunk("stop") + "\n\ndata: [DONE]\n\n")
	return b.String()
}

// BenchmarkStream20k is one answer of 20,000 tokens, sent as fast as possible in one chunk
// per token. Server and client share the process; its CPU is printed.
func BenchmarkStream20k(b *testing.B) {
	for name, reply := range map[string]modeltest.Reply{
		"burst":      modeltest.Text(markdownTokens(20_000)...).Burst(),
		"each token": modeltest.Text(markdownTokens(20_000)...),
	} {
		b.Run(name, func(b *testing.B) {
			srv := modeltest.New(b, reply.Forever())
			client := newClient(b, srv.URL())
			began, events := cpu(), 0
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Stream(context.Background(), ask("x"), func(model.Event) { events++ }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpu()-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(events)/float64(b.N), "events/op")
		})
	}
	b.Run("canned", func(b *testing.B) {
		srv := newCanned(b, sse(markdownTokens(20_000)))
		client := newClient(b, "http://"+srv.l.Addr().String())
		began := cpu()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.Stream(context.Background(), ask("x"), func(model.Event) {}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cpu()-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	})
}

// BenchmarkDelta is the cost of one delta late in an answer of 1 KB and of 64 KB: they
// should be the same.
func BenchmarkDelta(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			tokens := markdownTokens(size / 4)
			srv := newCanned(b, sse(tokens))
			client := newClient(b, "http://"+srv.l.Addr().String())
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Stream(context.Background(), ask("x"), func(model.Event) {}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(tokens)), "ns/delta")
		})
	}
}

// BenchmarkRounds is 50 tool rounds: the request grows by a call and a result of 2 KB each.
func BenchmarkRounds(b *testing.B) {
	call := modeltest.DeltaChunk(`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}}]}`)
	srv := newCanned(b, "data: "+call+"\n\ndata: "+modeltest.FinishChunk("tool_calls")+"\n\ndata: [DONE]\n\n")
	client := newClient(b, "http://"+srv.l.Addr().String())
	result := strings.Repeat("0123456789abcdef line of a file\n", 64)
	b.ReportAllocs()
	for b.Loop() {
		req := ask("x")
		req.System = strings.Repeat("Be helpful. ", 400)
		for range 24 {
			req.Tools = append(req.Tools, model.Tool{Name: fmt.Sprintf("tool_%d", len(req.Tools)), Description: strings.Repeat("d", 300), Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)})
		}
		for range 50 {
			resp, err := client.Stream(context.Background(), req, func(model.Event) {})
			if err != nil {
				b.Fatal(err)
			}
			req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Calls: resp.Calls}, model.Message{Role: model.RoleTool, CallID: resp.Calls[0].ID, Text: result})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/50, "µs/round")
}
