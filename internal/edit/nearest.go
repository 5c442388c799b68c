package edit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"jcode/internal/pattern"
	"jcode/internal/text"
)

const (
	shownLines = 12  // lines of the nearest place in an error
	shownBytes = 200 // bytes of one of them
	similarMax = 20_000
)

// notFound returns the error that an old string does not occur, with the most similar place.
// Similarity only improves the message; it never selects what to replace.
func notFound(content string, e Edit) error {
	if content == "" {
		return fmt.Errorf("old_string is not in the file: the file is empty")
	}
	msg := "old_string is not in the file"
	present := alreadyThere(content, e.New)
	msg += present
	if strings.ContainsRune(e.Old, utf8.RuneError) && !utf8.ValidString(content) {
		msg += fmt.Sprintf("; the file is %s, and its bytes can't be named by U+FFFD: choose lines without it", EightBit)
	}
	msg += slip(content, e.Old)
	near, ok := Nearest(content, e.Old)
	if !ok && present != "" {
		return fmt.Errorf("%s Read the file to see", msg)
	}
	if !ok {
		return fmt.Errorf("%s, nor anything like it: read the file and copy the text exactly", msg)
	}
	return fmt.Errorf("%s. The nearest lines are (with the blanks as they are; ≠ is a line that differs):\n%s\ncopy the text exactly as the file has it", msg, near)
}

// Nearest shows the lines of a text that are most similar to others: with line numbers, and a mark where they differ. It returns false if no lines are similar.
func Nearest(content, want string) (shown string, ok bool) {
	if content == "" || strings.TrimSpace(want) == "" {
		return "", false
	}
	file := lines(content)
	old := lines(toLF(want))
	at, ok := nearest(file, old)
	if !ok {
		return "", false
	}
	end := min(at+len(old), len(file))
	differs := func(i int) bool { return strings.TrimSpace(file[i]) != strings.TrimSpace(old[min(i-at, len(old)-1)]) }
	return show(file[at:end], at+1, func(i int) bool { return differs(at + i) }), true
}

// alreadyThere says where the new text occurs, or returns "".
func alreadyThere(content, now string) string {
	if strings.TrimSpace(now) == "" {
		return ""
	}
	i, n := strings.Index(content, now), strings.Count(content, now)
	switch {
	case i < 0:
		return ""
	case n > 1:
		return fmt.Sprintf("; new_string is already there, %d times, first at line %d; the edit may have been made before", n, lineOf(content, i))
	}
	return fmt.Sprintf("; new_string is already there, at line %d; the edit may have been made before", lineOf(content, i))
}

var numbered = pattern.Lazy(`(?m)^\s*\d+\t`)

// slip names a known mistake that explains why old is not in content, or returns "".
func slip(content, old string) string {
	if plain := numbered().ReplaceAllString(old, ""); plain != old && strings.Contains(toLF(content), toLF(plain)) {
		return "; old_string has the line numbers that read shows: leave them out"
	}
	plain := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`).Replace(old)
	if plain != old && strings.Contains(toLF(content), plain) {
		return "; old_string is escaped twice: give line breaks, tabs and quotes as they are"
	}
	return ""
}

// nearest returns the index of the line where want is most similar to file: by the lines that are
// equal except for spaces at their ends, else by the most similar line.
func nearest(file, want []string) (at int, ok bool) {
	votes := map[int]int{}
	where := map[string][]int{}
	for i, l := range want {
		if key := strings.TrimSpace(l); len(key) > 1 {
			where[key] = append(where[key], i)
		}
	}
	best, most := 0, 0
	for i, l := range file {
		for _, k := range where[strings.TrimSpace(l)] {
			if i-k < 0 {
				continue
			}
			votes[i-k]++
			if v := votes[i-k]; v > most || v == most && i-k < best {
				best, most = i-k, v
			}
		}
	}
	if most > 0 && (most > 1 || len(want) <= 3) {
		return best, true
	}
	return similar(file, want, best, most > 0)
}

// similar looks for the line that is most like the longest wanted one.
func similar(file, want []string, fallback int, have bool) (at int, ok bool) {
	longest := 0
	for i, l := range want {
		if len(strings.TrimSpace(l)) > len(strings.TrimSpace(want[longest])) {
			longest = i
		}
	}
	pairs := bigrams(strings.TrimSpace(want[longest]))
	best, most := fallback, 0.5
	for i, l := range file[:min(len(file), similarMax)] {
		l = strings.TrimSpace(l)
		if len(l) > 4*len(want[longest])+20 || len(l) < 3 {
			continue
		}
		if s := likeness(pairs, l); s > most {
			best, most, have = max(0, i-longest), s, true
		}
	}
	return best, have
}

func bigrams(s string) map[[2]byte]int {
	m := map[[2]byte]int{}
	for i := 0; i+1 < len(s); i++ {
		m[[2]byte{s[i], s[i+1]}]++
	}
	return m
}

// likeness is the share of bigrams that two lines have in common, 0 to 1.
func likeness(a map[[2]byte]int, line string) float64 {
	total := 0
	for _, n := range a {
		total += n
	}
	b := bigrams(line)
	common := 0
	for k, n := range b {
		common += min(n, a[k])
	}
	if total+len(line) <= 1 {
		return 0
	}
	return 2 * float64(common) / float64(total+max(0, len(line)-1))
}

// show writes lines with numbers and visible white space, the first dozen of them.
func show(file []string, number int, differs func(i int) bool) string {
	var b strings.Builder
	for i, l := range file {
		if i == shownLines {
			fmt.Fprintf(&b, "  … %d more lines", len(file)-i)
			break
		}
		mark := " "
		if differs != nil && differs(i) {
			mark = "≠"
		}
		line, ending := body(l)
		if ending == "\r\n" {
			ending = "␍"
		} else {
			ending = ""
		}
		fmt.Fprintf(&b, "%s%5d  %s%s\n", mark, number+i, visible(line), ending)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// visible keeps blanks as they are, so that the line can be copied, and shows what is easily overlooked: spaces at the
// end, and what looks like a space and is none.
func visible(line string) string {
	line, cut := text.CutMark(line, shownBytes, "…")
	core := line
	if !cut {
		core = strings.TrimRight(line, " \t")
	}
	indent, rest := cutIndent(core)
	tail := ""
	if n := len(line) - len(core); n > 0 {
		tail = line[len(core):] + fmt.Sprintf(" [%s at the end]", text.Count(n, "blank"))
	}
	tabs := strings.Split(rest, "\t")
	for i, part := range tabs {
		tabs[i] = text.Visible(strings.NewReplacer("\u00a0", "<U+00A0>", "\u202f", "<U+202F>").Replace(part))
	}
	return indent + strings.Join(tabs, "\t") + tail
}
