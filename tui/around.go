package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/text"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/look"
)

// statusLimit is how long a person's command for the status line may take.
const statusLimit = time.Second

// around is what the status line shows of the world around the conversation. It is read between turns, outside the
// loop.
type around struct {
	branch string // with * if files differ from it
	line   string // what the person's command wrote
	// project is what the start shows; nil until it is known.
	project *front.Project
	reads   bool
	again   bool // something changed while it was read
}

// statusState is what a person's command for the status line reads.
type statusState struct {
	Model   string  `json:"model"`
	Mode    string  `json:"mode"`
	Role    string  `json:"role,omitempty"`
	Title   string  `json:"title,omitempty"`
	Session string  `json:"session_id,omitempty"`
	Cwd     string  `json:"cwd"`
	Branch  string  `json:"branch,omitempty"`
	Context int     `json:"context_tokens"`
	Window  int     `json:"context_window,omitempty"`
	Cost    float64 `json:"cost_usd"`
	Priced  bool    `json:"cost_known"`
	Width   int     `json:"columns"`
	Version string  `json:"version"`
}

// read reads the branch, and runs the person's command if there is one.
func (a *around) read(l *loop, s *scene, t *talk) tea.Cmd {
	branch, command := l.opt.Branch, l.opt.StatusCommand
	switch {
	case branch == nil && command == nil:
		return nil
	case a.reads:
		a.again = true
		return nil
	}
	a.reads = true
	state := statusState{
		Model: t.state.Model, Mode: string(t.state.Mode), Role: t.state.Role, Title: t.state.Title, Session: t.state.Session, Cwd: t.state.Cwd,
		Context: t.usage.Context, Window: t.usage.Window, Cost: t.usage.Cost, Priced: t.usage.Priced, Width: s.width, Version: l.opt.Version,
	}
	if state.Cwd == "" {
		state.Cwd = l.opt.Cwd
	}
	return l.Background(func(ctx context.Context) dialog.Do {
		name, line := "", ""
		var failed error
		if branch != nil {
			name = branch(ctx)
		}
		if state.Branch = name; command != nil {
			line, failed = statusFrom(ctx, command, state)
		}
		return func() tea.Cmd {
			a.reads, a.branch, a.line = false, name, line
			if failed != nil && ctx.Err() == nil {
				s.Flash("status_line: " + failed.Error())
			}
			if a.again {
				a.again = false
				return a.read(l, s, t)
			}
			return nil
		}
	})
}

// look reads what the start shows of the folder.
func (a *around) look(l *loop, s *scene) tea.Cmd {
	if l.opt.Project == nil {
		return nil
	}
	read := l.opt.Project
	return l.Background(func(ctx context.Context) dialog.Do {
		found := read(ctx)
		return func() tea.Cmd {
			a.project = &found
			s.restyle()
			return nil
		}
	})
}

// statusFrom returns the first line that a command for the status line writes, without its escapes.
func statusFrom(ctx context.Context, command func(ctx context.Context, state []byte) (string, error), state statusState) (string, error) {
	data, err := json.Marshal(state)
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithTimeout(ctx, statusLimit)
	defer stop()
	out, err := command(ctx, data)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("the command takes longer than %s", statusLimit)
	}
	first, _, _ := strings.Cut(strings.TrimLeft(out, "\r\n"), "\n")
	return look.OneLine(text.Clean(first)), err
}
