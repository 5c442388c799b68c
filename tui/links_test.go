//go:build linux || darwin

package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/tools"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// Files that answers and calls name are links; links that a model or a tool writes as escapes never reach the terminal,
// and a terminal that shows links as text gets none.
func TestFilesInAnswersAndCallsAreLinks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "client.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	evil := "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\"
	draw := func(term string) string {
		p, f := still(t, 80, 24, func(o *front.Options) { o.Cwd, o.Env = root, []string{"TERM=" + term} })
		f.Now.Cwd = root
		p.enter(*p.opt.Session)
		feed(p, event.TurnStart{Prompt: "go", At: clock},
			event.CallStart{ID: "1", Name: "edit", Arguments: tuitest.JSON("path", "client.go"), At: clock},
			event.CallEnd{ID: "1", Name: "edit", Status: "done", Result: tools.Result{Text: evil, Display: tools.Display{Added: 1, Path: "client.go"}}},
			event.TextDelta{Text: "See `client.go:7` and gone.go:1 " + evil + "."}, event.AssistantMessage{Text: "See `client.go:7` and gone.go:1 " + evil + "."})
		return p.frameText()
	}
	frame := draw("xterm-256color")
	target := "\x1b]8;;file://" + filepath.ToSlash(root) + "/client.go"
	if n := strings.Count(frame, target); n < 2 {
		t.Errorf("%d links to the file:\n%q", n, frame)
	}
	if strings.Contains(frame, "evil\x1b\\") || strings.Contains(frame, "gone.go\x1b]8") || strings.Contains(frame, "]8;;http") {
		t.Errorf("other links:\n%q", frame)
	}
	for _, row := range strings.Split(tuitest.Stripped(frame), "\n") {
		if cells.Width(row) > 80 {
			t.Errorf("a row of %d cells: %q", cells.Width(row), row)
		}
	}
	if frame := draw("linux"); strings.Contains(frame, "]8;") {
		t.Errorf("links in a console that shows them:\n%q", frame)
	}
}
