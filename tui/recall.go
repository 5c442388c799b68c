package tui

import (
	"context"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/editor"
	"jcode/tui/front"
	"jcode/tui/look"
)

// recall walks through earlier prompts with Up and Down.
type recall struct {
	prompts []string // newest last
	at      int      // index of the prompt in the input; len(prompts) = the draft
	draft   editor.Content
	loading bool // the prompts of earlier runs are still being read
	wanted  int  // steps back beyond what is loaded so far, taken once the prompts are read
	typed   int  // the input's generation at the first of these steps
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
	r.at, r.draft, r.wanted = len(r.prompts), nil, 0
}

// older puts the previous prompt into the input; what was being written is kept.
func (r *recall) older(e *editor.Editor) {
	if r.at == 0 {
		if r.loading {
			if r.wanted == 0 || r.typed != e.Generation() {
				r.wanted, r.typed = 0, e.Generation()
			}
			r.wanted++
		}
		return
	}
	if r.at == len(r.prompts) {
		r.draft = e.Content()
	}
	r.at--
	r.put(e)
}

// newer moves back towards what was being written.
func (r *recall) newer(e *editor.Editor) {
	if r.wanted > 0 {
		r.wanted--
		return
	}
	if r.at >= len(r.prompts) {
		return
	}
	r.at++
	r.put(e)
}

// load puts the prompts of earlier runs, newest first, before those of this one, and takes the steps that
// were requested meanwhile unless something was written after them.
func (r *recall) load(recent []string, e *editor.Editor) {
	own := r.prompts
	r.prompts = slices.Clone(recent)
	slices.Reverse(r.prompts)
	r.prompts = append(r.prompts, own...)
	r.at += len(recent)
	steps := r.wanted
	r.loading, r.wanted = false, 0
	if r.typed != e.Generation() {
		return
	}
	for range steps {
		r.older(e)
	}
}

func (r *recall) put(e *editor.Editor) {
	if r.at == len(r.prompts) {
		e.SetContent(r.draft)
		return
	}
	e.Clear()
	e.Paste(r.prompts[r.at]) // a long one is shown as a chip for the real text
}

// loadHistory reads the prompts of this project.
func (p *program) loadHistory() tea.Cmd {
	h := p.opt.History
	if h == nil {
		return nil
	}
	p.hist.loading = true
	return dialog.Fetch(p, h.Recent, func(recent []string, err error) tea.Cmd {
		if err != nil {
			p.Say(event.LevelWarn, "the history of prompts could not be read: "+err.Error())
		}
		p.hist.load(recent, p.in)
		return nil
	})
}

// historyPicker searches earlier prompts (Ctrl+R).
func (p *panels) historyPicker() *dialog.Picker {
	var rows []command.Row
	seen := map[string]bool{}
	for i := len(p.hist.prompts) - 1; i >= 0; i-- {
		s := p.hist.prompts[i]
		if !seen[s] {
			seen[s] = true
			rows = append(rows, command.Row{ID: s, Name: look.OneLine(s), Detail: s})
		}
	}
	pk := dialog.NewPicker("Earlier prompts", rows, func(r command.Row) tea.Cmd {
		p.in.Clear()
		p.in.Paste(r.ID)
		return nil
	})
	pk.Empty = "no earlier prompt in this project"
	return pk
}

// draftPause is how long after a change the draft is saved.
const draftPause = 1500 * time.Millisecond

// draftMsg says that it is time to save the draft.
type draftMsg struct{}

// drafts saves what was written and not sent. Writes run outside the loop; an older one never replaces a
// newer one.
type drafts struct {
	waiting bool // a draftMsg is on its way
	kept    int  // generation of the input that was last saved

	mu      sync.Mutex
	written int
}

// changed returns a command that saves the draft a little later.
func (d *drafts) changed(p *program) tea.Cmd {
	if d.waiting || p.opt.History == nil || p.in.Generation() == d.kept {
		return nil
	}
	d.waiting = true
	ctx := p.ctx
	return func() tea.Msg {
		pause := time.NewTimer(draftPause)
		defer pause.Stop()
		select {
		case <-pause.C:
			return draftMsg{}
		case <-ctx.Done(): // it is saved at the end
			return nil
		}
	}
}

// keep returns a command that writes the draft now.
func (d *drafts) keep(p *program) tea.Cmd {
	h := p.opt.History
	if h == nil || p.in.Generation() == d.kept {
		return nil
	}
	d.kept = p.in.Generation()
	generation, s, ctx := p.in.Generation(), p.stash.with(p.in.Text()), p.ctx
	return func() tea.Msg {
		return p.warnedOnce(ctx, "the draft could not be kept", d.write(ctx, h, generation, s))
	}
}

// keepNow writes the draft when the program has ended.
func (d *drafts) keepNow(ctx context.Context, p *program) error {
	if p.opt.History == nil || p.in.Generation() == d.kept {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	return d.write(ctx, p.opt.History, p.in.Generation(), p.stash.with(p.in.Text()))
}

func (d *drafts) write(ctx context.Context, h front.History, generation int, s string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if generation < d.written {
		return nil
	}
	d.written = generation
	return h.SetDraft(ctx, s)
}
