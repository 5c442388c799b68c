package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
)

// quiet is how long no key must be pressed before a question that opened by itself takes keys; settle is how
// long it takes none in any case.
const (
	quiet  = 700 * time.Millisecond
	settle = 150 * time.Millisecond
)

// guard keeps a question from taking keys that were meant for the input.
type guard struct {
	since time.Time // when it came to the front
	typed time.Time // the last key, before or after that
	open  bool      // once armed, it stays armed

	text   string         // a letter that answers, unless another one follows at once
	answer func() tea.Cmd // its answer; nil = none is pending
	held   int            // number of the last one that was pending
}

// typeAhead is how long a letter waits for another one before it is an answer: someone who types a word meant
// it for the input.
const typeAhead = 200 * time.Millisecond

// hold delays an answer by a letter.
func (g *guard) hold(letter string, answer func() tea.Cmd) tea.Cmd {
	g.text, g.answer = letter, answer
	g.held++
	id := g.held
	return tea.Tick(typeAhead, func(time.Time) tea.Msg {
		return do(func() tea.Cmd {
			if g.held != id || g.answer == nil {
				return nil
			}
			g.answer = nil
			return answer()
		})
	})
}

// settle handles the key after a pending letter: another letter makes both text for the input, Enter makes it
// the answer; any other key cancels it, and done is false.
func (g *guard) settle(h host, k tea.KeyPressMsg, act action) (done bool, cmd tea.Cmd) {
	answer := g.answer
	g.answer = nil
	switch {
	case answer == nil:
		return false, nil
	case act == actSubmit:
		return true, answer()
	case act == "" && k.Text != "":
		h.insert(g.text + k.Text)
		g.disarm(time.Now())
		return true, nil
	}
	return false, nil
}

// stray handles text that is not an answer: it was meant for the input.
func (g *guard) stray(h host, k tea.KeyPressMsg) {
	if strings.TrimSpace(k.Text) != "" {
		h.insert(k.Text)
		g.disarm(time.Now())
	}
}

func (g *guard) shown(now, typed time.Time) {
	if g.since.IsZero() {
		g.since, g.typed = now, typed
	}
}

// armed reports whether keys are answers now.
func (g *guard) armed(now time.Time) bool {
	if g.open {
		return true
	}
	if g.since.IsZero() {
		return false
	}
	g.open = now.Sub(g.since) >= settle && now.Sub(g.typed) >= quiet
	return g.open
}

// untilArmed is drawn in place of a question's answers until keys are answers.
func untilArmed(l *look, width int) []string {
	return []string{cells.Paint(l.theme.Faint, cells.Fit(" answers as soon as you stop typing …", width))}
}

// touch records a key that went to the input.
func (g *guard) touch(now time.Time) { g.typed = now }

// disarm makes the question wait for a pause again.
func (g *guard) disarm(now time.Time) { g.open, g.typed, g.answer = false, now, nil }

// moving keeps the clock running until the question takes keys.
func (g *guard) moving() bool { return !g.open }
