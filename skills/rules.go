package skills

import (
	"fmt"
	"strings"
	"unicode"

	"jcode/internal/frontmatter"
	"jcode/internal/toolcard"
)

// rules converts an allowed-tools value to permission rules. Items that name no tool of jcode are
// reported and left out, which can only narrow the rules.
func (p *reader) rules(key string) []string {
	f, ok := p.doc.Get(key)
	if !ok {
		return nil
	}
	var items []string
	switch f.Kind {
	case frontmatter.List:
		for _, item := range f.List {
			items = append(items, splitTools(item)...)
		}
	case frontmatter.Map:
		p.warn(f.Line, "`"+key+"` should be a list and is ignored", "write the tools in one line, separated by spaces")
	default:
		items = splitTools(f.Text)
	}
	var out []string
	seen := map[string]bool{}
	for _, item := range items {
		rule, why := toolRule(item)
		if why != "" {
			p.warn(f.Line, fmt.Sprintf("%s in `%s` %s and is ignored", quote(item), key, why), "name a tool of jcode, such as read or exec(git *)")
		} else if !seen[rule] {
			seen[rule] = true
			out = append(out, rule)
		}
	}
	return out
}

// splitTools splits a list at spaces and commas outside parentheses.
func splitTools(s string) []string {
	var out []string
	depth, start := 0, -1
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case depth == 0 && (r == ',' || unicode.IsSpace(r)):
			if start >= 0 {
				out = append(out, s[start:i])
				start = -1
			}
			continue
		}
		if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		out = append(out, s[start:])
	}
	return out
}

// toolRule converts one item, in jcode's or another program's notation, to a rule.
func toolRule(item string) (rule, why string) {
	name, pattern, has := strings.Cut(item, "(")
	if has {
		var closed bool
		if pattern, closed = strings.CutSuffix(pattern, ")"); !closed {
			return "", "lacks a closing parenthesis"
		}
	}
	tool, known := toolcard.Ours(name)
	if server, ok := strings.CutPrefix(tool, "mcp:"); ok && !has {
		if !known {
			return "", "names no server"
		}
		return "mcp(" + strings.TrimSuffix(server, ":*") + ")", ""
	}
	if !known || strings.Contains(tool, ":") {
		return "", "is not a tool that jcode has"
	}
	pattern = strings.TrimSpace(pattern)
	switch {
	case !has || pattern == "" || pattern == "*":
		return tool, ""
	case tool == "task" || tool == "todo" || tool == "ask" || tool == "skill":
		return "", "does not accept a pattern"
	case tool == "exec":
		// `git:*` is other programs' notation for "git and anything after it".
		if head, ok := strings.CutSuffix(pattern, ":*"); ok {
			pattern = head + " *"
		}
	}
	return tool + "(" + pattern + ")", ""
}
