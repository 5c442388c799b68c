package text

import (
	"regexp"
	"strings"
	"sync"
)

// marks are what Markdown writes around words, and links. They are compiled at the first use.
var marks = sync.OnceValue(func() (m struct{ begin, strong, link *regexp.Regexp }) {
	m.begin = regexp.MustCompile(`^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ xX]\]\s+)?)+`)
	m.strong = regexp.MustCompile(`\*\*(\S(?:[^*]*\S)?)\*\*|\b__(\S(?:[^_]*\S)?)__\b`)
	m.link = regexp.MustCompile(`!?\[([^\]]+)\]\([^)\s]+\)`)
	return m
})

// Prose returns the words of a Markdown text on one line: without the marks of headings, lists, quotes, links and strong
// words, and without fences. Code keeps its characters.
func Prose(markdown string) string {
	var out []string
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") || strings.Trim(line, "-*_ |:") == "" {
			continue
		}
		parts := strings.Split(marks().begin.ReplaceAllString(line, ""), "`")
		for i := range parts {
			if i%2 == 0 || i == len(parts)-1 { // otherwise it is code
				parts[i] = marks().link.ReplaceAllString(marks().strong.ReplaceAllString(parts[i], "$1$2"), "$1")
			}
		}
		out = append(out, strings.Join(parts, ""))
	}
	return OneLine(strings.Join(out, " "))
}
