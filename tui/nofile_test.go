//go:build linux || darwin

package tui

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"jcode/tui/front"
	"jcode/tui/tuitest"
)

func TestAMentionThatMatchesNothingSaysSo(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 60, 15, func(o *front.Options) {
		o.Files = func(context.Context) ([]string, error) { return []string{"main.go", "docs/a.md"}, nil }
	})
	for _, r := range "@zzzz" {
		settleCmd(p, p.route(tea.KeyPressMsg{Code: r, Text: string(r)}))
	}
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "no file matches zzzz") || !strings.Contains(s, "› @zzzz") {
		t.Errorf("nothing is said:\n%s", s)
	}
	settleCmd(p, p.route(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}))
	if s := tuitest.Stripped(p.frameText()); strings.Contains(s, "no file matches") {
		t.Errorf("it stays:\n%s", s)
	}
}
