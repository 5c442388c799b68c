package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
	"jcode/internal/cells"
)

// contextual runs a decision outside the loop and closes its dialog.
func contextual(decide func(ctx context.Context, yes bool) error, yes bool, d dialog) func(ctx context.Context) do {
	return func(ctx context.Context) do {
		var err error
		if decide != nil {
			err = decide(ctx, yes)
		}
		return func(p *program) tea.Cmd {
			p.close(d)
			if err != nil {
				p.say(agent.LevelError, err.Error())
			}
			return nil
		}
	}
}

// idEnterKey marks the row that leads to entering a key.
const idEnterKey = "jcode:enter-key"

// firstRun shows how to get to a model: what was found, a key, the tour.
func (p *panels) firstRun() tea.Cmd {
	p.tr.add(&textItem{plain: firstRunText, draw: func(l *look) []string {
		var out []string
		for _, para := range strings.Split(firstRunText, "\n") {
			for _, spans := range cells.Wrap([]cells.Span{{Text: para}}, l.width-2) {
				out = append(out, "  "+cells.Render(spans))
			}
		}
		return out
	}})
	pk := newPicker("Choose how to begin", nil, nil)
	pk.noSearch, pk.leave = true, "leave"
	pk.choose = func(p *program, r Row) tea.Cmd {
		if r.ID == idEnterKey {
			p.open(newProviders(p, pk))
			return nil
		}
		return p.panels.chooseFirst(pk, r)
	}
	pk.cancel = func(p *program) tea.Cmd { // without a model there is nothing behind it
		p.open(pk)
		if p.hint.text == quitHint {
			return p.quit()
		}
		p.flash(quitHint)
		return nil
	}
	p.open(pk)
	return p.panels.fill(pk, p.panels.foundFirst)
}

const firstRunText = `jcode needs a model. Below is what was found on this machine; nothing is sent anywhere before you choose.
Before it edits a file or runs a command, jcode asks: shift+tab changes how much runs without asking.
What a project brings along and could run code waits until you trust the folder.`

// foundFirst lists what can be used at once, and then the way to enter a key.
func (p *panels) foundFirst(ctx context.Context) ([]Row, error) {
	var rows []Row
	var err error
	if p.opt.First.Found != nil {
		rows, err = p.opt.First.Found(ctx)
	}
	if p.opt.First.EnterKey != nil {
		at := len(rows)
		if at > 0 && strings.Contains(strings.ToLower(rows[at-1].Name), "tour") {
			at--
		}
		rows = append(rows[:at:at], append([]Row{{ID: idEnterKey, Name: "Enter an API key", Info: "it is stored in a file that only you can read"}}, rows[at:]...)...)
	}
	return rows, err
}

func (p *panels) chooseFirst(pk *picker, r Row) tea.Cmd {
	pk.note = "starting …"
	return p.background(func(ctx context.Context) do {
		s, err := p.opt.First.Choose(ctx, r)
		return func(p *program) tea.Cmd {
			if err != nil {
				pk.note = "✗ " + err.Error()
				return nil
			}
			p.dialogs = nil
			return p.enter(s)
		}
	})
}

// newProviders asks for whom the key is.
func newProviders(p *program, back *picker) *picker {
	pk := newPicker("Whose key?", p.opt.First.Providers, nil)
	pk.choose = func(p *program, r Row) tea.Cmd {
		p.close(pk)
		p.open(&keyEntry{provider: r, field: newField(), back: back})
		return nil
	}
	return pk
}

// keyEntry takes an API key; it is never shown.
type keyEntry struct {
	provider Row
	field    field
	note     string
	busy     bool // the provider is being asked
	back     *picker
}

func (k *keyEntry) armed(time.Time) bool { return true }
func (k *keyEntry) moving() bool         { return k.busy }
func (k *keyEntry) paste(s string) bool  { k.field.paste(strings.TrimSpace(s)); return true }

func (k *keyEntry) key(p *program, press tea.KeyPressMsg, act action) tea.Cmd {
	switch act {
	case actInterrupt, actCancel:
		p.close(k)
	case actSubmit:
		secret := strings.TrimSpace(k.field.ed.Text())
		if secret == "" {
			return nil
		}
		if k.busy {
			return nil
		}
		k.busy, k.note = true, "asking "+k.provider.Name+" …"
		return p.background(func(ctx context.Context) do {
			err := p.opt.First.EnterKey(ctx, k.provider.ID, secret)
			return func(p *program) tea.Cmd {
				k.busy = false
				if !slices.Contains(p.dialogs, dialog(k)) {
					return nil // it was left meanwhile
				}
				if err != nil {
					k.note = "✗ " + err.Error()
					k.field = newField()
					return nil
				}
				p.close(k)
				return p.panels.chooseFirst(k.back, k.provider)
			}
		})
	default:
		if !k.busy {
			k.field.key(press, act)
		}
	}
	return nil
}

func (k *keyEntry) draw(l *look, width, height int) (lines []string, cursor *pos) {
	lines = append(lines, titleRule(l, "API key for "+k.provider.Name, width, l.theme.Accent))
	n := k.field.ed.Len()
	at := pos{1, min(6+n, width-1)}
	lines = append(lines, cells.Paint(l.theme.Accent, " key: ")+cells.Fit(strings.Repeat("•", n), max(width-7, 0)))
	note, style := "Type or paste it; it is not shown. "+k.provider.Name+" is asked whether it takes it, then it is stored in a file that only you can read.", l.theme.Faint
	switch {
	case k.busy:
		note = spinner[l.spin%len(spinner)] + " " + k.note
	case k.note != "":
		note, style = k.note, l.theme.Bad
	}
	body := wrapped(note, style, " ", width)
	lines = append(lines, body[:min(len(body), max(height-3, 0))]...)
	return append(lines, hints(l, width, "enter", "store it", "esc", "back")), &at
}
