package acp

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"jcode/internal/paths"

	"github.com/coder/acp-go-sdk"
)

// maxWhole bounds the files that are shown in full around a change, in bytes.
const maxWhole = 1 << 20

// side says which version of a changed file is on disk.
type side int

const (
	sideNone   side = iota // neither is certain: only the changed parts are shown
	sideBefore             // the change has not been made yet
	sideAfter              // it was made
)

// fileDiff is what changed in one file, as an editor shows it.
type fileDiff struct {
	path     string // absolute
	line     int    // the first changed line, 1-based
	created  bool
	old, now string
}

func (f fileDiff) content() *acp.ToolCallContentDiff {
	d := &acp.ToolCallContentDiff{Path: f.path, NewText: f.now, Type: "diff"}
	if !f.created {
		d.OldText = acp.Ptr(f.old)
	}
	return d
}

// hunk is one changed part of a file.
type hunk struct {
	oldAt, newAt int // 1-based lines
	old, now     []string
}

// fileDiffs splits a unified diff of one or more files. If the file on disk matches the diff, both versions
// are complete; otherwise they contain only the hunks.
func fileDiffs(diff, cwd string, on side) []fileDiff {
	var out []fileDiff
	lines := strings.SplitAfter(diff, "\n")
	for i := 0; i < len(lines); {
		if !strings.HasPrefix(lines[i], "--- ") || i+1 >= len(lines) || !strings.HasPrefix(lines[i+1], "+++ ") {
			i++
			continue
		}
		from, to := header(lines[i]), header(lines[i+1])
		var hunks []hunk
		hunks, i = readHunks(lines, i+2)
		out = append(out, makeFileDiff(from, to, cwd, hunks, on))
	}
	return out
}

// header returns the name in a `--- a/x` or `+++ b/x` line, "" for /dev/null.
func header(line string) string {
	name := strings.TrimRight(line[4:], "\r\n")
	name, _, _ = strings.Cut(name, "\t")
	if name == "/dev/null" {
		return ""
	}
	if unquoted, err := strconv.Unquote(name); err == nil {
		name = unquoted
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, "a/"), "b/")
}

func readHunks(lines []string, i int) ([]hunk, int) {
	var hunks []hunk
	for i < len(lines) && strings.HasPrefix(lines[i], "@@") {
		h := hunk{oldAt: 1, newAt: 1}
		var oldLeft, newLeft int
		if fields := strings.Fields(lines[i]); len(fields) >= 3 {
			h.oldAt, oldLeft = span(fields[1])
			h.newAt, newLeft = span(fields[2])
		}
		for i++; i < len(lines) && (oldLeft > 0 || newLeft > 0 || strings.HasPrefix(lines[i], `\`)); i++ {
			line := lines[i]
			if line == "" {
				break
			}
			switch line[0] {
			case ' ':
				h.old, h.now = append(h.old, line[1:]), append(h.now, line[1:])
				oldLeft, newLeft = oldLeft-1, newLeft-1
			case '-':
				h.old = append(h.old, line[1:])
				oldLeft--
			case '+':
				h.now = append(h.now, line[1:])
				newLeft--
			case '\\': // no newline at the end of the file
				trimLast(lines[i-1], &h)
			}
		}
		hunks = append(hunks, h)
	}
	return hunks, i
}

// trimLast removes the line end from the side that the line before the mark belongs to.
func trimLast(marked string, h *hunk) {
	cut := func(list []string) {
		if n := len(list); n > 0 {
			list[n-1] = strings.TrimSuffix(list[n-1], "\n")
		}
	}
	if marked == "" {
		return
	}
	if marked[0] != '+' {
		cut(h.old)
	}
	if marked[0] != '-' {
		cut(h.now)
	}
}

// span parses "-3,7".
func span(s string) (at, count int) {
	first, second, both := strings.Cut(strings.TrimLeft(s, "+-"), ",")
	at, err := strconv.Atoi(first)
	if err != nil {
		return 1, 0
	}
	if !both {
		return at, 1
	}
	if count, err = strconv.Atoi(second); err != nil {
		return at, 0
	}
	return at, count
}

func makeFileDiff(from, to, cwd string, hunks []hunk, on side) fileDiff {
	f := fileDiff{path: absolute(cmp.Or(to, from), cwd), line: 1, created: from == ""}
	if len(hunks) > 0 {
		f.line = max(hunks[0].newAt, 1)
	}
	if on != sideNone && f.whole(hunks, on) {
		return f
	}
	var old, now []string
	for _, h := range hunks {
		old, now = append(old, h.old...), append(now, h.now...)
	}
	f.old, f.now = strings.Join(old, ""), strings.Join(now, "")
	return f
}

// whole fills in both versions of the whole file, if the one on disk matches the hunks.
func (f *fileDiff) whole(hunks []hunk, on side) bool {
	if f.created && on == sideBefore {
		return false // the hunks contain all of it
	}
	info, err := os.Stat(f.path)
	if err != nil || info.Size() > maxWhole || !info.Mode().IsRegular() {
		return false
	}
	raw, err := paths.ReadFile(f.path, maxWhole)
	if err != nil {
		return false
	}
	have := strings.SplitAfter(string(raw), "\n")
	var out []string
	at := 0
	for _, h := range hunks {
		is, other, start := h.old, h.now, h.oldAt
		if on == sideAfter {
			is, other, start = h.now, h.old, h.newAt
		}
		if len(is) > 0 {
			start-- // an empty side names the line before
		}
		if start < at || start+len(is) > len(have) {
			return false
		}
		for i, line := range is {
			if have[start+i] != line {
				return false
			}
		}
		out = append(append(out, have[at:start]...), other...)
		at = start + len(is)
	}
	out = append(out, have[at:]...)
	f.old, f.now = string(raw), strings.Join(out, "")
	if on == sideAfter {
		f.old, f.now = f.now, f.old
	}
	return true
}
