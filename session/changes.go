package session

import (
	"context"
	"slices"

	"jcode/session/db"
)

// Begin returns a turn number for what a person does in a session without a prompt, such as a command of their own:
// an undo reverts it apart from the turn before it and from what they do next. name says what that is. The number is
// one that no message gets.
func (c *Checkpoints) Begin(ctx context.Context, sessionID, name string) (turn int, err error) {
	err = c.s.changeIn(ctx, sessionID, "begin a change", func(t *tx) error {
		var n int64
		if err := t.Row("SELECT n, last_seq + 1 FROM sessions WHERE id = ?", []any{sessionID}, &n, &turn); err != nil {
			return err
		}
		if turn > maxSeq {
			return errFull
		}
		if err := t.run("UPDATE sessions SET last_seq = ? WHERE n = ?", turn, n); err != nil {
			return err
		}
		return t.run("INSERT INTO change_names (session, turn, name) VALUES (?, ?, ?)", n, turn, name)
	})
	return turn, err
}

// TurnChanges lists the changes of one turn that an undo would consider.
type TurnChanges struct {
	Turn   int
	Name   string            // what they are called if no prompt made them
	Paths  []string          // sorted
	By     map[string]string // what changed a path, where that was not one of jcode's own tools
	Cannot []string          // what can't be undone, in order
}

// Changes returns the turns of a session whose changes were not undone, oldest first.
func (c *Checkpoints) Changes(ctx context.Context, sessionID string) ([]TurnChanges, error) {
	return c.turns(ctx, sessionID, rowLive)
}

// Undone returns the turns whose changes were undone and can be redone, oldest first.
func (c *Checkpoints) Undone(ctx context.Context, sessionID string) ([]TurnChanges, error) {
	return c.turns(ctx, sessionID, rowUndone)
}

func (c *Checkpoints) turns(ctx context.Context, sessionID, state string) ([]TurnChanges, error) {
	c, done := c.of(sessionID)
	defer done()
	rows, err := c.rows(ctx, sessionID, state)
	if err != nil {
		return nil, err
	}
	var all []TurnChanges
	for _, r := range rows {
		if len(all) == 0 || all[len(all)-1].Turn != r.turn {
			all = append(all, TurnChanges{Turn: r.turn})
		}
		last := &all[len(all)-1]
		if r.before.kind == kindNote {
			last.Cannot = append(last.Cannot, r.path)
			continue
		}
		if last.Paths = append(last.Paths, r.path); r.author != "" {
			if last.By == nil {
				last.By = map[string]string{}
			}
			last.By[r.path] = r.author
		}
	}
	names, err := c.names(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	for i := range all {
		slices.Sort(all[i].Paths)
		all[i].Paths = slices.Compact(all[i].Paths)
		all[i].Name = names[all[i].Turn]
	}
	return all, nil
}

// NameOf returns what the changes under a turn number are called that no prompt made, "" for others.
func (c *Checkpoints) NameOf(ctx context.Context, sessionID string, turn int) (string, error) {
	c, done := c.of(sessionID)
	defer done()
	names, err := c.names(ctx, sessionID)
	return names[turn], err
}

// names returns what the changes of a session are called that no prompt made.
func (c *Checkpoints) names(ctx context.Context, sessionID string) (map[int]string, error) {
	names := map[int]string{}
	_, err := fetch(ctx, c.s, "names of changes", "SELECT c.turn, c.name FROM change_names c JOIN sessions s ON s.n = c.session WHERE s.id = ?",
		[]any{sessionID}, func(scan db.Scan) (none struct{}, err error) {
			var turn int
			var name string
			err = scan(&turn, &name)
			names[turn] = name
			return none, err
		})
	return names, err
}
