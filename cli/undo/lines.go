package undo

import (
	"fmt"
	"slices"
	"strings"

	"jcode/internal/text"
	"jcode/session"
)

// ByAuthor lists lines of paths, those that something other than jcode's own tools changed below its name.
func ByAuthor(lines []Line) (out []string) {
	slices.SortStableFunc(lines, func(a, b Line) int { return strings.Compare(a.By, b.By) })
	last := ""
	for _, l := range lines {
		if l.By != last {
			last = l.By
			out = append(out, "changed by "+text.Truncate(text.Visible(l.By), 140, "…")+":")
		}
		if l.By != "" {
			l.Text = "  " + l.Text
		}
		out = append(out, l.Text)
	}
	return out
}

// Line is a line about a path and what had changed the path.
type Line struct{ By, Text string }

// Lines describes what an undo or redo did, one line per file.
func Lines(r session.UndoReport, shown func(path string) string) string {
	var about []Line
	for _, c := range r.Restored {
		about = append(about, Line{c.By, fmt.Sprintf("%s (%s)", shown(c.Path), c.What)})
	}
	for _, c := range r.Skipped {
		about = append(about, Line{c.By, fmt.Sprintf("%s left alone: %s", shown(c.Path), c.What)})
	}
	lines := ByAuthor(about)
	var ran []string
	for _, what := range r.Cannot {
		if line, ok := strings.CutPrefix(what, "ran: "); ok {
			if !slices.Contains(ran, line) {
				ran = append(ran, line)
			}
			continue
		}
		lines = append(lines, "cannot be undone: "+what)
	}
	if ran != nil {
		const most = 5
		more := ""
		if len(ran) > most {
			more = fmt.Sprintf(" and %d more", len(ran)-most)
		}
		lines = append(lines, "only files are undone, nothing else that these did: "+strings.Join(ran[:min(len(ran), most)], " · ")+more)
	}
	if lines == nil {
		return "nothing"
	}
	return strings.Join(lines, "\n")
}
