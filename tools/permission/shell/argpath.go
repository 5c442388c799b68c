package shell

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxGlob bounds how many files a wildcard may match before the command is no longer vouched for.
const maxGlob = 500

// expandTilde returns the path for ~/x, or no path for ~name.
func (a *analysis) expandTilde(s string) (string, bool) {
	if !strings.HasPrefix(s, "~") {
		return s, true
	}
	if s == "~" || strings.HasPrefix(s, "~/") {
		return a.Places.Home() + s[1:], a.Places.Home() != ""
	}
	return s, false
}

// outside says why a word must not be read unasked: it leads, or may lead, out of the workspace, or a rule
// forbids it. "" means that it is not such a path.
func (a *analysis) outside(w word) string {
	if w.dynamic {
		return "it names a file that is not known before"
	}
	name := w.text
	if w.tilde {
		full, ok := a.expandTilde(name)
		if !ok {
			return name + " is outside the project"
		}
		name = full
	}
	for _, dir := range a.dirs {
		if why := a.outsideFrom(dir, name, w.glob); why != "" {
			return why
		}
	}
	return ""
}

func (a *analysis) outsideFrom(dir, name string, glob bool) string {
	if name == "" || name == "-" {
		return ""
	}
	if name == "/dev/null" || name == "/dev/stdin" {
		return ""
	}
	if !filepath.IsAbs(name) && dir == "" {
		return "it is not known in which folder it runs"
	}
	full := lexical(dir, name)
	if real := a.climb(dir, name); real != full && !glob {
		// Links before a "..": the system follows them, cd may not.
		if why := a.judgeRead(real, name); why != "" {
			return why
		}
	}
	if glob && strings.ContainsAny(name, "*?[") {
		// The fixed part must be inside in any case: listing a folder reads it.
		if fixed := fixedPart(full); !a.Places.Inside(a.disk.real(fixed)) {
			return name + " is outside the project"
		}
		hits, ok := a.expandGlob(full)
		if !ok {
			return name + " matches too many files to check each"
		}
		for _, h := range hits {
			if why := a.judgeRead(h, h); why != "" {
				return why
			}
		}
		return ""
	}
	return a.judgeRead(full, name)
}

func (a *analysis) judgeRead(full, shown string) string {
	real := a.disk.real(full)
	if !a.Places.Inside(real) {
		// A word that is not a path stays inside: it is joined to the folder. A path that leads out is absolute,
		// has "..", or is a link.
		return shown + " is outside the project"
	}
	if a.Ruled {
		a.line.Reads = append(a.line.Reads, real)
	}
	if a.Denied != nil {
		if rule := a.Denied(real); rule != "" {
			return shown + " is covered by the rule " + rule
		}
		if a.Ruled {
			if info, err := a.disk.stat(real); err == nil && info.IsDir() {
				return shown + " is a folder in which a rule forbids some files"
			}
		}
	}
	return ""
}

// maxScan bounds how many names are examined to expand a wildcard.
const maxScan = 20_000

// expandGlob returns the files that an absolute pattern matches, including hidden ones that the shell leaves
// out. ok is false when there are too many, or the pattern contains "..".
func (a *analysis) expandGlob(pattern string) (hits []string, ok bool) {
	base := fixedPart(pattern)
	rest, err := filepath.Rel(base, pattern)
	if err != nil {
		return nil, false
	}
	hits, scanned := []string{base}, 0
	parts := strings.Split(filepath.ToSlash(rest), "/")
	last := ""
	if len(parts) == 1 {
		last = parts[0]
	}
	for i, part := range parts {
		if i == len(parts)-1 {
			last = part
		}
		if part == ".." {
			return nil, false
		}
		var next []string
		for _, dir := range hits {
			next = append(next, dotted(dir, part, part == last)...)
			if !strings.ContainsAny(part, "*?[") {
				next = append(next, filepath.Join(dir, part))
				continue
			}
			names, ok := a.disk.matching(dir, part)
			if scanned += len(names) + 1; !ok || scanned > maxScan {
				return nil, false
			}
			next = append(next, names...)
		}
		if hits = next; len(hits) > maxGlob {
			return nil, false
		}
	}
	return hits, true
}

