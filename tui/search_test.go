//go:build linux || darwin

package tui

import (
	"context"
	"strings"
	"testing"

	"jcode/tools/command"
)

// The words after a command may be a paste of several lines; the search field of a list has one line.
func TestAListIsSearchedForWordsOfSeveralLines(t *testing.T) {
	for _, name := range []string{"/resume ", "/agents "} {
		p, _ := still(t, 80, 24, func(o *Options) {
			goldenOptions(o)
			o.Sessions = &fakeSessions{}
			o.Panels = []command.Panel{{Name: "agents", Rows: func(context.Context) ([]command.Row, error) { return nil, nil }}}
		})
		p.in.Insert(name)
		p.paste("one\nlonger")
		press(p, "enter")
		press(p, "x")
		if frame := stripped(p.compose.build().Content); !strings.Contains(frame, "search: one ⏎ longerx") {
			t.Errorf("%s:\n%s", name, frame)
		}
	}
}
