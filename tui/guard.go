package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
	"jcode/tui/look"
)

// quiet is how long a question that opened by itself must be open, and no key be pressed, before it takes keys.
const quiet = 700 * time.Millisecond

// none is the chosen answer of a question in which nothing was chosen.
const none = -1

// guard keeps a question from taking keys that were meant for the input. No answer is chosen in the beginning:
// Enter takes one only after an arrow has chosen it.
type guard struct {
	at     int       // the chosen answer, or none
	since  time.Time // when it came to the front
	typed  time.Time // the last key, before or after that
	open   bool      // once armed, it stays armed
	turned bool      // the person turned to it although the input holds text

	text   string         // a letter that answers, unless another one follows at once
	answer func() tea.Cmd // its answer; nil = none is pending
	held   int            // number of the last one that was pending
}

func newGuard() guard { return guard{at: none} }

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
func (g *guard) settle(h host, k tea.KeyPressMsg, act look.Action) (done bool, cmd tea.Cmd) {
	answer := g.answer
	g.answer = nil
	switch {
	case answer == nil:
		return false, nil
	case act == look.Submit:
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

// move chooses the answer that is by rows further down, of n. From none it goes to the first or the last.
func (g *guard) move(by, n int) {
	g.turned = true
	if g.at == none && by < 0 {
		g.at = n
	}
	g.at = min(max(g.at+by, 0), n-1)
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
	g.open = now.Sub(g.since) >= quiet && now.Sub(g.typed) >= quiet
	return g.open
}

// turn makes it take every key from now on: the person turned to it.
func (g *guard) turn() { g.open, g.turned = true, true }

// attended reports whether the person turned to it.
func (g *guard) attended() bool { return g.turned }

// owns reports whether a field of it is open, which takes every key.
func (g *guard) owns() bool { return false }

// takesText reports whether text that is typed is part of the answer.
func (g *guard) takesText() bool { return false }

// untilArmed is drawn in place of a question's answers until keys are answers.
func untilArmed(l *look.Look, width int) []string {
	return []string{cells.Paint(l.Theme.Faint, cells.Fit(" answers as soon as you stop typing …", width))}
}

// touch records a key that went to the input.
func (g *guard) touch(now time.Time) { g.typed = now }

// disarm makes the question wait for a pause again; what was chosen in it is no longer.
func (g *guard) disarm(now time.Time) {
	g.open, g.turned, g.typed, g.answer, g.at = false, false, now, nil, none
}

// moving keeps the clock running until the question takes keys.
func (g *guard) moving() bool { return !g.open }
