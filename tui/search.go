package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/tui/dialog"
	"jcode/tui/transcript"
)

// findText searches the transcript: the first hit is shown at once, the others are counted while the person
// reads.
func (p *searching) findText(term string) tea.Cmd {
	if term == "" {
		p.Flash("usage: /find <text>; n and N go on, esc ends")
		return nil
	}
	p.tr.BeginSearch(term)
	return p.searchOn()
}

// findNext goes to the next hit of a search. Without one it begins the command that searches, in an empty input.
func (p *program) findNext() tea.Cmd {
	switch {
	case p.tr.Find.Found():
		p.tr.SearchStep(&p.look, -1)
	case p.in.Empty():
		p.in.SetText("/find ")
		return p.complete.menuUpdate()
	default:
		p.holdsText()
	}
	return nil
}

// searchOn performs one slice of a search and schedules the next.
func (p *searching) searchOn() tea.Cmd {
	f, until := &p.tr.Find, time.Now().Add(transcript.SearchSlice)
	none := len(f.Hits) == 0
	p.tr.SearchOn(&p.look, func() bool { return !time.Now().Before(until) || none && len(f.Hits) > 0 })
	if none {
		p.tr.ShowHit(&p.look)
	}
	if f.Left == 0 {
		return nil
	}
	search := p.tr.Searches
	return p.Background(func(context.Context) dialog.Do {
		return func() tea.Cmd {
			if p.tr.Searches != search || !p.tr.Find.Active() {
				return nil
			}
			return p.searchOn()
		}
	})
}
