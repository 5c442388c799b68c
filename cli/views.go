package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"jcode/agent"
	"jcode/cli/board"
	"jcode/cli/core"
	"jcode/cli/outputs"
	"jcode/internal/paths"
	"jcode/internal/search"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/command"
)

// maxFileNames bounds the list of files that @ completes.
const maxFileNames = 200_000

// fileNames lists the files below a folder for @, without ignored ones.
func fileNames(dir string) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		names, err := search.Names(ctx, dir, maxFileNames)
		for i, name := range names {
			names[i] = paths.Escape(name)
		}
		return names, err
	}
}

// personShell runs what the person typed.
type personShell struct {
	registry *tools.Registry
	gate     tools.Gate
	spills   outputs.Spills
	shell    *builtin.Shell
}

func newPersonShell(a *app) personShell {
	return personShell{a.registry, a.gate, spillsOf(a), a.shell}
}

// personCall is the ID of the calls of `!` lines.
const personCall = "person"

// toBackground moves a command to the jobs: the `!` lines that run, otherwise the commands of the main
// conversation.
func (a personShell) toBackground() int {
	if n := a.shell.ToBackground(func(c tools.Call) bool { return c.ID == personCall && c.Caller.Origin == tools.OriginPerson }); n > 0 {
		return n
	}
	return a.shell.ToBackground(func(c tools.Call) bool { return c.Caller.Root == "" && c.Caller.Origin == tools.OriginModel })
}

// shellLine runs a `!` line as the person: no question, since they typed it.
func (a personShell) shellLine(ctx context.Context, line string, out func(string)) error {
	return a.within(ctx, line, 0, out)
}

// within is shellLine with a limit of its own; 0 is the usual one.
func (a personShell) within(ctx context.Context, line string, limit time.Duration, out func(string)) error {
	raw, err := json.Marshal(map[string]any{"cmd": line, "timeout_ms": limit.Milliseconds()})
	if err != nil {
		return err
	}
	by := &tools.Dispatcher{Registry: a.registry, Gate: a.gate, Spill: a.spills.Keep}
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

// sessionViews shows what the sessions contain: their last exchange, what they changed, how full the open one
// is.
type sessionViews struct {
	store *session.Store
	board *board.Board
	shown func(path string) string // the name of a file in texts
}

func newSessionViews(a *app) sessionViews { return sessionViews{a.store, &a.board, a.workspace.Shown} }

// contextUse measures the open conversation's next request.
func (a sessionViews) contextUse(ctx context.Context) (agent.ContextUse, error) {
	conv := a.board.Open()
	if conv == nil {
		return agent.ContextUse{}, core.ErrNoMessages
	}
	return conv.ContextUse(ctx)
}

// changedFiles returns the diffs that the open session's tools made, file by file.
func (a sessionViews) changedFiles(ctx context.Context) ([]command.FileChange, error) {
	id := a.board.Session()
	if id == "" {
		return nil, nil
	}
	rows, err := a.store.History().All(ctx, id)
	if err != nil {
		return nil, err
	}
	var out []command.FileChange
	at := map[string]int{}
	for _, row := range rows {
		for _, call := range row.Calls {
			var d tools.Display
			if len(call.Display) == 0 || json.Unmarshal(call.Display, &d) != nil || d.Diff == "" {
				continue
			}
			i, ok := at[d.Path]
			if !ok {
				i = len(out)
				at[d.Path] = i
				out = append(out, command.FileChange{Path: d.Path})
			}
			out[i].Diff += d.Diff
			out[i].Added += d.Added
			out[i].Removed += d.Removed
		}
	}
	return out, nil
}

// undoable says what /undo would restore.
func (a sessionViews) undoable(ctx context.Context) (command.Undoable, error) {
	id := a.board.Session()
	if id == "" {
		return command.Undoable{}, core.ErrNoMessages
	}
	all, err := a.store.Checkpoints().Changes(ctx, id)
	if err != nil {
		return command.Undoable{}, err
	}
	for _, change := range slices.Backward(all) {
		if len(change.Paths) == 0 {
			continue
		}
		u := command.Undoable{Prompt: int64(change.Turn), Name: change.Name}
		for _, path := range change.Paths {
			u.Files = append(u.Files, command.FileChange{Path: a.shown(path)})
		}
		return u, nil
	}
	return command.Undoable{}, session.ErrNothing
}
