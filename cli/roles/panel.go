package rolescli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jcode/cli/board"
	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/cli/core"
	"jcode/internal/launch"
	"jcode/internal/slicex"
	"jcode/session"
	"jcode/session/role"
	"jcode/tools/command"
)

// Actions are the actions of a person on roles: the panel, the words of /role, edits.
type Actions struct {
	Layers  func() *role.Layers
	Store   *session.Store
	Board   *board.Board
	Std     console.Streams
	Paths   config.Paths
	Editor  launch.Programs                                      // finds it
	Reenter func(ctx context.Context, name string) (bool, error) // re-enters a role if it is in force
}

// panel lists the roles; Enter works in one.
func (a Actions) panel() command.Panel {
	return command.Panel{
		Name: "roles", Help: "roles: work in one, edit, delete", Title: "Roles", Rows: a.Rows,
		Actions: []command.Action{
			{Label: "work in it", Command: func(row command.Row) string { return "/role " + row.ID }},
			{Key: "ctrl+e", Label: "edit", Edit: a.ToEdit, Edited: a.Edited},
			{Key: "ctrl+d", Label: "delete", Confirm: true, Run: a.deleteRole},
		},
		Verbs: a.verbs(),
	}
}

// ToEdit returns the file in which a role is edited.
func (a Actions) ToEdit(row command.Row) (string, error) {
	role, err := a.Layers().Get(context.Background(), row.ID)
	if err != nil {
		return "", err
	}
	return a.roleFile(role)
}

// Edited applies an edited role, and re-enters it if the session is in it.
func (a Actions) Edited(ctx context.Context, row command.Row, file string) (string, error) {
	role, err := a.Layers().Get(ctx, row.ID)
	if err != nil {
		return "", err
	}
	changed, err := a.takeRole(ctx, role, file)
	if err != nil {
		return "", err
	}
	if role, err = a.Layers().Get(ctx, row.ID); err == nil {
		err = role.Usable()
	}
	if err != nil {
		return "", err
	}
	if role.Path == "" && !changed {
		return row.ID + " is unchanged", nil
	}
	entered, err := a.Reenter(ctx, row.ID)
	switch {
	case err != nil:
		return "", err
	case entered:
		return row.ID + " is entered again", nil
	}
	return row.ID + " is kept", nil
}

// Write creates a role file in a folder; an existing one is not changed.
func Write(dir, name, text string) (string, error) {
	if err := role.CheckName(name); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+".md")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return path, errors.Join(err, f.Close())
}

func (a Actions) deleteRole(ctx context.Context, row command.Row) (string, error) {
	said, err := a.removeRole(ctx, row.ID)
	if conv := a.Board.Open(); err == nil && conv != nil && conv.State().Role == row.ID {
		said += "; this session stays in it until /role"
	}
	return said, err
}

// verbs are the words of /roles.
func (a Actions) verbs() command.Verbs {
	return Table().Verbs(a.names, command.Deeds{
		"edit":   {Edit: a.roleToOpen},
		"new":    {Edit: a.newRole},
		"save":   {Run: a.saveRole},
		"export": {Run: a.exportRole},
	})
}

// names proposes roles.
func (a Actions) names(ctx context.Context, _ string) []string {
	all, _ := a.Layers().List(ctx) // the list reports what can't be read
	return slicex.Map(all, func(l role.Listing) string { return l.Role.Name })
}

// roleToOpen finds the role of /roles edit NAME.
func (a Actions) roleToOpen(ctx context.Context, name string) (command.Row, error) {
	_, err := a.Layers().Get(ctx, name)
	if errors.Is(err, role.ErrUnknown) {
		err = fmt.Errorf("%w; /roles new %s makes it", err, name)
	}
	return command.Row{ID: name}, err
}

// newRole writes the role of /roles new NAME.
func (a Actions) newRole(ctx context.Context, name string) (command.Row, error) {
	_, err := a.Layers().Get(ctx, name)
	switch {
	case err == nil:
		return command.Row{}, fmt.Errorf("role %s already exists: /roles edit %s", name, name)
	case errors.Is(err, role.ErrUnknown):
		_, err = Write(filepath.Join(a.Paths.Config, "roles"), name, newRole)
	}
	return command.Row{ID: name}, err
}

// exportRole runs /roles export NAME [FILE].
func (a Actions) exportRole(ctx context.Context, words string) (string, error) {
	name, file, _ := strings.Cut(words, " ")
	role, err := a.Layers().Get(ctx, name)
	if err != nil {
		return "", err
	}
	if file = strings.TrimSpace(file); file == "" {
		file = name + ".md"
	}
	if old, err := os.ReadFile(file); err == nil && string(old) != role.Text {
		return "", fmt.Errorf("%s already exists and says something else: choose another name", file)
	}
	return "written to " + file, os.WriteFile(file, []byte(role.Text), 0o644)
}

// saveRole stores the session's settings as a role in the database.
func (a Actions) saveRole(ctx context.Context, name string) (string, error) {
	if err := role.CheckName(name); err != nil {
		return "", err
	}
	conv := a.Board.Open()
	if conv == nil {
		return "", core.ErrNoMessages
	}
	state, tuning := conv.State(), conv.Tuning()
	kept := role.Role{Body: "You work as in the session that this role was saved from.\n"}
	if state.Role != "" {
		base, err := a.Layers().Get(ctx, state.Role)
		if err != nil {
			return "", err
		}
		kept = base
	}
	kept.Name, kept.Description = name, "Saved settings of a session"
	kept.Source, kept.Path, kept.Text = "", "", ""
	kept.Model, kept.Mode = state.Model, string(state.Mode)
	kept.Temperature, kept.TopP = tuning.Temperature, tuning.TopP
	kept.ReasoningEffort, kept.MaxOutputTokens = tuning.ReasoningEffort, tuning.MaxOutputTokens
	if err := a.Store.Roles().Save(ctx, name, role.Format(kept)); err != nil {
		return "", err
	}
	return fmt.Sprintf("role %s keeps the model, mode and settings of this session: jcode roles edit %s changes it", name, name), nil
}

// Rows lists the roles with their sources.
func (a Actions) Rows(ctx context.Context) ([]command.Row, error) {
	all, err := a.Layers().List(ctx)
	if err != nil {
		return nil, err
	}
	current := ""
	if conv := a.Board.Open(); conv != nil {
		current = conv.State().Role
	}
	return slicex.Map(all, func(l role.Listing) command.Row {
		line := LineOf(l)
		keys := []string{"work in it", "edit"}
		if l.Counts() && !l.Source.FromProject() && l.Source != role.Builtin && l.Source != role.Plugin {
			keys = append(keys, "delete")
		}
		return command.Row{Keys: keys, ID: line.Name, Name: line.Name, Info: line.Description, State: line.Source, Current: line.Name == current, Bad: !line.Usable, Detail: Detail(line)}
	}), nil
}

// Detail says what is wrong with a role, and what it sets.
func Detail(line Line) string {
	out := line.Problems
	if line.Model != "" {
		out = append(out, "model: "+line.Model)
	}
	if line.Mode != "" {
		out = append(out, "at most mode "+line.Mode)
	}
	if line.Path != "" {
		out = append(out, line.Path)
	}
	if len(line.Shadows) > 0 {
		out = append(out, "takes precedence over: "+strings.Join(line.Shadows, ", "))
	}
	return strings.Join(out, "\n")
}
