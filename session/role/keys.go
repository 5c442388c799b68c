package role

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// keys are the keys of a role file.
func keys() []string {
	return []string{
		"description", "model", "temperature", "top_p", "reasoning_effort", "max_output_tokens", "tools", "mcp_servers", "documents", "skills",
		"capabilities", "disallowed_tools", "max_steps", "variables", "mode", "hooks", "memory",
	}
}

// knownKey returns the key of a role file that a key means in any usual spelling (`disallowedTools`), or the
// key as it is.
func knownKey(key string) string {
	for _, known := range keys() {
		if bare(key) == bare(known) {
			return known
		}
	}
	return roleKey(key)
}

// harmless reports whether an unknown key can't have been meant to limit a role: one that only describes it,
// or one that is marked as the writer's own.
func harmless(key string) bool {
	key = roleKey(key)
	return strings.HasPrefix(key, "x_") || slices.Contains([]string{"name", "title", "color", "colour", "icon", "version", "author", "license", "tags", "metadata"}, key)
}

// meantToLimit reports whether an unknown key of a definition of an agent was likely meant to limit it.
func meantToLimit(key string) bool {
	key = bare(key)
	return slices.ContainsFunc([]string{"tool", "permission", "mode", "mcp", "capab", "sandbox", "allow", "deny", "denied", "restrict", "readonly"}, func(part string) bool {
		return strings.Contains(key, part)
	}) && !strings.Contains(key, "model")
}

// limits reports whether a line gives one of the keys with which a role is limited, wherever it begins.
func limits(line string) bool {
	key := keyOf(line)
	return key != "" && (slices.Contains(keys(), knownKey(key)) && knownKey(key) != "description" && knownKey(key) != "variables" || bare(key) == "permissionmode" || bare(key) == "allowedtools")
}

// keyOf returns the key of a line `key: value`, also of one that is indented, quoted, or part of a list or a
// map; "" for other lines.
func keyOf(line string) string {
	line = strings.TrimLeft(line, " \t-{,\u200b\u200c\u200d\u2060\ufeff\u00a0\"'")
	key, _, ok := strings.Cut(line, ":")
	key = strings.Trim(key, " \t\"'")
	if !ok || key == "" || strings.Trim(strings.ToLower(key), "abcdefghijklmnopqrstuvwxyz_-") != "" {
		return ""
	}
	return key
}

// misplaced returns the 1-based line of a text at which keys of a role begin that are not its front matter, 0
// if there are none: keys at its very start where there is no front matter (present), or between marks that come after blank lines, a heading, an empty
// pair of marks, other text. What a closed fence of code shows is an example, unless the text begins with it.
func misplaced(body string, present bool) int {
	lines := strings.Split(strings.NewReplacer("\u0085", "\n", "\u2028", "\n", "\u2029", "\n", "\v", "\n", "\f", "\n").Replace(body), "\n")
	fence, begun := "", false // begun: something was read that is neither a heading nor a comment
	for i, line := range lines {
		line = strings.TrimFunc(line, invisible)
		switch {
		case fence != "" && strings.HasPrefix(line, fence):
			fence = ""
		case fence != "":
		case line == "":
		case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
			if !begun && i+1 < len(lines) && (mark(lines[i+1]) || limits(lines[i+1])) {
				return i + 1
			}
			fence = line[:3]
		case mark(line):
			if i+1 < len(lines) && closes(lines[i+1:]) {
				return i + 1
			}
			if i > 0 && limits(lines[i-1]) {
				return i
			}
		case !begun && !present && limits(line):
			return i + 1
		case strings.HasPrefix(line, "#") || strings.HasPrefix(line, "<!--"):
		default:
			begun = true
		}
	}
	return 0
}

// invisible reports whether a character shows nothing at the edge of a line.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// mixed reports whether a key looks like one of Latin letters and has others that look the same.
func mixed(key string) bool {
	latin, other := false, false
	for _, r := range key {
		latin = latin || r < utf8.RuneSelf && unicode.IsLetter(r)
		other = other || unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee) || r >= 0xff01 && r <= 0xff5e
	}
	return latin && other && strings.Contains(key, ":") || strings.ContainsRune(key, '\uff1a')
}

// mark reports whether a line is a mark of front matter, or what an editor made of one.
func mark(line string) bool {
	line = strings.TrimFunc(line, invisible)
	if len(line) > 1 && strings.Trim(line, line[:1]) == "" && strings.Contains("-*_=~+", line[:1]) {
		return true
	}
	return strings.HasPrefix(line, "---") || line == "\u2014" || line == "\u2014-" || line == "\u2013-" || line == "\u2014\u2014"
}

// closes reports whether lines give a key of a role before the next mark, and nothing but lines of that form
// before it.
func closes(lines []string) bool {
	for _, line := range lines {
		switch line = strings.TrimSpace(line); {
		case limits(line), strings.HasPrefix(line, "mode ="), strings.HasPrefix(line, "tools ="):
			return true
		case line == "" || keyOf(line) != "" || strings.HasPrefix(line, "#"):
		default:
			return false
		}
	}
	return false
}
