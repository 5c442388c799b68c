package transcript

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/look"
)

// Turn sums up a turn: how long it took, which files it changed, and what it used.
type Turn struct {
	Took   time.Duration
	files  []fileSum
	Before event.Usage // what the session had used when the turn began
	After  event.Usage
	undo   bool // files can be restored
	Used   []event.Note
}

// fileSum counts the lines that a turn added to a file and removed from it.
type fileSum struct {
	path           string
	added, removed int
}

// Note records a finished call's change of a file.
func (s *Turn) Note(d tools.Display) {
	if d.Path == "" || d.Added == 0 && d.Removed == 0 && d.Diff == "" {
		return
	}
	s.undo = true
	each := perFile(d.Diff)
	if len(each) < 2 {
		each = []fileSum{{d.Path, d.Added, d.Removed}}
	}
	for _, f := range each {
		i := slices.IndexFunc(s.files, func(known fileSum) bool { return known.path == f.path })
		if i < 0 {
			s.files = append(s.files, f)
			continue
		}
		s.files[i].added += f.added
		s.files[i].removed += f.removed
	}
}

// perFile counts the lines of each file of a diff.
func perFile(diff string) (out []fileSum) {
	if strings.Count(diff, "+++ ") < 2 {
		return nil // at most one
	}
	for _, ln := range ParseDiff(diff).lines {
		switch {
		case ln.kind == diffFile:
			out = append(out, fileSum{path: ln.text})
		case len(out) == 0:
		case ln.kind == diffAdd:
			out[len(out)-1].added++
		case ln.kind == diffDel:
			out[len(out)-1].removed++
		}
	}
	return out
}

// Parts returns the words of the line, the most important first.
func (s *Turn) Parts() []string {
	var out []string
	if s.Took >= 50*time.Millisecond {
		out = append(out, look.Seconds(s.Took))
	}
	if len(s.Used) > 0 {
		out = append(out, text.Count(len(s.Used), "note")+" used")
	}
	for i, f := range s.files {
		if i == look.FilesShown && len(s.files) > look.FilesShown+1 {
			out = append(out, "and "+strconv.Itoa(len(s.files)-look.FilesShown)+" more")
			break
		}
		out = append(out, look.VisibleName(f.path)+" +"+strconv.Itoa(f.added)+" -"+strconv.Itoa(f.removed))
	}
	in, made := s.After.Total.Input-s.Before.Total.Input, s.After.Total.Output-s.Before.Total.Output
	if in+made > 0 {
		out = append(out, look.Thousands(in+made)+" tokens")
	}
	if cost := s.After.Cost - s.Before.Cost; s.After.Priced && cost > 0 {
		out = append(out, text.Spent(cost, s.After.Total.Estimated))
	}
	if s.undo {
		out = append(out, "/undo")
	}
	return out
}

// Item returns the line at the end of a turn; nil if there is nothing to report.
func (s *Turn) Item() Item {
	parts := s.Parts()
	if len(parts) == 0 {
		return nil
	}
	return newTurnLine(parts, s.Used...)
}

func newTurnLine(parts []string, used ...event.Note) *turnLine {
	return &turnLine{parts: parts, used: used}
}

// turnLine is the line at the end of a turn; unfolded, it names the notes from earlier sessions that were used.
type turnLine struct {
	foldable
	parts []string
	used  []event.Note
}

func (t *turnLine) Height(l *look.Look) int { return t.fill(l, t.draw) }
func (t *turnLine) Text() string            { return strings.Join(t.parts, " · ") }
func (t *turnLine) Toggle() bool            { return len(t.used) > 0 && t.foldable.Toggle() }

func (t *turnLine) draw(l *look.Look) []string {
	out := []string{cells.Render(counted(l, "  "+fitParts(t.parts, max(l.Width-2, 1)), l.Theme.Faint))}
	if !t.Open || len(t.used) == 0 {
		return out
	}
	for _, n := range t.used {
		body := cells.Wrap([]cells.Span{{Text: text.Clean(n.Text + " (" + n.From + ")"), Style: l.Theme.Faint}}, look.Prose(l.Width)-4)
		out = append(out, look.Prefixed(body, "  ↳ ", "    ")...)
	}
	return append(out, cells.Paint(l.Theme.Faint, cells.Fit("    /memory edits or forgets them", l.Width)))
}

// fitParts joins as many parts as fit. It drops from the end, but always keeps the first and the last one.
func fitParts(parts []string, width int) string {
	for len(parts) > 2 && cells.Width(strings.Join(parts, " · ")) > width {
		parts = append(slices.Clone(parts[:len(parts)-2]), parts[len(parts)-1])
	}
	return cells.Fit(strings.Join(parts, " · "), width)
}

// counted colours the lines that were added ("+8") and removed ("-4") in a text; one that counts none stays as it is.
func counted(l *look.Look, s string, style cells.Style) []cells.Span {
	var out []cells.Span
	plain := ""
	for i, word := range strings.Split(s, " ") {
		if i > 0 {
			plain += " "
		}
		n, err := strconv.Atoi(strings.TrimSuffix(word, ","))
		signed := word != "" && (word[0] == '+' || word[0] == '-')
		if !signed || err != nil || n == 0 {
			plain += word
			continue
		}
		colour := l.Theme.Good
		if n < 0 {
			colour = l.Theme.Bad
		}
		out = append(out, cells.Span{Text: plain, Style: style}, cells.Span{Text: word, Style: colour})
		plain = ""
	}
	return append(out, cells.Span{Text: plain, Style: style})
}
