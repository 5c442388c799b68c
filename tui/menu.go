package tui

import (
	"context"
	"sort"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/editor"
	"jcode/tui/look"
)

// choice is one line of the completion menu.
type choice struct {
	// insert replaces what is being completed.
	insert, name, info string
}

// menu completes what is being typed: commands, their arguments, files.
type menu struct {
	choices []choice
	at      int
	moved   bool // the person moved in it: Enter takes the choice
	start   int  // column at which the completed word begins
	kind    menuKind
	empty   string // what is said if nothing matches what was typed
}

type menuKind int

const (
	menuNone menuKind = iota
	menuCommand
	menuArgument
	menuFile
)

func (m *menu) active() bool { return len(m.choices) > 0 }
func (m *menu) close()       { *m = menu{} }

func (m *menu) draw(l *look.Look, width, height int) []string {
	switch {
	case height < 1:
		return nil
	case !m.active() && m.empty != "":
		return []string{cells.Paint(l.Theme.Faint, cells.Fit("  "+m.empty, width))}
	case !m.active():
		return nil
	}
	n := min(len(m.choices), height)
	from := min(max(m.at-n+1, 0), len(m.choices)-n)
	nameW := 0
	for _, c := range m.choices[from : from+n] {
		nameW = max(nameW, cells.Width(c.name))
	}
	nameW = min(nameW, max(width*2/3, 10))
	var out []string
	for i := from; i < from+n; i++ {
		c := m.choices[i]
		mark, style := "  ", cells.Style("")
		if i == m.at {
			mark, style = "› ", l.Theme.Selected
		}
		name := cells.Fit(c.name, nameW)
		if m.kind == menuFile {
			name = cells.FitStart(c.name, nameW)
		}
		spans := []cells.Span{{Text: mark + name + cells.Blank(nameW-cells.Width(name)+2), Style: style}}
		if room := width - cells.SpansWidth(spans); room > 4 && c.info != "" {
			spans = append(spans, cells.Span{Text: cells.Fit(look.OneLine(c.info), room), Style: style.With(l.Theme.Faint)})
		}
		if i == m.at {
			spans = look.Filled(spans, style, width)
		}
		out = append(out, cells.Render(look.Clip(spans, width)))
	}
	return out
}

// menuKey handles keys while the menu is open; ok is false for keys that are not the menu's.
func (p *completion) menuKey(k tea.KeyPressMsg, act look.Action) (cmd tea.Cmd, ok bool) {
	m := &p.menu
	if !m.active() {
		return nil, false
	}
	n := len(m.choices)
	switch act {
	case look.Up:
		m.at, m.moved = (m.at+n-1)%n, true
	case look.Down:
		m.at, m.moved = (m.at+1)%n, true
	case look.Complete:
		return p.take(), true
	case look.Submit:
		word := strings.TrimPrefix(strings.TrimSpace(p.in.Text()), "/")
		_, exact := p.slashes.find(word)
		switch {
		case m.kind == menuCommand && exact && !m.moved:
			m.close()
			return nil, false // what was typed takes precedence
		case m.kind == menuCommand && m.moved:
			return tea.Batch(p.take(), p.submit()), true
		case m.kind == menuArgument && !m.moved:
			m.close()
			return nil, false
		}
		return p.take(), true
	default:
		return nil, false
	}
	return nil, true
}

// take puts the choice into the input.
func (p *completion) take() tea.Cmd {
	m := &p.menu
	c := m.choices[m.at]
	p.in.Complete(m.start, c.insert)
	file := m.kind == menuFile
	folder := file && strings.HasSuffix(c.insert, "/")
	m.close()
	switch {
	case folder: // continue inside the folder
		return p.fileMenu(false)
	case file:
		return p.outside.foldPictures(c.insert)
	}
	return nil
}

// completeNow opens the menu, or takes the only choice (Tab).
func (p *completion) completeNow() tea.Cmd {
	cmd := p.menuUpdate()
	if len(p.menu.choices) == 1 {
		return tea.Batch(cmd, p.take())
	}
	return cmd
}

// menuUpdate follows what is being typed.
func (p *completion) menuUpdate() tea.Cmd {
	was := p.menu
	p.menu.close()
	_, _, mention := p.in.Mention()
	if p.stack.Front() != nil || p.in.Row() > 0 && !mention {
		return nil
	}
	if p.in.Lines() == 1 && p.in.Begins("/") && p.in.Before() != "" {
		if cmd := p.commandMenu(p.in.Before()); cmd != nil {
			if mention {
				return tea.Batch(cmd, p.fileMenu(true))
			}
			return cmd
		}
	}
	if !p.menu.active() && mention {
		return p.fileMenu(true)
	}
	if was.kind == p.menu.kind && was.moved && p.menu.active() {
		p.menu.at = min(was.at, len(p.menu.choices)-1)
	}
	return nil
}

// commandMenu offers commands by what was typed of their name, then values of their argument. The returned
// command fetches values that are not known at once.
func (p *completion) commandMenu(typed string) tea.Cmd {
	name, args, hasArgs := strings.Cut(typed[1:], " ")
	if hasArgs {
		c, ok := p.slashes.find(name)
		switch {
		case ok && c.complete != nil:
			var values []command.Choice
			for _, v := range c.complete(args) {
				about := ""
				if c.about != nil {
					about = c.about(v)
				}
				values = append(values, command.Choice{Value: v, Info: about})
			}
			p.offerValues(name, values)
		case ok && c.outside != nil:
			return p.askValues(typed, name, func(ctx context.Context) []command.Choice { return c.outside(ctx, args) })
		}
		return nil
	}
	type scored struct {
		choice
		score int
	}
	var found []scored
	query := strings.ToLower(name)
	for _, c := range p.slashes.list() {
		score, ok := dialog.Fuzzy(query, strings.ToLower(c.name))
		if !ok {
			continue
		}
		if strings.HasPrefix(c.name, query) {
			score += 2000
		}
		found = append(found, scored{choice{insert: "/" + c.name + " ", name: "/" + c.name, info: c.describe()}, score})
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].score > found[j].score })
	for _, f := range found {
		p.menu.choices = append(p.menu.choices, f.choice)
	}
	p.menu.kind, p.menu.start = menuCommand, 0
	return nil
}

// offerValues offers what may follow a command.
func (p *completion) offerValues(name string, values []command.Choice) {
	p.menu.choices = nil
	for _, v := range values {
		p.menu.choices = append(p.menu.choices, choice{insert: v.Value, name: v.Value, info: text.Clean(v.Info)})
	}
	p.menu.kind, p.menu.start = menuArgument, editor.Columns(name)+2
}

// atOnce is how long a value may take and still be offered with the key that asked for it.
const atOnce = 20 * time.Millisecond

// askValues asks outside the terminal for values. Those that take longer are offered when they arrive, if the
// line is still the same.
func (p *completion) askValues(typed, name string, complete func(context.Context) []command.Choice) tea.Cmd {
	ctx, got := p.ctx, make(chan []command.Choice, 1)
	go func() { got <- complete(ctx) }()
	select {
	case values := <-got:
		p.offerValues(name, values)
		return nil
	case <-time.After(atOnce):
	}
	return p.Background(func(ctx context.Context) dialog.Do {
		select {
		case values := <-got:
			return func() tea.Cmd {
				if len(values) > 0 && p.stack.Front() == nil && p.in.Row() == 0 && p.in.Before() == typed {
					p.offerValues(name, values)
				}
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	})
}
