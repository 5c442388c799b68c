package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"jcode/agent/event"
	goalcli "jcode/cli/goal"
	"jcode/cli/pursuit"
	"jcode/internal/text"
)

// goalCommandLimit is how long the command that judges a goal may run.
const goalCommandLimit = 10 * time.Minute

// newGoals returns /loop and /goal of a chat.
func newGoals(a *app) goalcli.Commands {
	typed, shell := newTypedPrompts(a), newPersonShell(a)
	judge := goalcli.Judge{Open: a.board.Open, Run: func(ctx context.Context, line string, out func(string)) error {
		return shell.RunFor(ctx, line, goalCommandLimit, out)
	}}
	return goalcli.Commands{Pursuit: pursuit.New(pursuit.Options{
		Dir: pursuits(a.paths.Data), Holds: judge.Holds, Passing: goalcli.Passing,
		Expand: func(ctx context.Context, said string) (event.Prompt, error) {
			p, notice, err := typed.prompt(ctx, said)
			if err == nil && p.Text == "" {
				err = fmt.Errorf("there is nothing to do for a model: %s", text.Headline(notice))
			}
			return p, err
		},
	})}
}

// pursuits returns the folder in which loops and goals of sessions are kept.
func pursuits(data string) string { return filepath.Join(data, "pursuits") }