// dotted returns the folder itself and the one above where a part of a pattern (.*) means them, too, as it does
// in some shells: they are listed in no folder. At the end of a pattern they are folders, which are not opened.
func dotted(dir, part string, last bool) (out []string) {
	if last || !strings.HasPrefix(part, ".") || !strings.ContainsAny(part, "*?[") {
		return nil
	}
	if ok, err := path.Match(part, ".."); err == nil && ok {
		out = append(out, filepath.Dir(dir))
	}
	if ok, err := path.Match(part, "."); err == nil && ok {
		out = append(out, dir)
	}
	return out
}

// matching returns the entries of a folder that match one part of a pattern; none if it is not a readable
// folder.
func matching(dir, part string) (paths []string, ok bool) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, true
	}
	defer func() { _ = f.Close() }() // only read
	names, err := f.Readdirnames(maxScan)
	if len(names) == maxScan {
		return nil, false
	}
	if err != nil {
		return nil, true
	}
	if !plainClasses(part) {
		return nil, false
	}
	part = strings.ReplaceAll(part, "[!", "[^")
	for _, n := range names {
		fits, err := filepath.Match(part, n)
		if err != nil {
			return nil, false
		}
		if strings.Contains(part, "[") { // a range may match both cases
			for _, other := range []string{strings.ToLower(n), strings.ToUpper(n)} {
				also, err := filepath.Match(part, other)
				fits = fits || err == nil && also
			}
		}
		if fits {
			paths = append(paths, filepath.Join(dir, n))
		}
	}
	return paths, true
}

// plainClasses reports whether the bracket expressions of a pattern are of the plain kind that all shells and
// filepath.Match read alike.
func plainClasses(part string) bool {
	for {
		_, rest, ok := strings.Cut(part, "[")
		if !ok {
			return !strings.Contains(part, `\`)
		}
		class, after, closed := strings.Cut(strings.TrimPrefix(rest, "!"), "]")
		if !closed || class == "" || strings.Trim(class, wordBytes+"._-,") != "" {
			return false
		}
		part = after
	}
}

const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// climb returns the path that a name leads to from a folder, as the system resolves it: a ".." leads to the
// parent of what the part before it resolves to.
func (a *analysis) climb(dir, name string) string {
	if filepath.IsAbs(name) {
		dir = filepath.VolumeName(name) + string(filepath.Separator)
	}
	if !strings.Contains(name, "..") {
		return filepath.Join(dir, strings.TrimPrefix(name, filepath.VolumeName(name)))
	}
	at := dir
	for part := range strings.SplitSeq(filepath.ToSlash(strings.TrimPrefix(name, filepath.VolumeName(name))), "/") {
		switch part {
		case "", ".":
		case "..":
			at = filepath.Dir(a.disk.real(at))
		default:
			at = filepath.Join(at, part)
		}
	}
	return at
}

// lexical returns the path of a name with ".." removed lexically.
func lexical(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// fixedPart returns the folder above the first wildcard of a path.
func fixedPart(path string) string {
	i := strings.IndexAny(path, "*?[")
	if i < 0 {
		return path
	}
	return filepath.Dir(path[:i] + "x")
}

// targets returns the resolved paths that a part of a word may name, to find the protected ones among them.
func (a *analysis) targets(w word) []string {
	full, ok := a.expandTilde(w.text)
	if w.dynamic || !ok || w.text == "" || len(w.text) > 4096 {
		return nil
	}
	if filepath.IsAbs(full) {
		return a.stands(a.climb("/", full), w.glob)
	}
	var out []string
	for _, dir := range a.dirs {
		if dir != "" {
			out = append(out, a.stands(a.climb(dir, full), w.glob)...)
		}
	}
	return out
}

// stands returns the resolved paths that a path or wildcard may mean.
func (a *analysis) stands(path string, glob bool) []string {
	if !glob {
		return []string{a.disk.real(path)}
	}
	hits, _ := a.expandGlob(path)
	out := []string{a.disk.real(path)}
	for _, h := range hits {
		out = append(out, a.disk.real(h))
	}
	return out
}
