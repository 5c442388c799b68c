package tui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools"
)

// turnSum sums up a turn: how long it took, which files it changed, and what it used.
type turnSum struct {
	took   time.Duration
	files  []fileSum
	before event.Usage // what the session had used when the turn began
	after  event.Usage
	undo   bool // files can be restored
}

// fileSum counts the lines that a turn added to a file and removed from it.
type fileSum struct {
	path           string
	added, removed int
}

// note records a finished call's change of a file.
func (s *turnSum) note(d tools.Display) {
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
	for _, ln := range parseDiff(diff).lines {
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

// parts returns the words of the line, the most important first.
func (s *turnSum) parts() []string {
	var out []string
	if s.took >= 50*time.Millisecond {
		out = append(out, seconds(s.took))
	}
	for i, f := range s.files {
		if i == filesShown && len(s.files) > filesShown+1 {
			out = append(out, "and "+itoa(len(s.files)-filesShown)+" more")
			break
		}
		out = append(out, visibleName(f.path)+" +"+itoa(f.added)+" -"+itoa(f.removed))
	}
	in, made := s.after.Total.Input-s.before.Total.Input, s.after.Total.Output-s.before.Total.Output
	if in+made > 0 {
		out = append(out, thousands(in)+" tokens in, "+thousands(made)+" out")
	}
	if cost := s.after.Cost - s.before.Cost; s.after.Priced && cost > 0 {
		out = append(out, text.Spent(cost, s.after.Total.Estimated))
	}
	if s.undo {
		out = append(out, "/undo")
	}
	return out
}

// item returns the line at the end of a turn; nil if there is nothing to report.
func (s *turnSum) item() item {
	parts := s.parts()
	if len(parts) == 0 {
		return nil
	}
	return newTurnLine(parts)
}

func newTurnLine(parts []string) *turnLine {
	return &turnLine{textItem{plain: strings.Join(parts, " · "), draw: func(l *look) []string {
		return []string{cells.Paint(l.theme.Faint, "  "+fitParts(parts, max(l.width-2, 1)))}
	}}}
}

// turnLine is the line at the end of a turn.
type turnLine struct{ textItem }

// fitParts joins as many parts as fit. It drops from the end, but always keeps the first and the last one.
func fitParts(parts []string, width int) string {
	for len(parts) > 2 && cells.Width(strings.Join(parts, " · ")) > width {
		parts = append(slices.Clone(parts[:len(parts)-2]), parts[len(parts)-1])
	}
	return cells.Fit(strings.Join(parts, " · "), width)
}

// seconds formats a duration.
func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Minute:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Second).String(), "0s")
}

func itoa(n int) string { return strconv.Itoa(n) }
