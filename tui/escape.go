package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/tui/transcript"
)

// escape closes what is open, otherwise stops the running turn, otherwise clears marks.
func (p *program) escape() tea.Cmd {
	switch {
	case p.menu.active():
		p.menu.close()
	case p.tr.Find.Active():
		p.tr.Find = transcript.Finder{}
	case p.tr.Chosen >= 0 || p.tr.Marked.Dragged:
		p.tr.Chosen, p.tr.Marked = -1, transcript.Marking{}
	case p.switcher.unswitch != nil:
		p.switcher.unswitch()
	case p.outside.stop != nil:
		p.outside.stop()
	case len(p.outside.shells) > 0:
		endShell(p.outside)
	case p.turn.busy:
		p.Interrupt()
	case !p.tr.Follow:
		p.tr.ToBottom()
	case p.in.Empty() && len(p.tr.Prompts()) > 0:
		now := time.Now()
		if now.Sub(p.escaped) < escapeTwice {
			p.escaped, p.hint.text = time.Time{}, ""
			return p.slashes.rewind("")
		}
		p.escaped = now
		p.Flash("esc again goes back to an earlier prompt")
	}
	return nil
}

// escapeTwice is how soon the second Esc on an empty input must follow to open /rewind.
const escapeTwice = time.Second

// cancel is Ctrl+C: it clears the input, otherwise stops the turn, otherwise quits at the second press.
func (p *program) cancel() tea.Cmd {
	switch {
	case !p.in.Empty():
		p.hist.add(p.in.Text()) // Up recalls it
		p.in.Reset()
		p.menu.close()
	case p.switcher.unswitch != nil:
		p.switcher.unswitch()
	case p.outside.stop != nil:
		p.outside.stop()
	case len(p.outside.shells) > 0:
		endShell(p.outside)
	case p.turn.busy && p.turn.doing != "stopping":
		p.Interrupt()
	case p.hint.text == quitHint:
		return p.quit()
	default:
		p.Flash(quitHint)
	}
	return nil
}

const quitHint = "press ctrl+c again to quit"

// quit leaves the program. Run keeps what was written and not sent.
func (p *program) quit() tea.Cmd { return tea.Quit }
