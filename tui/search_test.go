//go:build linux || darwin

package tui

import (
	"context"
	"strings"
	"testing"

	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// The words after a command may be a paste of several lines; the search field of a list has one line.
func TestAListIsSearchedForWordsOfSeveralLines(t *testing.T) {
	for _, name := range []string{"/resume ", "/agents "} {
		p, _ := still(t, 80, 24, func(o *front.Options) {
			goldenOptions(o)
			o.Sessions = &tuitest.Sessions{}
			o.Panels = []command.Panel{{Name: "agents", Rows: func(context.Context) ([]command.Row, error) { return nil, nil }}}
		})
		p.in.Insert(name)
		p.paste("one\nlonger")
		press(p, "enter")
		press(p, "x")
		if frame := tuitest.Stripped(p.compose.build().Content); !strings.Contains(frame, "search: one ⏎ longerx") {
			t.Errorf("%s:\n%s", name, frame)
		}
	}
}
