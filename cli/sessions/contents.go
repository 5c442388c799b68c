package sessionscli

import (
	"context"
	"encoding/json"
	"slices"

	"jcode/agent"
	"jcode/cli/board"
	"jcode/cli/core"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
)

// Contents shows what the sessions contain: their last exchange, what they changed, how full the open one
// is.
type Contents struct {
	Store *session.Store
	Board *board.Board
	Shown func(path string) string // the name of a file in texts
}

// ContextUse measures the open conversation's next request.
func (a Contents) ContextUse(ctx context.Context) (agent.ContextUse, error) {
	conv := a.Board.Open()
	if conv == nil {
		return agent.ContextUse{}, core.ErrNoMessages
	}
	return conv.ContextUse(ctx)
}

// ChangedFiles returns the diffs that the open session's tools made, file by file.
func (a Contents) ChangedFiles(ctx context.Context) ([]command.FileChange, error) {
	id := a.Board.Session()
	if id == "" {
		return nil, nil
	}
	rows, err := a.Store.History().All(ctx, id)
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

// Undoable says what /undo would restore.
func (a Contents) Undoable(ctx context.Context) (command.Undoable, error) {
	id := a.Board.Session()
	if id == "" {
		return command.Undoable{}, core.ErrNoMessages
	}
	all, err := a.Store.Checkpoints().Changes(ctx, id)
	if err != nil {
		return command.Undoable{}, err
	}
	for _, change := range slices.Backward(all) {
		if len(change.Paths) == 0 {
			continue
		}
		u := command.Undoable{Prompt: int64(change.Turn), Name: change.Name}
		for _, path := range change.Paths {
			u.Files = append(u.Files, command.FileChange{Path: a.Shown(path)})
		}
		return u, nil
	}
	return command.Undoable{}, session.ErrNothing
}
