// Package ignore owns the rules of .gitignore files: it parses them, and tells whether git would
// ignore a path.
//
// It must not walk folders or read files itself; the walker builds a Stack on the way.
package ignore

import "strings"

// Rules are the patterns of one ignore file. They are immutable.
type Rules struct{ list []rule }

// rule is one pattern line.
type rule struct {
	negated  bool
	dirOnly  bool
	anchored bool // it matches the whole path below the file's folder, not the last part
	kind     kind
	text     string   // literal, suffix or prefix by kind; of kindPath the part before any wildcard
	segments []string // the rest of the pattern by its slashes, for kindPath
}

type kind uint8

// The kinds of rules, fastest first.
const (
	kindLiteral kind = iota // no wildcard
	kindSuffix              // `*` and a literal
	kindPrefix              // a literal and `*`
	kindWild                // any wildcards in one part
	kindPath                // wildcards in several parts
)

// Parse parses an ignore file. It reads every line as git does; no line is an error.
func Parse(data []byte) *Rules {
	text := strings.TrimPrefix(string(data), "\ufeff")
	r := &Rules{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if one, ok := parse(line); ok {
			r.list = append(r.list, one)
		}
	}
	return r
}

// Empty reports whether there are no rules.
func (r *Rules) Empty() bool { return r == nil || len(r.list) == 0 }

func parse(line string) (r rule, ok bool) {
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	line = trimSpaces(line)
	if rest, neg := strings.CutPrefix(line, "!"); neg {
		r.negated, line = true, rest
	}
	if rest, dir := strings.CutSuffix(line, "/"); dir {
		r.dirOnly, line = true, rest
	}
	if strings.Contains(line, "/") {
		r.anchored = true
		line = strings.TrimPrefix(line, "/")
	}
	if line == "" {
		return r, false
	}
	r.classify(line)
	return r, true
}

// trimSpaces drops spaces at the end that no backslash protects.
func trimSpaces(s string) string {
	end := len(s)
	for end > 0 && s[end-1] == ' ' {
		slashes := 0
		for i := end - 2; i >= 0 && s[i] == '\\'; i-- {
			slashes++
		}
		if slashes%2 == 1 {
			break
		}
		end--
	}
	return s[:end]
}

