package agentscli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/internal/paths"
	"jcode/session"
	"jcode/tools/command"
)

const (
	// otherProcess marks the row of a session of another process in the list of agents.
	otherProcess = "process:"
	// changesShown is how far back the list names the files that a session changed, filesShown
	// how many of them.
	changesShown = 24 * time.Hour
	filesShown   = 12
)

// elsewhereRows returns the sessions of this project that other processes work with.
func (a Actions) elsewhereRows(ctx context.Context, claims []session.Editor) ([]command.Row, error) {
	list, err := a.Store.Elsewhere(ctx, a.Project)
	if err != nil {
		return nil, err
	}
	rows := make([]command.Row, 0, len(list))
	for _, e := range list {
		row := command.Row{ID: otherProcess + strconv.Itoa(e.PID), Name: e.Who(), State: fmt.Sprintf("in another jcode, process %d", e.PID), Keys: []string{}}
		works := a.claimed(claims, e.Session, a.Root)
		if works != "" {
			row.Info = "works on " + works
		}
		changed, err := a.changed(ctx, e.Session, a.Root)
		if err != nil {
			return nil, err
		}
		row.Detail = workDetail("session "+session.ShortID(e.Session), works, changed)
		rows = append(rows, row)
	}
	return rows, nil
}

// workDetail describes a session's changes to files, below what else is known about it.
func workDetail(head, works, changed string) string {
	if works != "" {
		head += "\nworks on: " + works
	}
	if changed != "" {
		head += "\nchanged: " + changed
	}
	return head
}

// claimed names the files that a session has claimed, "" for none.
func (a Actions) claimed(claims []session.Editor, id, dir string) string {
	var files []string
	for _, c := range claims {
		if c.Session == id {
			files = append(files, below(dir, c.Path))
		}
	}
	return fewFiles(files)
}

// changed names the files that a session changed recently, the latest first; "" for none.
func (a Actions) changed(ctx context.Context, id, dir string) (string, error) {
	list, err := a.Store.Edits().Of(ctx, id, time.Now().Add(-changesShown))
	files := make([]string, len(list))
	for i, e := range list {
		if files[i] = below(dir, e.Path); e.Command {
			files[i] += " (while a command ran)"
		}
	}
	return fewFiles(files), err
}

func fewFiles(files []string) string {
	if more := len(files) - filesShown; more > 0 {
		files = append(slices.Clone(files[:filesShown]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(files, ", ")
}

// below returns a path relative to a folder that contains it.
func below(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && paths.Within(dir, path) {
		path = filepath.ToSlash(rel)
	}
	return paths.Escape(path)
}

// atWork returns an error for a row that is not an agent of this conversation: the actions on agents do not
// apply to it.
func atWork(row command.Row) error {
	if name, ok := strings.CutPrefix(row.ID, definition); ok {
		return fmt.Errorf("%s is a definition, not a running agent: ask for an agent in this role, or /role %s works in it yourself", name, name)
	}
	if pid, ok := strings.CutPrefix(row.ID, otherProcess); ok {
		return errors.New(row.Name + " belongs to another jcode (process " + pid + "): do that there")
	}
	return nil
}
