//go:build linux || darwin

package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"jcode/internal/terminal"
)

func TestEmptyAndFailedPanelsSayItInFull(t *testing.T) {
	const empty = "No servers. Add one with `jcode mcp add NAME -- command`, or ask the agent to connect one."
	const failed = "reading the configuration in /home/u/project/.jcode/mcp.json: line 3: no such key is known here, sorry"
	r := run(t, 40, 14, func(o *Options) {
		o.Panels = []Panel{
			{Name: "servers", Help: "servers", Empty: empty, Rows: func(context.Context) ([]Row, error) { return nil, nil }},
			{Name: "broken", Help: "broken", Rows: func(context.Context) ([]Row, error) { return nil, errors.New(failed) }},
		}
	}).ready()
	for name, want := range map[string]string{"servers": empty, "broken": failed} {
		r.Type("/" + name)
		r.see("/" + name)
		r.Press("enter")
		if _, err := r.Wait(limit, func(s terminal.Screen) bool {
			return strings.Contains(squeezed(s.Text()), squeezed(want))
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r.Press("esc")
		r.see("ask for something")
	}
}

// squeezed takes all white space away: words may stand on any line.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

func TestShellLineSaysItsCommandOnce(t *testing.T) {
	r := run(t, 80, 24, func(o *Options) {
		o.Shell = func(_ context.Context, _ string, out func(string)) error {
			out("a.txt\nb.txt\n")
			return nil
		}
	}).ready()
	r.Type("!ls here")
	r.see("› !ls here")
	r.Press("enter")
	s := r.see("✓ ! ls here", "│ a.txt", "│ b.txt")
	if n := strings.Count(s.Text(), "ls here"); n != 1 {
		t.Errorf("the command shows %d times:\n%s", n, s.Text())
	}
}
