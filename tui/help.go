package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
	"jcode/internal/text"
)

// helpView lists keys and commands, from the tables that the program obeys.
type helpView struct {
	rows   []Row
	picker *picker
}

func newHelp(p *program) *helpView {
	var rows []Row
	for _, r := range p.keys.rows {
		if len(r.keys) == 0 {
			continue
		}
		rows = append(rows, Row{Name: strings.Join(r.keys, "  "), Info: r.help, State: r.group, Search: string(r.act)})
	}
	for _, c := range p.commands() {
		info := c.help
		if c.hint != "" {
			info = c.hint + "  " + info
		}
		rows = append(rows, Row{Name: "/" + c.name, Info: text.Clean(info), State: "Command"})
	}
	if p.opt.Vi {
		for _, v := range viHelp {
			rows = append(rows, Row{Name: v[0], Info: v[1], State: "Vi"})
		}
	}
	for _, extra := range [][2]string{{"@path", "name a file; tab completes"}, {"!command", "run a shell line yourself"}} {
		rows = append(rows, Row{Name: extra[0], Info: extra[1], State: "Input"})
	}
	h := &helpView{rows: rows, picker: newPicker("Keys and commands", rows, nil)}
	h.picker.infoFirst = true
	return h
}

func (h *helpView) armed(time.Time) bool { return true }
func (h *helpView) paste(s string)       { h.picker.paste(s) }

func (h *helpView) key(p *program, k tea.KeyPressMsg, act action) tea.Cmd {
	if act == actInterrupt || act == actCancel || act == actSubmit || act == actHelp {
		p.close(h)
		return nil
	}
	return h.picker.key(p, k, act)
}

func (h *helpView) draw(l *look, width, height int) ([]string, *pos) {
	return h.picker.draw(l, width, height)
}

// trustView asks whether what a folder brings may run.
type trustView struct {
	guard
	t      Trust
	at     int
	scroll int
	busy   bool
}

func newTrust(t Trust) *trustView { return &trustView{t: t, at: 1} }

func (v *trustView) armed(now time.Time) bool { return v.ready(now) }

func (v *trustView) key(p *program, k tea.KeyPressMsg, act action) tea.Cmd {
	if v.busy {
		return nil
	}
	if done, cmd := v.settle(p, k, act); done {
		return cmd
	}
	switch act {
	case actUp, actDown, actComplete:
		v.at = 1 - v.at
	case actPageDown, actLineDown:
		v.scroll += 5
	case actPageUp, actLineUp:
		v.scroll = max(v.scroll-5, 0)
	case actSubmit:
		return v.decide(p, v.at == 0)
	case actInterrupt:
		return v.decide(p, false)
	case actCancel:
		return p.cancel()
	}
	switch k.String() {
	case "y":
		v.at = 0
		return v.hold("y", func() tea.Cmd { return v.decide(p, true) })
	case "n":
		v.at = 1
		return v.hold("n", func() tea.Cmd { return v.decide(p, false) })
	}
	return nil
}

// decide hands the answer over.
func (v *trustView) decide(p *program, trusted bool) tea.Cmd {
	v.busy = true
	return p.background(contextual(v.t.Decide, trusted, v))
}

func (v *trustView) draw(l *look, width, height int) (lines []string, cursor *pos) {
	lines = append(lines, titleRule(l, "Trust this folder?", width, l.theme.Warn))
	var body []string
	wrap := func(s string, style cells.Style, indent string) {
		for _, spans := range cells.Wrap([]cells.Span{{Text: s, Style: style}}, max(width-2-len(indent), 1)) {
			body = append(body, " "+indent+cells.Render(spans))
		}
	}
	wrap(text.Visible(v.t.Folder)+" brings what can run code on your machine. Exactly this would run or apply:", "", "")
	for _, r := range v.t.Items {
		wrap(text.Visible(strings.TrimSpace(r.State+" "+r.Name)), l.theme.Strong, "  ")
		if r.Info != "" {
			wrap(showBlanks(text.Visible(r.Info)), l.theme.Faint, "    ")
		}
	}
	foot := v.foot(l, width)
	room := max(height-1-len(foot), 1)
	v.scroll = min(v.scroll, max(len(body)-room, 0))
	shown := body[v.scroll:min(v.scroll+room, len(body))]
	if rest := len(body) - v.scroll - room; rest > 0 {
		shown = append([]string(nil), shown[:room-1]...)
		shown = append(shown, cells.Paint(l.theme.Warn, cells.Fit("  ↓ "+count(rest+1, "more line")+" (pgdown)", width)))
	}
	lines = append(lines, shown...)
	return append(lines, foot...), nil
}

func (v *trustView) foot(l *look, width int) []string {
	if !v.open {
		return []string{cells.Paint(l.theme.Faint, cells.Fit(" answers as soon as you stop typing …", width))}
	}
	var out []string
	out = append(out, answerRow(l, v.at == 0, "y", "yes, trust it until something of it changes", width)...)
	out = append(out, answerRow(l, v.at == 1, "n", "no, work without it", width)...)
	return append(out, hints(l, width, "↑↓ enter", "choose", "esc", "no"))
}
