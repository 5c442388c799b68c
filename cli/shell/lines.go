package shellcli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"jcode/cli/outputs"
	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/command"
)

// Lines runs what the person typed.
type Lines struct {
	Registry *tools.Registry
	Gate     tools.Gate
	Spills   outputs.Spills
	Shell    *builtin.Shell
}

// personCall is the ID of the calls of `!` lines.
const personCall = "person"

// ToBackground moves a command to the jobs: the `!` lines that run, otherwise the commands of the main
// conversation.
func (a Lines) ToBackground() int {
	if n := a.Shell.ToBackground(func(c tools.Call) bool { return c.ID == personCall && c.Caller.Origin == tools.OriginPerson }); n > 0 {
		return n
	}
	return a.Shell.ToBackground(func(c tools.Call) bool { return c.Caller.Root == "" && c.Caller.Origin == tools.OriginModel })
}

// Run runs a `!` line as the person: no question, since they typed it.
func (a Lines) Run(ctx context.Context, line string, out func(string)) error {
	return a.RunFor(ctx, line, 0, out)
}

// RunFor is shellLine with a limit of its own; 0 is the usual one.
func (a Lines) RunFor(ctx context.Context, line string, limit time.Duration, out func(string)) error {
	raw, err := json.Marshal(map[string]any{"cmd": line, "timeout_ms": limit.Milliseconds()})
	if err != nil {
		return err
	}
	by := &tools.Dispatcher{Registry: a.Registry, Gate: a.Gate, Spill: a.Spills.Keep}
	result := by.Dispatch(ctx, tools.Call{
		ID: personCall, Name: "exec", Arguments: raw, Caller: tools.Caller{Origin: tools.OriginPerson},
		Progress: func(p tools.Progress) {
			if p.Output != "" {
				out(p.Output)
			}
		},
	})
	display := result.Result.Display
	if display.Log != "" && !strings.Contains(display.Summary, "job ") {
		_ = os.Remove(display.Log) // nobody was told of it: the output was shown line by line
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case result.Result.Failed:
		return errors.New(result.Result.Text)
	case display.ExitCode == nil:
		if job, ok := strings.CutPrefix(display.Summary, "job "); ok {
			return command.InBackground("job " + job)
		}
		return fmt.Errorf("ended by signal: %s", display.Summary)
	case *display.ExitCode != 0:
		return fmt.Errorf("exit %d", *display.ExitCode)
	}
	return nil
}
