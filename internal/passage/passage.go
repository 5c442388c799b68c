package passage

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Passage is a part of a document.
type Passage struct {
	// Heading says where the passage is: headings joined by " › ", a declaration, or a page; "" for
	// none.
	Heading string
	// First and Last are its lines, from 1.
	First, Last int
	Text        string
}

// The sizes of passages, in bytes.
const (
	maxText    = 2400 // longer parts are cut at blank lines, else between lines, else in a line
	minText    = 600  // shorter neighbours under one heading are joined
	maxHeading = 200
)

// Split splits the text of a document into passages. The form is chosen by the extension of the
// name; text with an unknown extension is split into paragraphs.
func Split(name, text string) []Passage {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case isMarkdown(ext):
		return cut(lines, markdownHeadings(lines))
	case isSource(ext):
		return cut(lines, declarations(lines))
	}
	return cut(lines, nil)
}

// Pages returns the passages of the pages of a document, numbered from 1. Lines are counted
// across all pages.
func Pages(pages []string) []Passage {
	var lines []string
	var marks []mark
	for i, page := range pages {
		marks = append(marks, mark{len(lines), "page " + strconv.Itoa(i+1)})
		lines = append(lines, strings.Split(strings.TrimSuffix(strings.ToValidUTF8(page, "\uFFFD"), "\n"), "\n")...)
	}
	return cut(lines, marks)
}

// mark is a place at which a part begins, and the heading of what follows.
type mark struct {
	line    int // from 0
	heading string
}

// cut returns passages of lines: parts begin at marks.
func cut(lines []string, marks []mark) []Passage {
	var out []Passage
	if len(marks) == 0 || marks[0].line > 0 {
		marks = append([]mark{{}}, marks...)
	}
	for i, m := range marks {
		end := len(lines)
		if i+1 < len(marks) {
			end = marks[i+1].line
		}
		out = append(out, pieces(lines, m.line, end, shorten(m.heading))...)
	}
	return out
}

func shorten(heading string) string {
	if len(heading) <= maxHeading {
		return heading
	}
	n := maxHeading
	for n > 0 && !utf8.RuneStart(heading[n]) {
		n--
	}
	return heading[:n] + "…"
}

// pieces splits the lines from begin to end into passages of limited size.
func pieces(lines []string, begin, end int, heading string) []Passage {
	var out []Passage
	add := func(from, to int) {
		for from < to && strings.TrimSpace(lines[from]) == "" {
			from++
		}
		for to > from && strings.TrimSpace(lines[to-1]) == "" {
			to--
		}
		if from < to {
			out = append(out, Passage{Heading: heading, First: from + 1, Last: to, Text: strings.Join(lines[from:to], "\n")})
		}
	}
	start, size, blank := begin, 0, -1 // blank is the last blank line at which the part may end
	for i := begin; i < end; i++ {
		switch line := lines[i]; {
		case len(line) > maxText:
			add(start, i)
			for part := range chunks(line) {
				out = append(out, Passage{Heading: heading, First: i + 1, Last: i + 1, Text: part})
			}
			start, size, blank = i+1, 0, -1
			continue
		case strings.TrimSpace(line) == "" && size >= minText:
			blank = i
		}
		if size += len(lines[i]) + 1; size <= maxText {
			continue
		}
		if blank < 0 {
			blank = i
		}
		add(start, blank)
		start, size = blank, 0
		for j := start; j <= i; j++ {
			size += len(lines[j]) + 1
		}
		blank = -1
	}
	add(start, end)
	return out
}

// chunks yields the parts of one long line, cut between runes, at spaces where there are some.
func chunks(line string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for len(line) > maxText {
			n := strings.LastIndexByte(line[:maxText], ' ')
			if n < maxText/2 {
				n = maxText
				for n > 0 && !utf8.RuneStart(line[n]) {
					n--
				}
			}
			if n == 0 || !yield(line[:n]) {
				return
			}
			line = line[n:]
		}
		if strings.TrimSpace(line) != "" {
			yield(line)
		}
	}
}