func (r *rule) classify(p string) {
	const special = `*?[\`
	switch {
	case !strings.ContainsAny(p, special):
		r.kind, r.text = kindLiteral, p
	case !r.anchored && p[0] == '*' && !strings.ContainsAny(p[1:], special):
		r.kind, r.text = kindSuffix, p[1:]
	case !r.anchored && p[len(p)-1] == '*' && !strings.ContainsAny(p[:len(p)-1], special):
		r.kind, r.text = kindPrefix, p[:len(p)-1]
	case !r.anchored:
		r.kind, r.text = kindWild, p
	default:
		// Git matches the part before the first wildcard separately, so that a `**` after it behaves as if it were
		// at the start. This does the same.
		n := strings.IndexAny(p, special)
		r.kind, r.text, r.segments = kindPath, p[:n], parts(p[n:])
	}
}

// parts splits a pattern at its slashes, except in bracket expressions.
func parts(p string) []string {
	var out []string
	start := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '/':
			out = append(out, p[start:i])
			start = i + 1
		case '\\':
			i++
		case '[':
			if n, closed, _ := class(p[i:], 0); closed {
				i += n - 1
			}
		}
	}
	return append(out, p[start:])
}

// Match applies the rules to a path below their folder, with slashes: the last rule that matches
// decides. base is its last part.
func (r *Rules) Match(path, base string, dir bool) (ignored, decided bool) {
	for i := len(r.list) - 1; i >= 0; i-- {
		if one := &r.list[i]; (dir || !one.dirOnly) && one.fits(path, base) {
			return !one.negated, true
		}
	}
	return false, false
}

func (r *rule) fits(path, base string) bool {
	subject := base
	if r.anchored {
		subject = path
	}
	switch r.kind {
	case kindLiteral:
		return subject == r.text
	case kindSuffix:
		return strings.HasSuffix(subject, r.text)
	case kindPrefix:
		return strings.HasPrefix(subject, r.text)
	case kindWild:
		return wild(r.text, subject)
	case kindPath:
	}
	rest, ok := strings.CutPrefix(subject, r.text)
	return ok && pathWild(r.segments, rest)
}

// pathWild matches a pattern's parts against a path. `**` matches any number of folders, and at
// the end everything inside.
func pathWild(pattern []string, path string) bool {
	// Only the last `**` has to be tried again: what it takes, an earlier one need not.
	type state struct {
		pattern []string
		path    string
		more    bool // path, also an empty one, is still to be matched
	}
	now := state{pattern, path, true}
	var again state
	for {
		if len(now.pattern) > 0 && now.pattern[0] == "**" {
			if len(now.pattern) == 1 {
				return now.more
			}
			now.pattern = now.pattern[1:]
			again = now
			continue
		}
		if !now.more && len(now.pattern) == 0 {
			return true
		}
		if now.more && len(now.pattern) > 0 {
			part, rest, more := strings.Cut(now.path, "/")
			if wild(now.pattern[0], part) {
				now = state{now.pattern[1:], rest, more}
				continue
			}
		}
		if !again.more {
			return false
		}
		_, again.path, again.more = strings.Cut(again.path, "/")
		now = again
	}
}

// wild matches one part of a path, byte by byte, against a pattern of `*`, `?`, `[…]` and
// backslashes.
func wild(p, s string) bool {
	star, starS := -1, 0
	i, j := 0, 0
	for j < len(s) {
		if i < len(p) {
			if p[i] == '*' {
				star, starS = i, j
				i++
				continue
			}
			if n, ok := one(p[i:], s[j]); ok {
				i += n
				j++
				continue
			}
		}
		if star < 0 {
			return false
		}
		starS++
		i, j = star+1, starS
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// one matches a byte against the pattern's first element and returns that element's length.
func one(p string, c byte) (n int, ok bool) {
	switch p[0] {
	case '?':
		return 1, true
	case '[':
		n, closed, in := class(p, c)
		return n, closed && in
	case '\\':
		if len(p) == 1 {
			return 1, false
		}
		return 2, p[1] == c
	}
	return 1, p[0] == c
}

// class measures a bracket expression and reports whether a byte is in it. An unclosed one
// matches nothing, as in git.
func class(p string, c byte) (n int, closed, in bool) {
	i := 1
	negated := false
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		negated = true
		i++
	}
	matched := false
	for first := true; ; first = false {
		if i >= len(p) {
			return 1, false, false
		}
		if p[i] == ']' && !first {
			i++
			break
		}
		if strings.HasPrefix(p[i:], "[:") {
			if end := strings.Index(p[i+2:], ":]"); end >= 0 {
				member, known := posix(p[i+2:i+2+end], c)
				if !known {
					return 1, false, false
				}
				matched = matched || member
				i += end + 4
				continue
			}
		}
		lo, w, ok := literal(p[i:])
		if !ok {
			return 1, false, false
		}
		i += w
		hi := lo
		if i+1 < len(p) && p[i] == '-' && p[i+1] != ']' {
			if hi, w, ok = literal(p[i+1:]); !ok {
				return 1, false, false
			}
			i += 1 + w
		}
		matched = matched || lo <= c && c <= hi
	}
	return i, true, matched != negated
}

// literal returns the byte that a bracket expression's next element represents.
func literal(p string) (c byte, n int, ok bool) {
	if p[0] != '\\' {
		return p[0], 1, true
	}
	if len(p) == 1 {
		return 0, 0, false
	}
	return p[1], 2, true
}

func posix(name string, c byte) (in, known bool) {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	switch name {
	case "alpha":
		return lower || upper, true
	case "digit":
		return digit, true
	case "alnum":
		return lower || upper || digit, true
	case "lower":
		return lower, true
	case "upper":
		return upper, true
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r', true
	case "blank":
		return c == ' ' || c == '\t', true
	case "xdigit":
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F', true
	case "cntrl":
		return c < 0x20 || c == 0x7f, true
	case "print":
		return c >= 0x20 && c < 0x7f, true
	case "graph":
		return c > 0x20 && c < 0x7f, true
	case "punct":
		return c > 0x20 && c < 0x7f && !lower && !upper && !digit, true
	}
	return false, false
}

// Stack is the rules that apply in a folder: its own and those of the folders above, the deepest
// first. The nil Stack has none. It is immutable; many folders may share one.
type Stack struct {
	up     *Stack
	rules  *Rules
	skip   int    // bytes of a path that name the folder of the rules, with its last slash
	prefix string // leads from the folder of the rules down to the top, where that is deeper
}

// Push returns the stack for a folder (a slash path below the top, "" or "." for the top) that
// has rules of its own.
func (s *Stack) Push(folder string, rules *Rules) *Stack {
	if rules.Empty() {
		return s
	}
	skip := 0
	if folder != "" && folder != "." {
		skip = len(folder) + 1
	}
	return &Stack{up: s, rules: rules, skip: skip}
}

// PushAbove adds the rules of a folder above the top, which is in it at the slash path
// down ("" for the top itself).
func (s *Stack) PushAbove(down string, rules *Rules) *Stack {
	if rules.Empty() {
		return s
	}
	if down != "" {
		down += "/"
	}
	return &Stack{up: s, rules: rules, prefix: down}
}

// Ignored reports whether a path below the top is ignored by its own name. It does not consider
// the folders above: the walker never enters an ignored folder.
func (s *Stack) Ignored(path string, dir bool) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for ; s != nil; s = s.up {
		if s.skip > len(path) {
			continue
		}
		below := path[s.skip:]
		if s.prefix != "" {
			below = s.prefix + path
		}
		if ignored, decided := s.rules.Match(below, base, dir); decided {
			return ignored
		}
	}
	return false
}
