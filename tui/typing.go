package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// burstGap is the longest time between two keys that come from one write: a paste without brackets. A person
// who sees a key on the screen before pressing the next one is slower.
const burstGap = 800 * time.Microsecond

// pasteGap is the longest pause inside a paste without brackets that contained a line end.
const pasteGap = 200 * time.Millisecond

// burstWait is how long Enter waits in a burst for what may follow it.
const burstWait = 20 * time.Millisecond

// typing tells a person's Enter from line ends in text that a terminal pastes as fast keys.
type typing struct {
	last    time.Time // of the last key
	lines   bool      // the burst contained a line end
	pending int       // number of the Enter that waits, 0 = none
	count   int
}

// submitMsg ends the wait of an Enter.
type submitMsg int

// note takes the time of a key.
func (t *typing) note(now time.Time) { t.last = now }

// fast reports whether a key that arrives now belongs to a burst.
func (t *typing) fast(now time.Time) bool { return now.Sub(t.last) < burstGap }

// pasting reports whether lines of a paste arrived a moment ago; a slow terminal may pause inside it.
func (t *typing) pasting(now time.Time) bool {
	if now.Sub(t.last) >= pasteGap {
		t.lines = false
	}
	return t.lines
}

// hold delays an Enter.
func (t *typing) hold() tea.Cmd {
	t.count++
	t.pending = t.count
	id := submitMsg(t.count)
	return tea.Tick(burstWait, func(time.Time) tea.Msg { return id })
}

// settle ends the wait. Nothing followed, so it was a person's Enter, unless the burst had line ends before:
// then it was the last line of a paste.
func (t *typing) settle(p *program, id submitMsg) tea.Cmd {
	if t.pending != int(id) {
		return nil
	}
	t.pending = 0
	if t.lines {
		p.in.Newline()
		return nil
	}
	return p.submit()
}

// flush settles a pending Enter when another key arrives: text makes it a line end.
func (t *typing) flush(p *program, isText bool) tea.Cmd {
	if t.pending == 0 {
		return nil
	}
	t.pending = 0
	if isText || t.lines {
		t.lines = true
		p.in.Newline()
		return nil
	}
	return p.submit()
}
