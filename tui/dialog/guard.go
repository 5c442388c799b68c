package dialog

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
	"jcode/tui/look"
)

// Quiet is how long a question that opened by itself must be open, and no key be pressed, before it takes keys.
const Quiet = 700 * time.Millisecond

// None is the chosen answer of a question in which nothing was chosen.
const None = -1

// guard keeps a question from taking keys that were meant for the input. No answer is chosen in the beginning:
// Enter takes one only after an arrow has chosen it.
type guard struct {
	at     int       // the chosen answer, or none
	Since  time.Time // when it came to the front
	typed  time.Time // the last key, before or after that
	Open   bool      // once armed, it stays armed
	turned bool      // the person turned to it although the input holds text

	text   string         // a letter that answers, unless another one follows at once
	answer func() tea.Cmd // its answer; nil = none is pending
	held   int            // number of the last one that was pending
}

func newGuard() guard { return guard{at: None} }

// typeAhead is how long a letter waits for another one before it is an answer: someone who types a word meant
// it for the input.
const typeAhead = 200 * time.Millisecond

// hold delays an answer by a letter.
func (g *guard) hold(letter string, answer func() tea.Cmd) tea.Cmd {
	g.text, g.answer = letter, answer
	g.held++
	id := g.held
	return tea.Tick(typeAhead, func(time.Time) tea.Msg {
		return Do(func() tea.Cmd {
			if g.held != id || g.answer == nil {
				return nil
			}
			g.answer = nil
			return answer()
		})
	})
}

// Settle handles the key after a pending letter: another letter makes both text for the input, Enter makes it
// the answer; any other key cancels it, and done is false.
func (g *guard) Settle(h host, k tea.KeyPressMsg, act look.Action) (done bool, cmd tea.Cmd) {
	answer := g.answer
	g.answer = nil
	switch {
	case answer == nil:
		return false, nil
	case act == look.Submit:
		return true, answer()
	case act == "" && k.Text != "":
		h.Insert(g.text + k.Text)
		g.Disarm(time.Now())
		return true, nil
	}
	return false, nil
}

// stray handles text that is not an answer: it was meant for the input.
func (g *guard) stray(h host, k tea.KeyPressMsg) {
	if strings.TrimSpace(k.Text) != "" {
		h.Insert(k.Text)
		g.Disarm(time.Now())
	}
}

// move chooses the answer that is by rows further down, of n. From none it goes to the first or the last.
func (g *guard) move(by, n int) {
	g.turned = true
	if g.at == None && by < 0 {
		g.at = n
	}
	g.at = min(max(g.at+by, 0), n-1)
}

func (g *guard) shown(now, typed time.Time) {
	if g.Since.IsZero() {
		g.Since, g.typed = now, typed
	}
}

// Armed reports whether keys are answers now.
func (g *guard) Armed(now time.Time) bool {
	if g.Open {
		return true
	}
	if g.Since.IsZero() {
		return false
	}
	g.Open = now.Sub(g.Since) >= Quiet && now.Sub(g.typed) >= Quiet
	return g.Open
}

// Turn makes it take every key from now on: the person turned to it.
func (g *guard) Turn() { g.Open, g.turned = true, true }

// Attended reports whether the person turned to it.
func (g *guard) Attended() bool { return g.turned }

// Owns reports whether a field of it is open, which takes every key.
func (g *guard) Owns() bool { return false }

// TakesText reports whether text that is typed is part of the answer.
func (g *guard) TakesText() bool { return false }

// untilArmed is drawn in place of a question's answers until keys are answers.
func untilArmed(l *look.Look, width int) []string {
	return []string{cells.Paint(l.Theme.Faint, cells.Fit(" answers as soon as you stop typing …", width))}
}

// Touch records a key that went to the input.
func (g *guard) Touch(now time.Time) { g.typed = now }

// Disarm makes the question wait for a pause again; what was chosen in it is no longer.
func (g *guard) Disarm(now time.Time) {
	g.Open, g.turned, g.typed, g.answer, g.at = false, false, now, nil, None
}

// Moving keeps the clock running until the question takes keys.
func (g *guard) Moving() bool { return !g.Open }
