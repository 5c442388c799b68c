package tui

import (
	"strings"

	"jcode/agent/event"
	"jcode/tui/dialog"
)

// answered shows what a line with a command answered: a diff as a page, anything else in the transcript.
func answered(p *scene, line, said string, err error) {
	if err != nil {
		said = line + ": " + err.Error()
	}
	level := event.LevelInfo
	if err != nil {
		level = event.LevelError
	}
	if !dialog.HoldsDiff(said) {
		p.Say(level, said)
		return
	}
	pg := dialog.NewPage(line, said)
	if err != nil {
		pg.Title, pg.Bad, pg.Lines = line+" failed", true, dialog.NewPage("", err.Error()).Lines
		first, _, _ := strings.Cut(said, "\n")
		p.Say(level, strings.TrimSuffix(first, ":"))
	}
	p.Open(pg)
}
