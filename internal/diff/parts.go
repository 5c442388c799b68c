package diff

import (
	"strconv"
	"strings"
)

// Part is a hunk of a unified diff with its context: the lines of both texts that it covers.
type Part struct {
	Hunk
	Name           string // of the file, as the diff shows it
	Text           string // with its `@@` line
	Added, Removed int
}

// Diff returns the part as a diff of its own.
func (p Part) Diff() string { return "--- a/" + p.Name + "\n+++ b/" + p.Name + "\n" + p.Text }

// Parts returns the hunks of a unified diff as Files writes it, or of several one after the other. It returns none
// for a diff that was cut, or that it cannot read.
func Parts(unified string) []Part {
	var out []Part
	from, name := "", ""
	oldLeft, nowLeft := 0, 0
	for line := range strings.Lines(unified) {
		if n := len(out) - 1; oldLeft > 0 || nowLeft > 0 {
			out[n].Text += line
			switch line[0] {
			case '+':
				nowLeft--
				out[n].Added++
			case '-':
				oldLeft--
				out[n].Removed++
			case ' ':
				oldLeft, nowLeft = oldLeft-1, nowLeft-1
			case '\\':
				if strings.HasSuffix(line, " are not shown\n") {
					return nil
				}
			}
			continue
		}
		switch {
		case strings.HasPrefix(line, "--- "):
			from = named(line)
		case strings.HasPrefix(line, "+++ "):
			if name = named(line); name == "/dev/null" {
				name = from
			}
		case strings.HasPrefix(line, "@@ "):
			h, ok := header(line)
			if !ok {
				return nil
			}
			oldLeft, nowLeft = h.FromEnd-h.From, h.ToEnd-h.To
			out = append(out, Part{Hunk: h, Name: name, Text: line})
		case strings.HasPrefix(line, `\`) && len(out) > 0:
			if strings.HasSuffix(line, " are not shown\n") {
				return nil
			}
			out[len(out)-1].Text += line
		}
	}
	if oldLeft > 0 || nowLeft > 0 {
		return nil
	}
	return out
}

// named returns the file that a line `--- a/…` or `+++ b/…` names.
func named(line string) string {
	name := strings.TrimRight(line[4:], "\n")
	return strings.TrimPrefix(strings.TrimPrefix(name, "a/"), "b/")
}

// header parses `@@ -3,7 +3,8 @@`.
func header(line string) (h Hunk, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return h, false
	}
	span := func(s, sign string) (start, end int, ok bool) {
		first, many, counted := strings.Cut(strings.TrimPrefix(s, sign), ",")
		start, err := strconv.Atoi(first)
		n := 1
		if counted && err == nil {
			n, err = strconv.Atoi(many)
		}
		if n > 0 {
			start--
		}
		return start, start + n, err == nil && start >= 0 && n >= 0
	}
	var is bool
	if h.From, h.FromEnd, ok = span(fields[1], "-"); ok {
		h.To, h.ToEnd, is = span(fields[2], "+")
	}
	return h, ok && is
}

// Take returns old with those hunks of its diff to now that kept names; ok is false if they are not hunks of these
// texts.
func Take(old, now string, parts []Part, kept func(i int) bool) (taken string, ok bool) {
	before, after := Lines(old), Lines(now)
	var b strings.Builder
	at := 0
	for i, p := range parts {
		if p.From < at || p.FromEnd > len(before) || p.ToEnd > len(after) {
			return "", false
		}
		b.WriteString(strings.Join(before[at:p.From], ""))
		if kept(i) {
			b.WriteString(strings.Join(after[p.To:p.ToEnd], ""))
		} else {
			b.WriteString(strings.Join(before[p.From:p.FromEnd], ""))
		}
		at = p.FromEnd
	}
	b.WriteString(strings.Join(before[at:], ""))
	return b.String(), true
}

// First returns the number, from 1, of the first line that differs.
func (p Part) First() int {
	n := p.To
	for line := range strings.Lines(p.Text) {
		switch line[0] {
		case '+', '-':
			return n
		case ' ', '@':
			n++
		}
	}
	return n
}
