package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/tui/look"
)

// notify alerts a person who looks elsewhere: a turn ended or a question waits.
func (p *outside) notify(title, body string) tea.Cmd {
	const bell = "\x07"
	switch {
	case !p.blurred || p.opt.Notifications == "off":
		return nil
	case p.opt.Notifications == "bell":
		return p.tell(bell)
	}
	title, body = look.OneLine(title), look.OneLine(look.Beginning(body, 80)) // names of servers are among them
	clean := strings.NewReplacer("\x1b", "", "\x07", "", ";", ",", "\n", " ")
	return p.tell("\x1b]9;" + clean.Replace(title+": "+body) + "\x07" + "\x1b]777;notify;" + clean.Replace(title) + ";" + clean.Replace(body) + "\x07" + bell)
}

// tell sends the terminal a sequence that draws nothing, such as a bell.
func (p *outside) tell(seq string) tea.Cmd {
	if p.painter == nil {
		return tea.Raw(seq)
	}
	return func() tea.Msg { p.painter.Say(seq); return nil }
}
