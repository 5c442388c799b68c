package session

import (
	"context"
	"slices"

	"jcode/session/db"
)

// Name says what the changes under a turn number are called that no prompt made. If they have a name already, both
// count.
func (c *Checkpoints) Name(ctx context.Context, sessionID string, turn int, name string) error {
	return c.s.changeIn(ctx, sessionID, "name a change", func(t *tx) error {
		n, turn, err := t.person(sessionID, turn)
		if err != nil {
			return err
		}
		return t.run(`INSERT INTO change_names (session, turn, name) VALUES (?1, ?2, ?3)
			ON CONFLICT (session, turn) DO UPDATE SET name = CASE WHEN instr(name, ?3) > 0 THEN name ELSE name || ' and ' || ?3 END`, n, turn, name)
	})
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
