package tui

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tools/command"
	"jcode/tui/dialog"
)

// pick opens a picker whose rows are read outside the loop.
func pick(l *loop, s *scene, title, empty string, rows func(ctx context.Context) ([]command.Row, error), choose func(r command.Row) tea.Cmd) tea.Cmd {
	if rows == nil {
		s.Flash(empty)
		return nil
	}
	pk := dialog.NewPicker(title, nil, choose)
	pk.Empty = empty
	s.Open(pk)
	return fill(l, pk, rows)
}

// fill reads a picker's rows.
func fill(l *loop, pk *dialog.Picker, rows func(ctx context.Context) ([]command.Row, error)) tea.Cmd {
	return refill(l, pk, rows, func() {})
}

// refill reads a picker's rows and runs then at the moment they are set.
func refill(l *loop, pk *dialog.Picker, rows func(ctx context.Context) ([]command.Row, error), then func()) tea.Cmd {
	pk.Loading = len(pk.Rows) == 0
	return dialog.Fetch(l, rows, func(got []command.Row, err error) tea.Cmd {
		pk.Set(got)
		then()
		if err != nil {
			pk.Failed = err.Error()
		}
		if pk.Live {
			return pk.Reread(l)
		}
		return pk.Searched(l) // new rows do not know the search
	})
}

// changedMsg says that what the status line or a live panel shows has changed.
type changedMsg struct{}

// liveEvery limits how often changes are shown. What is not reported (the output of a server, passing time)
// is reread after liveAnyway.
const (
	liveEvery  = 100 * time.Millisecond
	liveAnyway = time.Second
)

// keepLive rereads the rows of a live panel while it is open.
func (p *panels) keepLive(pk *dialog.Picker) tea.Cmd {
	return p.Background(func(ctx context.Context) dialog.Do {
		select {
		case <-time.After(liveAnyway):
		case <-ctx.Done():
			return nil
		}
		return func() tea.Cmd {
			switch {
			case !slices.Contains(p.stack.Dialogs, dialog.Dialog(pk)):
				return nil
			case pk.Loading:
				return p.keepLive(pk)
			}
			return tea.Batch(pk.Reload(func() {}), p.keepLive(pk))
		}
	})
}

// follow brings changes into the loop until ctx ends; bursts are combined.
func follow(ctx context.Context, changed func(context.Context) bool, send func(tea.Msg)) {
	for changed(ctx) {
		send(changedMsg{})
		select {
		case <-time.After(liveEvery):
		case <-ctx.Done():
			return
		}
	}
}

// refreshLive rereads the rows of live panels.
func (p *panels) refreshLive() tea.Cmd {
	var all []tea.Cmd
	for _, d := range p.stack.Dialogs {
		if pk, ok := d.(*dialog.Picker); ok && pk.Live && !pk.Loading {
			all = append(all, pk.Reload(func() {}))
		}
	}
	return tea.Batch(all...)
}

// editRow opens what the words after a command name in the person's editor.
func (p *panels) editRow(pl *command.Panel, words string, row command.Row) tea.Cmd {
	edit := &pl.Actions[slices.IndexFunc(pl.Actions, func(a command.Action) bool { return a.Edit != nil })]
	file, err := edit.Edit(row)
	if err != nil {
		return p.told(pl, words, command.Answer{}, err)
	}
	return p.outside.edit(file, func(err error) tea.Cmd {
		if err != nil || edit.Edited == nil {
			return p.told(pl, words, command.Answer{}, err)
		}
		edited := func(ctx context.Context) (string, error) { return edit.Edited(ctx, row, file) }
		return dialog.Fetch(p, edited, func(notice string, err error) tea.Cmd {
			return p.told(pl, words, command.Answer{Notice: notice}, err)
		})
	})
}

// told shows what the words after a panel's command did.
func (p *panels) told(pl *command.Panel, words string, answer command.Answer, err error) tea.Cmd {
	line := "/" + pl.Name + " " + words
	out := command.Outcome{Notice: answer.Notice}
	if answer.Notice != "" && answer.Shows {
		out.Page = line
	}
	return p.slashes.outcome(line, out, err)
}

// openPanel shows a panel, or runs the words after its command.
func (p *panels) openPanel(pl *command.Panel, query string) tea.Cmd {
	if query != "" && p.conv == nil && p.switcher.moving { // the words may refer to the new session
		return p.switcher.whenReady(func() tea.Cmd { return p.openPanel(pl, query) })
	}
	if query != "" {
		run := func(ctx context.Context) (command.Answer, error) { return pl.Do(ctx, query) }
		return dialog.Fetch(p, run, func(answer command.Answer, err error) tea.Cmd {
			switch {
			case err == nil && answer.Search:
				return p.showPanel(pl, query)
			case err == nil && answer.Edit != nil:
				return p.editRow(pl, query, *answer.Edit)
			}
			return p.told(pl, query, answer, err)
		})
	}
	return p.showPanel(pl, "")
}

// showPanel shows the list of a panel, searched for words.
func (p *panels) showPanel(pl *command.Panel, query string) tea.Cmd {
	pk := dialog.NewPicker(cmp.Or(pl.Title, pl.Name), nil, nil)
	pk.Empty, pk.Live = pl.Empty, pl.Live
	if pl.Preview != nil {
		pk.Preview = func(ctx context.Context, r command.Row, _ string) (string, error) { return pl.Preview(ctx, r) }
	}
	if len(pl.Actions) > 0 {
		first := pl.Actions[0]
		first.Key, pk.Enter = "enter", first.Label
		pk.Choose, pk.Stays = func(_ command.Row) tea.Cmd { return pk.Run(p, &first) }, true
		pk.Actions = pl.Actions[1:]
		pk.Command, pk.Editor, pk.Lend = p.slashes.line, p.outside.edit, p.outside.lend
	}
	pk.Reload = func(then func()) tea.Cmd { return refill(p.loop, pk, pl.Rows, then) }
	pk.Search.Paste(query)
	p.Open(pk)
	if pl.Live {
		return tea.Batch(fill(p.loop, pk, pl.Rows), p.keepLive(pk))
	}
	return fill(p.loop, pk, pl.Rows)
}

// changes lists the files that the session changed, with their diffs.
func (p *panels) changes() tea.Cmd {
	if p.opt.Changes == nil {
		p.Flash("changes are not tracked here")
		return nil
	}
	return dialog.Fetch(p, p.opt.Changes, func(files []command.FileChange, err error) tea.Cmd {
		if err != nil {
			p.Say(event.LevelError, "diff: "+err.Error())
			return nil
		}
		p.Open(dialog.NewChanges(files))
		return nil
	})
}

// askTrust is /trust: the question again about what is not trusted here.
func (p *panels) askTrust() tea.Cmd {
	if p.opt.TrustAgain == nil {
		p.Flash("there is nothing to trust here")
		return nil
	}
	return dialog.Fetch(p, p.opt.TrustAgain, func(t *command.Trust, err error) tea.Cmd {
		switch {
		case err != nil:
			p.Say(event.LevelError, "/trust: "+err.Error())
		case t == nil:
			p.Flash("everything in this folder is trusted, or nothing in it could run")
		default:
			v := dialog.NewTrust(*t)
			p.ask(v)
			v.Turn() // the person asked for it
		}
		return nil
	})
}
