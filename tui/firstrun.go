package tui

import (
	"cmp"
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/tools/command"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// idEnterKey marks the row for entering a key.
const idEnterKey = "jcode:enter-key"

// idEnterServer marks the row for entering the address of a server.
const idEnterServer = "jcode:enter-server"

// firstRun shows how to set up a model: what was found, a key, one's own server, the tour.
func (p *panels) firstRun() tea.Cmd {
	begin := *p.opt.First
	begin.start = true
	p.tr.Add(&transcript.Fixed{Plain: firstRunText, Draw: func(l *look.Look) []string {
		var out []string
		for _, para := range strings.Split(firstRunText, "\n") {
			for _, spans := range cells.Wrap([]cells.Span{{Text: para}}, look.Prose(l.Width)-2) {
				out = append(out, "  "+cells.Render(spans))
			}
		}
		return out
	}})
	pk := newPicker("Choose how to begin", nil, nil)
	pk.noSearch, pk.leave = true, "leave"
	pk.cancel = func() tea.Cmd { // without a model there is nothing to return to
		p.open(pk)
		if p.hint.text == quitHint {
			return p.quit()
		}
		p.flash(quitHint)
		return nil
	}
	return p.panels.ways(pk, &begin, func(r command.Row) tea.Cmd { return p.panels.chooseFirst(pk, r) })
}

// login sets up a model while the program runs: another key, or one's own server.
func (p *panels) login() tea.Cmd {
	if p.opt.Login == nil {
		p.flash("nothing to log in to here")
		return nil
	}
	pk := newPicker("Log in", nil, nil)
	pk.noSearch = true
	return p.panels.ways(pk, p.opt.Login, func(r command.Row) tea.Cmd {
		p.dialogs = nil
		if p.conv == nil {
			return p.panels.chooseFirst(pk, r)
		}
		name := r.ID
		switch {
		case r.Current, strings.HasPrefix(p.state.Model, name+"/"):
			name = p.state.Model // with the new key
		case !strings.Contains(name, "/"):
			name += "/" // its first coding model
		}
		p.say(event.LevelInfo, "Going on with "+strings.TrimSuffix(name, "/")+"; /model chooses another model.")
		return p.change("model", func(_ context.Context, c Conversation) error { return c.SetModel(name) })
	})
}

// ways fills a list with the ways to set up a model and continues with the chosen one.
func (p *panels) ways(pk *picker, from *FirstRun, then func(r command.Row) tea.Cmd) tea.Cmd {
	pk.stays = true
	pk.choose = func(r command.Row) tea.Cmd {
		switch r.ID {
		case idEnterKey:
			p.open(p.panels.newProviders(from, then))
			return nil
		case idEnterServer:
			p.open(newServerEntry(from, then))
			return nil
		}
		return then(r)
	}
	p.open(pk)
	return p.panels.fill(pk, func(ctx context.Context) ([]command.Row, error) { return found(ctx, from) })
}

const firstRunText = `jcode needs a model. Below is what was found on this machine; nothing is sent anywhere before you choose.
Before it edits a file or runs a command, jcode asks: shift+tab changes how much runs without asking.
What a project brings along and could run code waits until you trust the folder.`

// found lists what can be used at once, then the rows for a key and for the address of a server.
func found(ctx context.Context, from *FirstRun) ([]command.Row, error) {
	var rows []command.Row
	var err error
	if from.Found != nil {
		rows, err = from.Found(ctx)
	}
	at := len(rows)
	if at > 0 && strings.Contains(strings.ToLower(rows[at-1].Name), "tour") {
		at--
	}
	tour := rows[at:]
	if !from.start {
		tour = nil // it is for those who have no model yet
	}
	rows = rows[:at:at]
	if from.EnterKey != nil {
		rows = append(rows, command.Row{ID: idEnterKey, Name: "Enter an API key", Info: "it is stored in a file that only you can read"})
	}
	if from.EnterServer != nil {
		rows = append(rows, command.Row{ID: idEnterServer, Name: "Enter the address of your own server", Info: "any OpenAI-compatible endpoint"})
	}
	rows = append(rows, tour...)
	for i := range rows {
		if rows[i].Detail == "" {
			rows[i].Detail = from.Looked
		}
	}
	return rows, err
}

func (p *panels) chooseFirst(pk *picker, r command.Row) tea.Cmd {
	pk.note = "starting …"
	choose := func(ctx context.Context) (Session, error) { return p.opt.First.Choose(ctx, r) }
	return fetch(p, choose, func(s Session, err error) tea.Cmd {
		if err != nil {
			pk.note = "✗ " + err.Error()
			return nil
		}
		p.dialogs = nil
		return p.enter(s)
	})
}

// newProviders asks which provider the key is for.
func (p *panels) newProviders(from *FirstRun, then func(r command.Row) tea.Cmd) *picker {
	return newPicker("Whose key?", from.Providers, func(r command.Row) tea.Cmd {
		p.open(&keyEntry{
			title: "API key for " + r.Name, field: newField(), secret: true, asking: r.Name,
			hint:  "Type or paste it; it is not shown. " + cmp.Or(r.Detail, r.Name+" is asked whether it takes it, then it is stored in a file that only you can read."),
			enter: func(ctx context.Context, key string) (command.Row, error) { return r, from.EnterKey(ctx, r.ID, key) },
			then:  then,
		})
		return nil
	})
}

// newServerEntry asks for the address of a server, then for its key.
func newServerEntry(from *FirstRun, then func(r command.Row) tea.Cmd) *keyEntry {
	address := &keyEntry{
		title: "Address of your server", field: newField(), asking: "the server",
		hint: "As in localhost:8000 or https://models.example.com/v1. It is asked whether it lists models; a key is asked for next.",
		find: from.FindServer,
	}
	address.next = func(url string) *keyEntry {
		return &keyEntry{
			title: "Key for " + url, field: newField(), secret: true, empty: true, asking: "the server",
			hint:  "Enter alone where it needs none. The server is asked for its models, then its address is stored in the config and the key in a file that only you can read.",
			enter: func(ctx context.Context, key string) (command.Row, error) { return from.EnterServer(ctx, url, key) },
			then:  then,
		}
	}
	return address
}

// keyEntry is a field for an API key, which is never shown, or an address.
type keyEntry struct {
	title, hint string
	asking      string // who is asked with what was entered
	field       field
	secret      bool // shown as dots
	empty       bool // an empty answer is allowed, too
	note        string
	left        bool
	busy        bool // a request is running
	enter       func(ctx context.Context, s string) (command.Row, error)
	find        func(ctx context.Context, s string) (string, error) // completes what was entered, before next; may be nil
	next        func(s string) *keyEntry                            // what is asked next, instead of enter
	then        func(r command.Row) tea.Cmd
}

func (k *keyEntry) armed(time.Time) bool { return true }
func (k *keyEntry) moving() bool         { return k.busy }
func (k *keyEntry) paste(s string) bool  { k.field.paste(strings.TrimSpace(s)); return true }

func (k *keyEntry) key(h host, press tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch act {
	case look.Interrupt, look.Cancel:
		k.left = true
		h.close(k)
	case look.Submit:
		return k.submit(h)
	default:
		if !k.busy {
			k.field.key(press, act)
		}
	}
	return nil
}

// submit validates what was entered, or continues with what is asked next.
func (k *keyEntry) submit(h host) tea.Cmd {
	s := strings.TrimSpace(k.field.ed.Text())
	switch {
	case k.busy, s == "" && !k.empty:
		return nil
	case k.next != nil && k.find == nil:
		h.open(k.next(s))
		return nil
	}
	k.busy, k.note = true, "asking "+k.asking+" …"
	if k.next != nil {
		find := func(ctx context.Context) (string, error) { return k.find(ctx, s) }
		return fetch(h, find, func(found string, err error) tea.Cmd {
			k.busy, k.note = false, ""
			switch {
			case k.left:
			case err != nil:
				k.note = "✗ " + err.Error() // what was entered stays, to be put right
			default:
				h.open(k.next(found))
			}
			return nil
		})
	}
	enter := func(ctx context.Context) (command.Row, error) { return k.enter(ctx, s) }
	return fetch(h, enter, func(row command.Row, err error) tea.Cmd {
		k.busy = false
		if k.left {
			return nil
		}
		if err != nil {
			k.note = "✗ " + err.Error()
			k.field = newField()
			return nil
		}
		h.close(k)
		return k.then(row)
	})
}

func (k *keyEntry) draw(l *look.Look, width, height int) (lines []string, cursor *pos) {
	lines = append(lines, look.TitleRule(l, k.title, width, l.Theme.Accent))
	label := " address: "
	if k.secret {
		label = " key: "
	}
	at := pos{1, 0}
	if k.secret {
		n := k.field.ed.Len()
		at.col = min(cells.Width(label)+n, width-1)
		lines = append(lines, cells.Paint(l.Theme.Accent, label)+cells.Fit(strings.Repeat("•", n), max(width-cells.Width(label)-1, 0)))
	} else {
		line, x := k.field.draw(l, label, width)
		at.col = x
		lines = append(lines, line)
	}
	note, style := k.hint, l.Theme.Faint
	switch {
	case k.busy:
		note = l.Spinner() + " " + k.note
	case k.note != "":
		note, style = k.note, l.Theme.Bad
	}
	body := look.Wrapped(note, style, " ", width)
	lines = append(lines, body[:min(len(body), max(height-3, 0))]...)
	return append(lines, look.Hints(l, width, "enter", "go on", "esc", "back")), &at
}
