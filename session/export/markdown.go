package export

import (
	"fmt"
	"strings"
)

func markdownPage(d Document) string {
	b := &strings.Builder{}
	markdownDocument(b, d, 1)
	return b.String()
}

func markdownDocument(b *strings.Builder, d Document, level int) {
	h := strings.Repeat("#", min(level, 5))
	fmt.Fprintf(b, "%s %s\n\n", h, escapeMarkdown(title(d)))
	for _, f := range facts(d) {
		fmt.Fprintf(b, "- %s: %s\n", f[0], escapeMarkdown(f[1]))
	}
	b.WriteString("\n")
	for _, it := range story(d) {
		markdownItem(b, it, h+"#")
	}
	for _, t := range d.Tasks {
		markdownDocument(b, t, level+1)
	}
}

func markdownItem(b *strings.Builder, it item, h string) {
	who := it.who
	if it.archived {
		who += " (summarised later)"
	}
	fmt.Fprintf(b, "%s %s\n\n", h, who)
	if it.reasoning != "" {
		for line := range strings.Lines(it.reasoning) {
			b.WriteString("> " + strings.TrimRight(line, "\n") + "\n")
		}
		b.WriteString("\n")
	}
	if it.text != "" {
		b.WriteString(it.text + "\n\n")
	}
	for _, p := range it.images {
		b.WriteString(escapeMarkdown(imageNote(p)) + "\n\n")
	}
	for _, c := range it.calls {
		markdownCall(b, c, h+"#")
	}
}

func markdownCall(b *strings.Builder, c call, h string) {
	head := c.name
	if c.about != "" {
		head += " " + code(c.about)
	}
	state := string(c.status)
	if c.took != "" {
		state += ", " + c.took
	}
	fmt.Fprintf(b, "%s %s (%s)\n\n", h, head, state)
	if c.arguments != "" && c.arguments != "{}" {
		fence(b, "json", c.arguments)
	}
	if c.diff != "" {
		fence(b, "diff", c.diff)
	}
	if c.result != "" {
		fence(b, "", c.result)
	}
	for _, p := range c.images {
		b.WriteString(escapeMarkdown(imageNote(p)) + "\n\n")
	}
}

// fence writes a code block whose fence is longer than any in the text.
func fence(b *strings.Builder, lang, s string) {
	mark := strings.Repeat("`", max(3, longest(s, '`')+1))
	fmt.Fprintf(b, "%s%s\n%s\n%s\n\n", mark, lang, s, mark)
}

// code returns text as a code span.
func code(s string) string {
	mark := strings.Repeat("`", longest(s, '`')+1)
	if len(mark) > 1 {
		return mark + " " + s + " " + mark
	}
	return mark + s + mark
}

// longest returns the length of the longest run of a byte.
func longest(s string, c byte) int {
	most, run := 0, 0
	for i := range len(s) {
		if s[i] == c {
			run++
			most = max(most, run)
		} else {
			run = 0
		}
	}
	return most
}

func escapeMarkdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "#", `\#`, "|", `\|`).Replace(s)
}
