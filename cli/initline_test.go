//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// What the first line of a headless run lists is what the model is offered: a model that patches has no edit, and what
// is of use only after another tool is not there yet.
func TestTheInitLineListsWhatTheModelIsOffered(t *testing.T) {
	t.Parallel()
	for model, patches := range map[string]bool{"anthropic/claude-sonnet-5": false, "openai/gpt-5.6": true} {
		c := newChat(t, modeltest.Text("done"))
		settings := `{"providers": {"anthropic": {"base_url": "` + c.srv.URL() + `", "protocol": "messages"}, "openai": {"base_url": "` + c.srv.URL() + `", "protocol": "responses"}}}`
		if err := os.WriteFile(filepath.Join(c.home, "config.json"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		c.env = append(c.env, "JCODE_MODEL="+model, "ANTHROPIC_API_KEY=sk-ant-test", "OPENAI_API_KEY=sk-test", "OPENAI_BASE_URL=")
		out, err := c.command("jcode", "-p", "--output-format", "stream-json", "go").Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		first, _, _ := strings.Cut(string(out), "\n")
		var line struct {
			Tools []string `json:"tools"`
		}
		if err := json.Unmarshal([]byte(first), &line); err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		var offered []string
		for _, r := range c.srv.Requests() {
			if len(r.ToolNames()) > 0 { // else one for a title
				offered = r.ToolNames()
			}
		}
		if slices.Sort(line.Tools); !slices.Equal(line.Tools, slices.Sorted(slices.Values(offered))) {
			t.Errorf("%s: init lists %v, the request offers %v", model, line.Tools, offered)
		}
		if got := slices.Contains(line.Tools, "apply_patch"); got != patches || got == slices.Contains(line.Tools, "edit") {
			t.Errorf("%s: %v", model, line.Tools)
		}
	}
}
