//go:build linux || darwin

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// TestLongSessionIsReadFromTheCache: 50 rounds with a server that is connected in the middle, and one more on the next
// day, in another process. What a provider that keeps the beginnings of requests would read of them is a share of all
// that is sent.
func TestLongSessionIsReadFromTheCache(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model    string
		appended bool // tools that come later are declared within the conversation
	}{
		"chat":                     {"test-model", false},
		"messages":                 {"anthropic/claude-sonnet-4-5", false},
		"messages, tools appended": {"anthropic/claude-opus-5-5", true},
		"responses":                {"openai/gpt-5.6", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c1 *chat
			var replies []modeltest.Reply
			for i := range 50 {
				reply := modeltest.Calls(tool(fmt.Sprint("c", i), "read", map[string]any{"path": "a.txt", "offset": 1 + i*40, "limit": 40}))
				if i == 25 {
					reply = modeltest.Func(func(modeltest.Request) modeltest.Reply {
						withServers(c1, map[string]string{"late": "full"})
						return modeltest.Calls(tool("late", "mcp_reload", map[string]any{}))
					})
				}
				replies = append(replies, reply)
			}
			c1 = newChat(t, append(replies, modeltest.Text("done"), modeltest.Text("and so on"))...)
			c1.write("a.txt", strings.Repeat("A line of the file that is read in pieces.\n", 2100))
			if err := os.WriteFile(filepath.Join(c1.home, "config.json"), []byte(fmt.Sprintf(
				`{"providers": {"anthropic": {"base_url": %q, "protocol": "messages"}, "openai": {"base_url": %q, "protocol": "responses"}}}`, c1.srv.URL(), c1.srv.URL())), 0o600); err != nil {
				t.Fatal(err)
			}
			c1.env = append(c1.env, "JCODE_MODEL="+c.model, "ANTHROPIC_API_KEY=sk-ant-test", "TZ=Etc/GMT+12")
			if strings.Contains(c.model, "/") {
				c1.env = append(c1.env, "OPENAI_BASE_URL=")
			}
			if out, err := c1.command("jcode", "-p", "--mode", "yolo", "read it all").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			c1.env = append(c1.env, "TZ=Etc/GMT-14") // there it is at least one day later
			if out, err := c1.command("jcode", "-c", "-p", "--mode", "yolo", "and now?").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			all := c1.srv.Requests()
			if len(all) != 52 {
				t.Fatalf("%d requests", len(all))
			}
			long := modeltest.Shared(all[:51])
			shared, size := modeltest.Prefix(all[:51], all[51])
			next := float64(shared) / float64(size)
			t.Logf("%.1f %% of 51 requests, %.1f %% of the one on the next day", 100*long, 100*next)
			if long < 0.94 || next < 0.95 {
				t.Errorf("%.1f %% of 51 requests, %.1f %% of the one on the next day", 100*long, 100*next)
			}
			if c.appended && long < 0.96 {
				t.Errorf("%.1f %% where tools are appended", 100*long)
			}
			if !strings.Contains(c.model, "claude") {
				return
			}
			cache := c1.srv.Cache() // by the marks of the requests
			share := float64(cache.Read) / float64(cache.Read+cache.Written+cache.Fresh)
			t.Logf("%.1f %% by the marks: %+v", 100*share, cache)
			if share < 0.94 || cache.Again != 0 {
				t.Errorf("%.1f %% by the marks: %+v", 100*share, cache)
			}
		})
	}
}
