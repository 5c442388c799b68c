package look

import (
	"time"

	"jcode/internal/cells"
	"jcode/tui/markdown"
)

// Look is what items need to draw themselves.
type Look struct {
	Theme *Theme
	Width int // cells of a transcript line
	// Stamp changes whenever width, theme or the like do: lines cached under another stamp are stale.
	Stamp int
	// Now and spin move while something runs.
	Now  time.Time
	Spin int
	// Times shows when things happened; links makes links clickable.
	Times, Links bool
	// Files makes names of files links.
	Files  *Files
	Diffs  DiffLayout
	Asks   int    // questions that wait for the person
	Beside bool   // the input holds text and has the keys, not the question
	Unfold string // the key that unfolds, "" = none
	Home   string // is written as ~
}

// Unfolds names the key that shows what is folded.
func (l *Look) Unfolds() string {
	if l.Unfold == "" {
		return ""
	}
	return " (" + l.Unfold + ")"
}

func (l *Look) Markdown() markdown.Options {
	return markdown.Options{Width: l.Width, Prose: ProseCells, Styles: l.Theme.Markdown, Hyperlinks: l.Links, Words: l.words()}
}

// words makes links of the words of a text that name files; nil if there are no links.
func (l *Look) words() func(cells.Span) []cells.Span {
	if !l.Links || l.Files == nil {
		return nil
	}
	return l.Files.Linked
}

// Named returns a text as spans in which names of files are links.
func (l *Look) Named(s cells.Span) []cells.Span {
	if words := l.words(); words != nil {
		return words(s)
	}
	return []cells.Span{s}
}

// DiffLayout says how diffs are drawn.
type DiffLayout int

const (
	DiffAuto  DiffLayout = iota // side by side where nothing folds
	DiffOne                     // one line below the other
	DiffSplit                   // side by side where there is room
)

// Spinner returns the mark of what runs, which moves.
func (l *Look) Spinner() string { return spinner[l.Spin%len(spinner)] }
