package tui

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/front"
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
	begin.First = true
	p.tr.Add(&transcript.Fixed{Plain: firstRunText, Draw: func(l *look.Look) []string {
		var out []string
		for _, para := range strings.Split(firstRunText, "\n") {
			for _, spans := range cells.Wrap([]cells.Span{{Text: para}}, look.Prose(l.Width)-2) {
				out = append(out, "  "+cells.Render(spans))
			}
		}
		return out
	}})
	pk := dialog.NewPicker("Choose how to begin", nil, nil)
	pk.NoSearch, pk.Leave = true, "leave"
	pk.Cancel = func() tea.Cmd { // without a model there is nothing to return to
		p.Open(pk)
		const hint = "press it again to leave" // esc or ctrl+c
		if p.hint.text == hint {
			return tea.Quit
		}
		p.Flash(hint)
		return nil
	}
	return p.ways(pk, &begin, func(r command.Row) tea.Cmd { return p.chooseFirst(pk, r) })
}

// login sets up a model while the program runs: another key, or one's own server.
func (p *panels) login() tea.Cmd {
	if p.opt.Login == nil {
		p.Flash("nothing to log in to here")
		return nil
	}
	pk := dialog.NewPicker("Log in", nil, nil)
	pk.NoSearch = true
	return p.ways(pk, p.opt.Login, func(r command.Row) tea.Cmd {
		p.stack.Dialogs = nil
		if p.conv == nil {
			return p.chooseFirst(pk, r)
		}
		name := r.ID
		switch {
		case r.Current, strings.HasPrefix(p.state.Model, name+"/"):
			name = p.state.Model // with the new key
		case !strings.Contains(name, "/"):
			name += "/" // its first coding model
		}
		p.Say(event.LevelInfo, "Going on with "+strings.TrimSuffix(name, "/")+"; /model chooses another model.")
		return p.switcher.change("model", func(_ context.Context, c front.Conversation) error { return c.SetModel(name) })
	})
}

// ways fills a list with the ways to set up a model and continues with the chosen one.
func (p *panels) ways(pk *dialog.Picker, from *front.FirstRun, then func(r command.Row) tea.Cmd) tea.Cmd {
	pk.Stays = true
	pk.Choose = func(r command.Row) tea.Cmd {
		switch r.ID {
		case idEnterKey:
			p.Open(p.newProviders(from, then))
			return nil
		case idEnterServer:
			p.Open(newServerEntry(from, then))
			return nil
		}
		return then(r)
	}
	p.Open(pk)
	return fill(p.loop, pk, func(ctx context.Context) ([]command.Row, error) { return found(ctx, from) })
}

const firstRunText = `jcode needs a model. Below is what was found on this machine; nothing is sent anywhere before you choose.
Before it edits a file or runs a command, jcode asks: shift+tab changes how much runs without asking.
What a project contains that could run code waits until you trust the folder.`

// found lists what can be used at once, then the rows for a key and for the address of a server.
func found(ctx context.Context, from *front.FirstRun) ([]command.Row, error) {
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
	if !from.First {
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

func (p *panels) chooseFirst(pk *dialog.Picker, r command.Row) tea.Cmd {
	pk.Note = "starting …"
	choose := func(ctx context.Context) (front.Session, error) { return p.opt.First.Choose(ctx, r) }
	return dialog.Fetch(p, choose, func(s front.Session, err error) tea.Cmd {
		if err != nil {
			pk.Note = "✗ " + err.Error()
			return nil
		}
		p.stack.Dialogs = nil
		if strings.Contains(r.ID, "/") { // a model; of a provider, its first request says which one it is
			p.Say(event.LevelInfo, "Using "+r.ID+"; /model chooses another model.")
		}
		return p.switcher.enter(s)
	})
}

// newProviders asks which provider the key is for.
func (p *panels) newProviders(from *front.FirstRun, then func(r command.Row) tea.Cmd) *dialog.Picker {
	return dialog.NewPicker("Whose key?", from.Providers, func(r command.Row) tea.Cmd {
		p.Open(&dialog.Entry{
			Title: "API key for " + r.Name, Field: dialog.NewField(), Secret: true, Asking: r.Name,
			Hint:  "Type or paste it; it is not shown. " + cmp.Or(r.Detail, r.Name+" is asked whether it takes it, then it is stored in a file that only you can read."),
			Enter: func(ctx context.Context, key string) (command.Row, error) { return r, from.EnterKey(ctx, r.ID, key) },
			Then:  then,
		})
		return nil
	})
}

// newServerEntry asks for the address of a server, then for its key.
func newServerEntry(from *front.FirstRun, then func(r command.Row) tea.Cmd) *dialog.Entry {
	address := &dialog.Entry{
		Title: "Address of your server", Field: dialog.NewField(), Asking: "the server",
		Hint: "As in localhost:8000 or https://models.example.com/v1. It is asked whether it lists models; a key is asked for next.",
		Find: from.FindServer,
	}
	address.Next = func(url string) *dialog.Entry {
		return &dialog.Entry{
			Title: "Key for " + url, Field: dialog.NewField(), Secret: true, Empty: true, Asking: "the server",
			Hint:  "Enter alone where it needs none. The server is asked for its models, then its address is stored in the config and the key in a file that only you can read.",
			Enter: func(ctx context.Context, key string) (command.Row, error) { return from.EnterServer(ctx, url, key) },
			Then:  then,
		}
	}
	return address
}
