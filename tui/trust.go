package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tools/command"
	"jcode/tui/keyboard"
	"jcode/tui/look"
)

// trustView asks whether what a folder brings may run.
type trustView struct {
	guard
	t    command.Trust
	text review
	busy bool
}

func newTrust(t command.Trust) *trustView {
	v := &trustView{guard: newGuard(), t: t}
	for _, r := range t.Items {
		v.text.parts = append(v.text.parts, reviewPart{title: strings.TrimSpace(r.State + " " + r.Name), text: r.Info})
	}
	return v
}

// askTrust is /trust: the question again about what is not trusted here.
func (p *panels) askTrust() tea.Cmd {
	if p.opt.TrustAgain == nil {
		p.flash("there is nothing to trust here")
		return nil
	}
	return fetch(p, p.opt.TrustAgain, func(t *command.Trust, err error) tea.Cmd {
		switch {
		case err != nil:
			p.say(event.LevelError, "/trust: "+err.Error())
		case t == nil:
			p.flash("everything that this folder brings is trusted, or it brings nothing that could run")
		default:
			v := newTrust(*t)
			p.ask(v)
			v.turn() // the person asked for it
		}
		return nil
	})
}

// outlasts says that the question is about the folder, not the session.
func (v *trustView) outlasts() {}

func (v *trustView) key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	if v.busy {
		return nil
	}
	switch act {
	case look.Up:
		v.move(-1, 2)
	case look.Down, look.Complete:
		v.move(1, 2)
	case look.Submit:
		if v.at == none {
			h.flash(chooseFirst)
			return nil
		}
		return v.decide(h, v.at == 0)
	case look.Interrupt:
		return v.later(h)
	case look.Cancel:
		return h.act(act)
	default:
		v.text.scrollKey(act)
	}
	switch keyboard.Letter(k) {
	case "y":
		return v.hold(k.Text, func() tea.Cmd { return v.decide(h, true) })
	case "n":
		return v.hold(k.Text, func() tea.Cmd { return v.decide(h, false) })
	}
	v.stray(h, k)
	return nil
}

// decide passes on the answer.
func (v *trustView) decide(h host, trusted bool) tea.Cmd {
	return v.pass(h, func(ctx context.Context) error {
		if v.t.Decide == nil {
			return nil
		}
		return v.t.Decide(ctx, trusted)
	})
}

// later leaves the question for another run.
func (v *trustView) later(h host) tea.Cmd {
	if v.t.Later == nil {
		return v.decide(h, false)
	}
	return v.pass(h, v.t.Later)
}

func (v *trustView) pass(h host, answer func(context.Context) error) tea.Cmd {
	v.busy = true
	return h.background(func(ctx context.Context) do {
		err := answer(ctx)
		return func() tea.Cmd {
			h.close(v)
			if err != nil {
				h.say(event.LevelError, err.Error())
			}
			return nil
		}
	})
}

func (v *trustView) draw(l *look.Look, width, height int) (lines []string, cursor *pos) {
	titled, limit := halves(height, v.text.need(l, width), 3)
	if titled {
		lines = append(lines, look.TitleRule(l, "Trust this folder?", width, l.Theme.Warn))
	}
	foot := v.foot(l, width, limit)
	room := max(height-len(lines)-len(foot), 1)
	lead := exactRows(l, v.t.Folder+" brings what can run code on your machine. Exactly this would run or apply:", "", " ", width, true)
	if room-len(lead) >= (height+1)/2 {
		lines, room = append(lines, lead...), room-len(lead)
	}
	lines = append(lines, v.text.draw(l, width, room, room)...)
	return append(lines, foot...), nil
}

func (v *trustView) foot(l *look.Look, width, limit int) []string {
	if !v.open {
		return untilArmed(l, width)
	}
	if limit < 2 {
		return []string{look.Hints(l, width, "y", "trust it", "n", "no")}
	}
	yes, _ := answerLine(l, v.at == 0, "y", "yes, trust it until something of it changes", width)
	no, _ := answerLine(l, v.at == 1, "n", "no, work without it, and ask again when it changes", width)
	if l.Beside {
		return []string{yes, no, asideHints(l, width)}[:min(limit, 3)]
	}
	return []string{yes, no, look.Hints(l, width, "↑↓ enter", "choose", "esc", "not now")}[:min(limit, 3)]
}
