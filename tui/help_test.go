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

// Enter on a row of the help writes the command, or does what the key does; a row that only tells something is closed.
func TestEnterInTheHelpTakesTheRow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, query, input, screen, foot string }{
		{"", "/rename", "/rename ", "", "enter choose"},
		{"", "/diff", "/diff", "", "enter choose"},
		{"", "/mcp add", "/mcp add ", "", "enter choose"},
		{"", "!command", "!", "", "enter choose"},
		{"see ", "@path", "see @", "", "enter choose"},
		{"my words", "/rename", "my words", "the input holds text: alt+s puts it aside", "enter choose"},
		{"my words", "choose the model", "my words", "some/model", "enter choose"},
		{"", "alt+t", "", "", "enter choose"},
		{"", "twice quits", "", "", ""},
		{"ab", "a character left", "ab", "", ""},
		{"", "no such row", "", "", ""},
	} {
		p, _ := still(t, 100, 24, func(o *front.Options) {
			o.Models = func(context.Context) ([]command.Row, error) { return []command.Row{{ID: "m", Name: "some/model"}}, nil }
			o.Commands = command.Set{Sources: []command.Source{commands{{Name: "mcp", Verbs: command.Verbs{{Name: "add", Hint: "NAME", Help: "add a server"}}}}}}
		})
		p.in.Insert(c.before)
		press(p, "f1")
		press(p, strings.Split(c.query, "")...)
		s := tuitest.Stripped(p.frameText())
		if strings.Contains(s, "enter choose") != (c.foot != "") {
			t.Errorf("%s: foot:\n%s", c.query, s)
		}
		press(p, "enter")
		s = tuitest.Stripped(p.frameText())
		if got := p.in.Text(); got != c.input || strings.Contains(s, "Keys and commands") || !strings.Contains(s, c.screen) {
			t.Errorf("%s: the input holds %q:\n%s", c.query, got, s)
		}
		if times := c.query == "alt+t"; p.look.Times != times {
			t.Errorf("%s: times are shown: %v", c.query, p.look.Times)
		}
	}
}
