package clipboard

import (
	"context"

	"github.com/charmbracelet/x/ansi"

	"jcode/internal/launch"
)

// Write passes text to a program that keeps it and returns the program's name; "" if none does.
func Write(ctx context.Context, programs launch.Programs, env func(string) string, s string) string {
	for _, c := range reaching(env) {
		if c.write == nil {
			continue
		}
		if _, err := c.run(ctx, programs, c.write, s); err == nil {
			return c.name
		}
	}
	if env("TMUX") == "" {
		return ""
	}
	tmux := program{name: "tmux", keep: []string{"TMUX=" + env("TMUX")}}
	for _, args := range [][]string{{"load-buffer", "-w", "-"}, {"load-buffer", "-"}} { // -w exists since version 3.2
		if _, err := tmux.run(ctx, programs, args, s); err == nil {
			return tmux.name
		}
	}
	return ""
}

// screenLimit is how many bytes of a sequence GNU screen passes on at once.
const screenLimit = 700

// Sequence returns the sequence that puts text on a terminal's clipboard (OSC 52), wrapped as a
// multiplexer in between requires.
func Sequence(env func(string) string, s string) string {
	seq := ansi.SetSystemClipboard(s)
	if env("STY") != "" {
		return ansi.ScreenPassthrough(seq, screenLimit)
	}
	return seq
}
