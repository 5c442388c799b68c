package workplacecli

import (
	"context"
	"fmt"
	"time"

	"jcode/internal/text"
	"jcode/tools/builtin"
)

// StatusLine returns what runs the person's command for the status line, nil without one.
func StatusLine(line, dir string, shell *builtin.Shell) func(ctx context.Context, state []byte) (string, error) {
	if line == "" {
		return nil
	}
	return func(ctx context.Context, state []byte) (string, error) {
		end, err := shell.RunHook(ctx, builtin.HookRun{Command: line, Dir: dir, Stdin: state, Limit: time.Second, Free: true})
		switch {
		case err != nil:
			return "", err
		case end.Code != 0:
			return "", fmt.Errorf("the command ended with exit code %d: %s", end.Code, text.OneLine(text.Clean(text.CutTail(end.Stderr, 200))))
		}
		return end.Stdout, nil
	}
}
