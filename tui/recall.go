package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
)

// recall walks through earlier prompts with Up and Down.
type recall struct {
	prompts []string // newest last
	at      int      // index of the prompt in the input; len(prompts) = the draft
	draft   [][]glyph
}

// maxRecall bounds the prompts that are kept in memory.
const maxRecall = 2000

func (r *recall) add(s string) {
	if n := len(r.prompts); n == 0 || r.prompts[n-1] != s {
		r.prompts = append(r.prompts, s)
		if len(r.prompts) > maxRecall {
			r.prompts = r.prompts[1:]
		}
	}
	r.at, r.draft = len(r.prompts), nil
}

// older puts the prompt before into the input; what was being written is kept.
func (r *recall) older(e *editor) {
	if r.at == 0 {
		return
	}
	if r.at == len(r.prompts) {
		r.draft = cloneLines(e.lines)
	}
	r.at--
	r.put(e)
}

// newer goes back towards what was being written.
func (r *recall) newer(e *editor) {
	if r.at >= len(r.prompts) {
		return
	}
	r.at++
	r.put(e)
}

func (r *recall) put(e *editor) {
	if r.at == len(r.prompts) {
		e.replace(pos{}, e.end(), r.draft, false)
		return
	}
	e.remove(pos{}, e.end())
	e.Paste(r.prompts[r.at]) // a long one shows as a chip, with the real text behind it
}

// loadHistory reads the prompts of this project.
func (p *program) loadHistory() tea.Cmd {
	h := p.opt.History
	if h == nil {
		return nil
	}
	return p.background(func(ctx context.Context) do {
		recent, err := h.Recent(ctx)
		return func(p *program) tea.Cmd {
			if err != nil {
				p.say(agent.LevelWarn, "the history of prompts could not be read: "+err.Error())
				return nil
			}
			own := p.hist.prompts
			p.hist.prompts = nil
			for i := len(recent) - 1; i >= 0; i-- {
				p.hist.prompts = append(p.hist.prompts, recent[i])
			}
			p.hist.prompts = append(p.hist.prompts, own...)
			p.hist.at = len(p.hist.prompts)
			return nil
		}
	})
}

// historyPicker searches earlier prompts (Ctrl+R).
func (p *program) historyPicker() *picker {
	var rows []Row
	seen := map[string]bool{}
	for i := len(p.hist.prompts) - 1; i >= 0; i-- {
		s := p.hist.prompts[i]
		if !seen[s] {
			seen[s] = true
			rows = append(rows, Row{ID: s, Name: oneLine(s), Detail: s})
		}
	}
	pk := newPicker("Earlier prompts", rows, func(p *program, r Row) tea.Cmd {
		p.in.remove(pos{}, p.in.end())
		p.in.Paste(r.ID)
		return nil
	})
	pk.empty = "no earlier prompt in this project"
	return pk
}
