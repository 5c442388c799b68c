package edit

import (
	"fmt"
	"strconv"
	"strings"
)

// Edit asks for one replacement.
type Edit struct {
	// Old is the text to replace. If it is empty, it matches only an empty text.
	Old string
	// New replaces it, literally.
	New string
	// All replaces every occurrence; otherwise Old must be unique.
	All bool
}

// FileChange is the change of one file among several: its text before and after, both without a byte order mark.
type FileChange struct {
	Path          string // resolved
	Before, After string
}

// Done is the result of a list of edits.
type Done struct {
	// Text is the changed text.
	Text string
	// Places is the number of replaced places.
	Places int
	// Notes say what was not done literally: how a place was found, and what was adapted to the
	// file.
	Notes []string
}

// Apply carries out edits one after another, all or none. Text is a file's content without
// a byte order mark. An error says what to try next.
func Apply(content string, edits []Edit) (Done, error) {
	if len(edits) == 0 {
		return Done{}, fmt.Errorf("no edits given")
	}
	done := Done{Text: content}
	for i, e := range edits {
		next, err := apply(done.Text, e)
		if err != nil {
			if len(edits) > 1 {
				err = fmt.Errorf("edit %d of %d: %w (none of the edits was made)", i+1, len(edits), err)
			}
			return Done{}, err
		}
		done.Text = next.Text
		done.Places += next.Places
		for _, n := range next.Notes {
			if len(edits) > 1 {
				n = fmt.Sprintf("edit %d: %s", i+1, n)
			}
			done.Notes = append(done.Notes, n)
		}
	}
	if done.Text == content {
		return Done{}, fmt.Errorf("no change: the edits undo each other")
	}
	return done, nil
}

func apply(content string, e Edit) (Done, error) {
	e.Old = strings.TrimPrefix(e.Old, bom)
	if e.Old == "" {
		if content != "" {
			return Done{}, fmt.Errorf("old_string is empty, which only fits a file that is absent or empty: " +
				"give the text to replace, or use write to replace the whole file")
		}
		if e.New == "" {
			return Done{}, fmt.Errorf("no change: old_string and new_string are both empty")
		}
		return Done{Text: e.New, Places: 1}, nil
	}
	if e.Old == e.New {
		return Done{}, fmt.Errorf("no change: old_string and new_string are equal")
	}
	if line, ok := Omission(e.New, e.Old+"\n"+content); ok {
		return Done{}, omissionError(line)
	}
	done, found, err := exact(content, e)
	if err == nil && !found {
		done, found, err = loose(content, e)
	}
	if err == nil && !found {
		err = notFound(content, e)
	}
	if err == nil && done.Text == content {
		err = fmt.Errorf("no change: the file already reads as new_string says")
	}
	return done, err
}

// exact replaces byte-for-byte occurrences.
func exact(content string, e Edit) (done Done, found bool, err error) {
	at := occurrences(content, e.Old)
	switch {
	case len(at) == 0:
		return Done{}, false, nil
	case len(at) > 1 && !e.All:
		return Done{}, true, ambiguous(linesOf(content, at), len(at), "")
	}
	// If only the line endings differ, the edit is meant to change them.
	adapt := strings.Contains(e.New, "\n") && strings.Contains(content, "\n") && toLF(e.Old) != toLF(e.New)
	var b strings.Builder
	pos := 0
	adapted := ""
	for _, i := range at {
		if i < pos {
			continue // it overlaps the one before
		}
		b.WriteString(content[pos:i])
		pos = i + len(e.Old)
		text, note := e.New, ""
		if adapt {
			text, note = withEnding(e.New, endingAt(content, i, pos))
		}
		b.WriteString(text)
		if note != "" {
			adapted = note
		}
		done.Places++
	}
	b.WriteString(content[pos:])
	done.Text = b.String()
	if adapted != "" {
		done.Notes = append(done.Notes, adapted)
	}
	return done, true, nil
}

// occurrences returns the offset of each occurrence, overlapping ones too.
func occurrences(s, sub string) []int {
	var at []int
	for from := 0; ; {
		i := strings.Index(s[from:], sub)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + 1
	}
}

// ambiguous returns the error that says at which lines an old string occurs, the first of total
// ones. how says what was ignored to find it.
func ambiguous(lines []int, total int, how string) error {
	if how != "" {
		return fmt.Errorf("old_string is not in the file as it is written. Ignoring %s it is found %d times, at lines %s: copy the exact text from the file, with enough lines around it to be unique",
			how, total, list(lines, total))
	}
	return fmt.Errorf("old_string is found %d times, at lines %s: add lines around it to make it unique, or set replace_all", total, list(lines, total))
}

// linesOf returns the lines of the first offsets, as many as an error names.
func linesOf(content string, at []int) []int {
	lines := make([]int, min(len(at), listed))
	for i := range lines {
		lines[i] = lineOf(content, at[i])
	}
	return lines
}

// listed is the number of line numbers that an error names.
const listed = 20

// list formats line numbers, the first of total ones, for a sentence.
func list(lines []int, total int) string {
	parts := make([]string, 0, len(lines))
	for _, l := range lines[:min(len(lines), listed)] {
		parts = append(parts, strconv.Itoa(l))
	}
	if left := total - len(parts); left > 0 {
		return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", left)
	}
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return parts[0]
}

// lineOf returns the 1-based line of an offset.
func lineOf(content string, at int) int { return strings.Count(content[:at], "\n") + 1 }

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// endingAt returns the line ending that applies at content[from:to]: the first one inside, otherwise
// the nearest before, otherwise the nearest after, or "" for a text without any.
func endingAt(content string, from, to int) string {
	at := strings.IndexByte(content[from:to], '\n')
	if at >= 0 {
		at += from
	} else if at = strings.LastIndexByte(content[:from], '\n'); at < 0 {
		if at = strings.IndexByte(content[to:], '\n'); at < 0 {
			return ""
		}
		at += to
	}
	if at > 0 && content[at-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// withEnding returns s with a line ending, and a note if that changed anything.
func withEnding(s, ending string) (out, note string) {
	if ending == "" || !strings.Contains(s, "\n") {
		return s, ""
	}
	out = toLF(s)
	if ending == "\r\n" {
		out = strings.ReplaceAll(out, "\n", ending)
	}
	if out == s {
		return s, ""
	}
	if ending == "\r\n" {
		return out, "the new lines end in CR LF, as the file's do"
	}
	return out, "the new lines end in LF, as the file's do"
}
