package tui

import (
	"context"
	"encoding/json"
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
func (a *around) read(p *program) tea.Cmd {
	branch, command := p.opt.Branch, p.opt.StatusCommand
	switch {
	case branch == nil && command == nil:
		return nil
	case a.reads:
		a.again = true
		return nil
	}
	a.reads = true
	state := statusState{
		Model: p.state.Model, Mode: string(p.state.Mode), Role: p.state.Role, Title: p.state.Title, Session: p.state.Session, Cwd: p.state.Cwd,
		Context: p.usage.Context, Window: p.usage.Window, Cost: p.usage.Cost, Priced: p.usage.Priced, Width: p.width, Version: p.opt.Version,
	}
	if state.Cwd == "" {
		state.Cwd = p.opt.Cwd
	}
	return p.Background(func(ctx context.Context) dialog.Do {
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
				p.Flash("status_line: " + failed.Error())
			}
			if a.again {
				a.again = false
				return a.read(p)
			}
			return nil
		}
	})
}

// look reads what the start shows of the folder.
func (a *around) look(p *program) tea.Cmd {
	if p.opt.Project == nil {
		return nil
	}
	read := p.opt.Project
	return p.Background(func(ctx context.Context) dialog.Do {
		found := read(ctx)
		return func() tea.Cmd {
			a.project = &found
			p.restyle()
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
	first, _, _ := strings.Cut(strings.TrimLeft(out, "\r\n"), "\n")
	return look.OneLine(text.Clean(first)), err
}
