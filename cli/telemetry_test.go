//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// spanOf is a span as a collector gets it.
type spanOf struct {
	Trace  string `json:"traceId"`
	ID     string `json:"spanId"`
	Parent string `json:"parentSpanId"`
	Name   string `json:"name"`
	Status struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
	Attrs []struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	} `json:"attributes"`
}

func (s spanOf) attr(key string) string {
	for _, a := range s.Attrs {
		if a.Key == key {
			for _, v := range a.Value {
				return fmt.Sprint(v)
			}
		}
	}
	return ""
}

// collectorOf keeps spans and the names of metrics.
type collectorOf struct {
	*httptest.Server
	mu     sync.Mutex
	spans  map[string]spanOf // by name, with a number for the second one and so on
	all    string
	metric []string
}

func newCollectorOf(t *testing.T) *collectorOf {
	t.Helper()
	c := &collectorOf{spans: map[string]spanOf{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var got struct {
			Spans []struct {
				Scopes []struct {
					Spans []spanOf `json:"spans"`
				} `json:"scopeSpans"`
			} `json:"resourceSpans"`
			Metrics []struct {
				Scopes []struct {
					Metrics []struct {
						Name string `json:"name"`
					} `json:"metrics"`
				} `json:"scopeMetrics"`
			} `json:"resourceMetrics"`
		}
		if err != nil || json.Unmarshal(body, &got) != nil {
			t.Errorf("%s: %s", r.URL, body)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all += string(body)
		for _, of := range got.Spans {
			for _, s := range of.Scopes[0].Spans {
				name := s.Name
				for i := 2; c.spans[name].ID != ""; i++ {
					name = fmt.Sprintf("%s %d", s.Name, i)
				}
				c.spans[name] = s
			}
		}
		for _, of := range got.Metrics {
			for _, m := range of.Scopes[0].Metrics {
				c.metric = append(c.metric, m.Name)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// A turn, its requests and calls, and those of a sub-agent are one trace, below the one in which jcode was started;
// commands are told of it. What was said is sent only where the person's settings say so.
func TestACollectorIsToldOfTurnsRequestsAndCalls(t *testing.T) {
	t.Parallel()
	const outer = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, content := range []bool{false, true} {
		t.Run(fmt.Sprint(content), func(t *testing.T) {
			t.Parallel()
			c, at := newChat(t), newCollectorOf(t)
			if err := os.WriteFile(filepath.Join(c.home, "config.json"), fmt.Appendf(nil, `{"telemetry":{"content":%t}}`, content), 0o600); err != nil {
				t.Fatal(err)
			}
			script := played(t,
				calls("", "exec", map[string]any{"cmd": "echo $TRACEPARENT >tp.txt; echo $OTEL_EXPORTER_OTLP_HEADERS >>tp.txt"}),
				calls("", "read", map[string]any{"path": "gone.txt"}),
				calls("", "task", map[string]any{"prompt": "look for the marmot", "description": "look"}),
				calls("task", "exec", map[string]any{"cmd": "echo $TRACEPARENT >child.txt"}), says("task", "a marmot"),
				says("", "the answer is marmot"))
			cmd := jcode(t.Context(), t, c.dir, c.home, c.srv.URL(), "-p", "--mode", "yolo", "-m", "replay:"+script, "where is the marmot?")
			cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+at.URL, "OTEL_EXPORTER_OTLP_HEADERS=api-key=hidden", "TRACEPARENT="+outer)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			at.mu.Lock()
			defer at.mu.Unlock()
			turn, exec, task := at.spans["invoke_agent jcode"], at.spans["execute_tool exec"], at.spans["execute_tool task"]
			child := at.spans["invoke_agent task"]
			for name, c := range map[string]struct{ got, want string }{
				"the trace":                    {turn.Trace, outer[3:35]},
				"what the turn is below":       {turn.Parent, outer[36:52]},
				"what a call is below":         {exec.Parent, turn.ID},
				"what a sub-agent is below":    {child.Parent, task.ID},
				"what its call is below":       {at.spans["execute_tool exec 2"].Parent, child.ID},
				"the operation":                {turn.attr("gen_ai.operation.name"), "invoke_agent"},
				"the tool":                     {exec.attr("gen_ai.tool.name"), "exec"},
				"the fault of a call":          {at.spans["execute_tool read"].attr("error.type"), "io"},
				"the provider":                 {turn.attr("gen_ai.provider.name"), "replay"},
				"how the turn ended":           {turn.attr("jcode.stop_reason"), "done"},
				"what the first command is in": {strings.SplitN(read(t, c.dir, "tp.txt"), "\n", 2)[0], "00-" + turn.Trace + "-" + exec.ID + "-01"},
				"what the second is in":        {strings.TrimSpace(read(t, c.dir, "child.txt")), "00-" + turn.Trace + "-" + at.spans["execute_tool exec 2"].ID + "-01"},
			} {
				if c.got != c.want || c.got == "" {
					t.Errorf("%s: %q, want %q", name, c.got, c.want)
				}
			}
			chats := 0
			for name, s := range at.spans {
				if strings.HasPrefix(name, "chat ") {
					chats++
					if s.attr("gen_ai.usage.input_tokens") == "" || s.Parent != turn.ID && s.Parent != child.ID {
						t.Errorf("%s: %+v", name, s)
					}
				}
			}
			if chats != 6 || len(at.spans) != 12 {
				t.Errorf("%d requests and %d spans, want 6 and 12", chats, len(at.spans))
			}
			if got := strings.Contains(at.all, "marmot"); got != content {
				t.Errorf("what was said is sent: %t, want %t", got, content)
			}
			if got := strings.Join(at.metric, " "); got != "gen_ai.client.operation.duration gen_ai.client.token.usage" {
				t.Errorf("metrics: %s", got)
			}
			if strings.Contains(read(t, c.dir, "tp.txt"), "hidden") {
				t.Error("a command gets the collector's key")
			}
		})
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Error(err)
	}
	return string(b)
}
