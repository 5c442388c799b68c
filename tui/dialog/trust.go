package dialog

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tools/command"
	"jcode/tui/keyboard"
	"jcode/tui/look"
)

// Trust asks whether what a folder brings may run.
type Trust struct {
	guard
	t    command.Trust
	text review
	Busy bool
}

func NewTrust(t command.Trust) *Trust {
	v := &Trust{guard: newGuard(), t: t}
	for _, r := range t.Items {
		v.text.Parts = append(v.text.Parts, ReviewPart{Title: strings.TrimSpace(r.State + " " + r.Name), Text: r.Info, words: true})
	}
	return v
}

// outlasts says that the question is about the folder, not the session.
func (v *Trust) outlasts() {}

func (v *Trust) Key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	if v.Busy {
		return nil
	}
	switch act {
	case look.Up:
		v.move(-1, 2)
	case look.Down, look.Complete:
		v.move(1, 2)
	case look.Submit:
		if v.at == None {
			h.Flash(chooseFirst)
			return nil
		}
		return v.decide(h, v.at == 0)
	case look.Interrupt:
		return v.later(h)
	case look.Cancel:
		return h.Act(act)
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
func (v *Trust) decide(h host, trusted bool) tea.Cmd {
	return v.pass(h, func(ctx context.Context) error {
		if v.t.Decide == nil {
			return nil
		}
		return v.t.Decide(ctx, trusted)
	})
}

// later leaves the question for another run.
func (v *Trust) later(h host) tea.Cmd {
	if v.t.Later == nil {
		return v.decide(h, false)
	}
	return v.pass(h, v.t.Later)
}

func (v *Trust) pass(h host, answer func(context.Context) error) tea.Cmd {
	v.Busy = true
	return h.Background(func(ctx context.Context) Do {
		err := answer(ctx)
		return func() tea.Cmd {
			h.Close(v)
			if err != nil {
				h.Say(event.LevelError, err.Error())
			}
			return nil
		}
	})
}

func (v *Trust) Draw(l *look.Look, width, height int) (lines []string, cursor *Pos) {
	titled, limit := halves(height, v.text.need(l, width), 3)
	if titled {
		lines = append(lines, look.TitleRule(l, "Trust this folder?", width, l.Theme.Warn))
	}
	foot := v.foot(l, width, limit)
	room := max(height-len(lines)-len(foot), 1)
	lead := exactRows(l, l.Tilde(v.t.Folder)+" contains what can run code on your machine. Exactly this would run or apply:", "", " ", width, true)
	if room-len(lead) >= (height+1)/2 {
		lines, room = append(lines, lead...), room-len(lead)
	}
	lines = append(lines, v.text.draw(l, width, room, room)...)
	return append(lines, foot...), nil
}

func (v *Trust) foot(l *look.Look, width, limit int) []string {
	if !v.Open {
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
