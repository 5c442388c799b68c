// Package review makes findings of a change: what of a diff a model is shown, which of its findings hold, and how they
// are printed; `jcode review` (Cmd in command.go, the first to read) and /review (Chat).
//
// It must not know how a model is asked: that is handed in (Setup.Ask).
package review

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// File is a file of a diff, as it is after the change.
type File struct {
	Path  string
	Lines map[int]string // what the diff shows of it, by number
	Text  string         // its part of the diff
}

// Parse reads what git diff writes. Files that are deleted or binary have no lines.
func Parse(diff string) (out []File) {
	var file *File
	at, left := 0, 0 // the next line, and how many of the hunk follow on the new side
	begun, read := 0, 0
	for line := range strings.Lines(diff) {
		body := strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "diff --git "):
			out = append(out, File{Lines: map[int]string{}})
			file, left, begun = &out[len(out)-1], 0, read
		case file == nil:
		case left == 0 && strings.HasPrefix(line, "+++ "):
			file.Path = named(body[4:])
		case strings.HasPrefix(line, "@@ "):
			at, left = begins(body)
		case left > 0 && body != "" && (body[0] == '+' || body[0] == ' '):
			file.Lines[at] = body[1:]
			at, left = at+1, left-1
		}
		if read += len(line); file != nil {
			file.Text = diff[begun:read]
		}
	}
	return out
}

// named is the path that a header of a diff names; "" for none.
func named(text string) string {
	text = strings.TrimSuffix(text, "\t")
	if plain, err := strconv.Unquote(text); err == nil && strings.HasPrefix(text, `"`) {
		text = plain
	}
	path, ok := strings.CutPrefix(text, "b/")
	if !ok {
		return ""
	}
	return path
}

// begins reads the head of a hunk: where it begins on the new side, and how many lines it has there.
func begins(head string) (first, count int) {
	for field := range strings.FieldsSeq(head) {
		if rest, ok := strings.CutPrefix(field, "+"); ok {
			from, n, found := strings.Cut(rest, ",")
			first, _ = strconv.Atoi(from) // git writes a number
			count = 1
			if found {
				count, _ = strconv.Atoi(n) // a number as well
			}
			return first, count
		}
	}
	return 0, 0
}

// MaxNew bounds a new file, in bytes.
const MaxNew = 256 << 10

// Added is the diff of a new file that git does not know yet. What can't be read, or is no text, is only named.
func Added(name string, read func() ([]byte, error)) string {
	head := "diff --git a/" + name + " b/" + name + "\nnew file\n--- /dev/null\n+++ b/" + name + "\n"
	body, err := read()
	if err != nil || strings.ContainsRune(string(body), 0) || !utf8.Valid(body) {
		return head + "(not shown: it is binary, too large, or can't be read)\n"
	}
	if len(body) == 0 {
		return head
	}
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	return head + "@@ -0,0 +1," + strconv.Itoa(len(lines)) + " @@\n+" + strings.Join(lines, "\n+") + "\n"
}
