package tui

import (
	"jcode/tui/dialog"
	"jcode/tui/transcript"
)

// Open puts a dialog in front.
func (p *program) Open(d dialog.Dialog) {
	p.complete.menu.close()
	p.stack.Dialogs = append(p.stack.Dialogs, d)
}

// Close removes a dialog.
func (p *program) Close(d dialog.Dialog) {
	p.stack.Remove(d)
	p.stack.ShowFront(p.typing.last)
}

// ask queues a question that opened by itself.
func (p *program) ask(d dialog.Dialog) {
	p.stack.Asks = append(p.stack.Asks, d)
	p.stack.ShowFront(p.typing.last)
}

// SwitchDiffs switches between the two ways of drawing this diff.
func (p *program) SwitchDiffs(src string, width int) {
	transcript.SwitchDiffs(&p.look, src, width)
	p.restyle()
}
