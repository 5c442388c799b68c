package windowscli

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"jcode/agent"
	"jcode/cli/undo"
	"jcode/internal/text"
	"jcode/remote"
	"jcode/tools/command"
)

// Actions are what other windows do with a session that its owner does with commands.
type Actions struct {
	Undoing undo.Turns
	// Roles lists the roles that there are, Models the models that the settings name.
	Roles  func(ctx context.Context) ([]command.Row, error)
	Models func() []string
	// Files finds names of files for what was typed.
	Files func(ctx context.Context, query string, most int) ([]string, error)
}

// Of returns the actions for a conversation.
func (w Actions) Of(conv *agent.Conversation) remote.Actions {
	return &actionsOf{with: w, conv: conv}
}

// actionsOf implements remote.Actions for one conversation.
type actionsOf struct {
	with Actions
	conv *agent.Conversation

	mu      sync.Mutex
	entered string // the role that another window entered last
}

// Undo implements remote.Actions.
func (a *actionsOf) Undo(ctx context.Context) (string, error) {
	return a.with.Undoing.Undo(ctx, a.conv.ID())
}

// Redo implements remote.Actions.
func (a *actionsOf) Redo(ctx context.Context) (string, error) {
	return a.with.Undoing.Redo(ctx, a.conv.ID())
}

// Rewind implements remote.Actions.
func (a *actionsOf) Rewind(ctx context.Context, seq int64, what string) (said, draft string, err error) {
	rows, err := a.with.Undoing.Store.History().All(ctx, a.conv.ID())
	if err != nil {
		return "", "", err
	}
	for _, m := range undo.Prompts(rows) {
		if m.Seq == seq {
			out, err := a.with.Undoing.Rewind(ctx, a.conv, m, what)
			return out.Notice, out.Draft, err
		}
	}
	return "", "", errors.New("the session has no such message of the user any more")
}

// SetRole implements remote.Actions. A role that limits what may be done, and that was entered at the terminal, is left
// there: whoever is elsewhere may not do more than the terminal allows itself.
func (a *actionsOf) SetRole(ctx context.Context, name string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.conv.Role()
	if now.Name == name {
		return nil
	}
	if now.Scope != nil && now.Name != a.entered {
		return fmt.Errorf("role %s limits what may be done and was entered at the terminal: it is left there", now.Name)
	}
	if err := a.conv.SetRole(ctx, name); err != nil {
		return err
	}
	a.entered = name
	return nil
}

// Choices implements remote.Actions. No endpoint is asked: only the models of the settings are known.
func (a *actionsOf) Choices(ctx context.Context) (out remote.Choices, err error) {
	rows, err := a.with.Roles(ctx)
	for _, r := range rows {
		if !r.Bad {
			out.Roles = append(out.Roles, remote.Choice{Name: r.ID, Info: text.OneLine(r.Info), Current: r.Current})
		}
	}
	current := a.conv.State().Model
	out.Models = append(out.Models, remote.Choice{Name: current, Current: true})
	for _, m := range a.with.Models() {
		if m != current {
			out.Models = append(out.Models, remote.Choice{Name: m})
		}
	}
	return out, err
}

// Files implements remote.Actions.
func (a *actionsOf) Files(ctx context.Context, query string, most int) ([]string, error) {
	return a.with.Files(ctx, query, most)
}

// Output implements remote.Actions.
func (a *actionsOf) Output(name string) string { return a.conv.Agents().Output(name) }

// Message implements remote.Actions.
func (a *actionsOf) Message(ctx context.Context, name, said string) error {
	return a.conv.Agents().Message(ctx, name, said)
}

// Stop implements remote.Actions.
func (a *actionsOf) Stop(ctx context.Context, name string) error {
	return a.conv.Agents().Stop(ctx, name)
}
