package skills

import (
	"fmt"
	"strings"

	"jcode/internal/text"
	"jcode/tools"
)

// catalogueBytes limits the catalogue in the system prompt to about 3,000 tokens.
const catalogueBytes = 12 << 10

// Catalogue returns the skills that a scope may use, with clipped descriptions, for the system
// prompt. They are sorted by name; equal skills produce equal bytes, and the size is limited however
// many there are. It is empty if there are none.
func (r *Registry) Catalogue(scope *tools.Scope) string {
	var list []Skill
	for _, sk := range r.List() {
		if !sk.ManualOnly && scope.AllowsSkill(sk.Name) {
			list = append(list, sk)
		}
	}
	if len(list) == 0 {
		return ""
	}
	const head = "Before a task that one of these skills describes, load it with the tool `skill`:\n"
	lines, shown := catalogueLines(list, catalogueBytes-len(head)-100)
	var b strings.Builder
	b.WriteString(head)
	for _, l := range lines {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	if rest := len(list) - shown; rest > 0 {
		fmt.Fprintf(&b, "and %d more, which `reload_skills` lists.\n", rest)
	}
	return b.String()
}

// catalogueLines returns one line per skill, with descriptions as long as fit into limit for all
// of them. If even the bare names don't fit, the list is cut.
func catalogueLines(list []Skill, limit int) (lines []string, shown int) {
	for _, clip := range []int{240, 160, 110, 70, 0} {
		lines = lines[:0]
		size := 0
		for _, sk := range list {
			line := catalogueLine(sk, clip)
			if size += len(line) + 1; size > limit {
				break
			}
			lines = append(lines, line)
		}
		if len(lines) == len(list) {
			break
		}
	}
	return lines, len(lines)
}

// catalogueLine returns `- name: description`, with the description cut to clip bytes.
func catalogueLine(sk Skill, clip int) string {
	if clip == 0 {
		return "- " + sk.Name
	}
	return "- " + sk.Name + ": " + brief(sk.Description, clip)
}

// brief returns a text as one line of at most n bytes.
func brief(s string, n int) string {
	return text.Ellipsis(strings.Join(strings.Fields(s), " "), n)
}
