package tui

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/text"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/look"
)

// ownTheme shows the theme of the settings if it is one of the person's files; the problems say why it can't be.
func (p *settings) ownTheme() []string {
	name := p.theming
	if name == "" || slices.Contains(look.ThemeNames(), name) {
		return nil
	}
	problems := p.themes.Read()
	if !p.themes.Own(name) {
		p.theming = "auto"
		names := p.themes.Names()
		hint := ": there are " + strings.Join(names, ", ") + "; a file themes/" + name + ".json beside config.json makes one"
		if near := text.Nearest(name, names); near != "" {
			hint = "; did you mean " + near + "?"
		}
		return append(problems, "theme: there is no theme "+name+hint)
	}
	p.look.Theme = p.themes.New(name, p.dark)
	return problems
}

// themeHelp says what each theme is for. It is never written.
var themeHelp = map[string]string{
	"auto":          "what fits the background and colours of your terminal",
	"dark":          "for a dark background",
	"light":         "for a light background",
	"high-contrast": "strong colours on black",
	"ansi16":        "only the sixteen colours that your terminal has set",
}

// theme chooses the colours; the list previews the theme under the cursor.
func (p *settings) theme(name string) tea.Cmd {
	p.themes.Read() // what is wrong with a file stands beside its row
	names := p.themes.Names()
	if name != "" {
		if slices.Contains(names, name) {
			p.setTheme(name)
			return p.save("theme", name)
		}
		p.Flash("unknown theme " + name + ": " + strings.Join(names, ", "))
		return nil
	}
	before := cmp.Or(p.theming, "auto")
	var rows []command.Row
	for _, n := range names {
		info := themeHelp[n]
		if p.themes.Own(n) {
			info = "your own: themes/" + n + ".json"
		}
		rows = append(rows, command.Row{ID: n, Name: n, Info: info, Current: n == before})
	}
	rows = withProblems(rows, p.themes.Problems())
	pk := dialog.NewPicker("Themes", rows, func(r command.Row) tea.Cmd { return p.theme(r.ID) })
	pk.Move = func(r command.Row) { p.setTheme(r.ID) }
	pk.Cancel = func() tea.Cmd { p.setTheme(before); return nil }
	p.Open(pk)
	return nil
}

// withProblems adds what is wrong with the files of themes to their rows, and rows for the files that make no theme.
func withProblems(rows []command.Row, problems map[string][]string) []command.Row {
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		i := slices.IndexFunc(rows, func(r command.Row) bool { return r.ID == name && strings.HasPrefix(r.Info, "your own") })
		if i < 0 {
			i = len(rows)
			rows = append(rows, command.Row{ID: "themes/" + name + ".json", Name: name, Info: "can't be used", Bad: true})
		}
		if !rows[i].Bad { // a list that fills its place has none for details
			rows[i].Info = strings.TrimPrefix(problems[name][0], "themes/"+name+".json: ")
		}
		rows[i].State, rows[i].Detail = text.Count(len(problems[name]), "problem"), strings.Join(problems[name], "\n")
	}
	return rows
}
