package tui

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tui/dialog"
	"jcode/tui/keyboard"
	"jcode/tui/look"
)

// questionKey routes a key while a question that opened by itself is in front; done is false for a key that
// belongs to the input, the transcript or the program.
func questionKey(p *program, q dialog.Guarded, k tea.KeyPressMsg, act look.Action, now time.Time) (done bool, cmd tea.Cmd) {
	switch {
	case act.Unfolds(): // what the question is about is above
		return true, p.itemAct(act)
	case act == look.Agents && !p.in.Empty() && !q.Attended():
		q.Turn()
		return true, nil
	case !q.Armed(now):
		q.Touch(now)
		return false, nil
	case q.Owns():
		return true, q.Key(p, k, act)
	}
	if done, cmd := q.Settle(p, k, act); done {
		return true, cmd
	}
	switch {
	case findKey(p, k, act) || act == look.Agents:
		return false, nil
	case !p.in.Empty() && !q.Attended() && forInput(p, q, k, act):
		q.Disarm(now)
		return false, nil
	}
	return true, q.Key(p, k, act)
}

// forInput reports whether a key belongs to the input while it holds text: Enter, whatever edits, and letters
// that continue a word.
func forInput(p *program, q dialog.Guarded, k tea.KeyPressMsg, act look.Action) bool {
	switch {
	case act == look.Up, act == look.Down:
		rows, _, _, _, _ := p.in.Window(p.inputWidth(), 2)
		return len(rows) > 1
	case act == "" && k.Text != "":
		last, _ := utf8.DecodeLastRuneInString(p.in.Before())
		return q.TakesText() || unicode.IsLetter(last) || unicode.IsDigit(last)
	}
	return act != look.Complete && act.Writes()
}

// findKey reports whether a key belongs to the search in the transcript.
func findKey(p *program, k tea.KeyPressMsg, act look.Action) bool {
	if !p.tr.Find.Active() || !p.in.Empty() {
		return false
	}
	return act == look.Interrupt || p.tr.Find.Found() && strings.EqualFold(keyboard.Letter(k), "n")
}

// stripAbove draws the agents and the questions that were put aside above an open question, where there is room.
func (p *composer) stripAbove(room int) []string {
	rows, aside := max(room-look.StripRoom, 0)/4, p.asideLine()
	if rows == 0 {
		return nil
	}
	if aside == "" {
		return p.agentLines(rows)
	}
	return append(p.agentLines(rows-1), aside)
}

// asideLine names the questions that were put aside; "" without any.
func (p *composer) asideLine() string {
	n := len(p.stack.Later)
	if n == 0 {
		return ""
	}
	said := text.Count(n, "question") + " wait for you"
	if n == 1 {
		said = "1 question waits for you"
	}
	line := []cells.Span{{Text: " ? ", Style: p.look.Theme.Warn}, {Text: said, Style: p.look.Theme.Strong}}
	if key := p.keys.First(look.Agents); key != "" {
		line = append(line, cells.Span{Text: "  (" + key + " answers)", Style: p.look.Theme.Faint})
	}
	return cells.Render(look.Clip(line, p.width))
}
