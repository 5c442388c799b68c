package look

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"jcode/internal/cells"
	"jcode/internal/text"
)

// OneLine shows external text in one line, sanitised.
func OneLine(s string) string {
	s = text.Clean(s)
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.TrimSpace(s), "\n", " ⏎ ")), " ")
}

// Seconds formats a duration.
func Seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Minute:
		return d.Round(time.Second).String()
	}
	s := d.Round(time.Second).String()
	if whole, ok := strings.CutSuffix(s, "m0s"); ok {
		return whole + "m"
	}
	return s
}

// Size abbreviates a number of bytes.
func Size(n int) string { return abbreviated(n, " B", " KB", " MB") }

// Thousands abbreviates a count of tokens.
func Thousands(n int) string { return abbreviated(n, "", "k", "M") }

// abbreviated writes a number with the largest unit that fits: one, a thousand, or a million.
func abbreviated(n int, one, thousand, million string) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n) + one
	case n < 1000*1000:
		return fmt.Sprintf("%.1f", float64(n)/1000) + thousand
	}
	return fmt.Sprintf("%.1f", float64(n)/1e6) + million
}

// ShortPath writes a path with ~ for the home folder.
func ShortPath(path, home string) string {
	if home != "" && (path == home || strings.HasPrefix(path, home+"/")) {
		return "~" + path[len(home):]
	}
	return path
}

// Tilde writes ~ for the home folder wherever a text for a person names it or a path in it. What must be exact, such as a
// command, stays as it is.
func (l *Look) Tilde(s string) string {
	if len(l.Home) < 2 || !strings.Contains(s, l.Home) {
		return s
	}
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-~", r) }
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, l.Home)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		last, _ := utf8.DecodeLastRuneInString(b.String())
		next, _ := utf8.DecodeRuneInString(after)
		if last == '/' || part(last) || part(next) {
			b.WriteString(l.Home)
		} else {
			b.WriteString("~")
		}
		s = after
	}
}

// VisibleName shows a file's name in one line, with control characters and line ends escaped and quoted.
func VisibleName(name string) string {
	return text.Visible(strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(name))
}

// Beginning returns the start of a text, at most n runes.
func Beginning(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// Exact shows external text with everything that it contains, in columns.
func Exact(s string) string {
	return showBlanks(cells.ExpandTabs(text.Visible(s), 4))
}

// showBlanks makes long runs of spaces visible: text after them must not get lost.
func showBlanks(s string) string {
	const long = 20
	var b strings.Builder
	for len(s) > 0 {
		n := 0
		for n < len(s) && s[n] == ' ' {
			n++
		}
		if n >= long {
			b.WriteString(" ⟨" + strconv.Itoa(n) + " spaces⟩ ")
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
		end := strings.IndexByte(s, ' ')
		if end < 0 {
			end = len(s)
		}
		b.WriteString(s[:end])
		s = s[end:]
	}
	return b.String()
}

// FirstWord returns a text up to its first blank.
func FirstWord(s string) string {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i]
	}
	return s
}
