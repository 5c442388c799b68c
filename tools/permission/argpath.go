package permission

import (
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/paths"
)

// maxGlob bounds how many files a wildcard may name before nobody vouches for it.
const maxGlob = 500

// candidates gives the parts of a word that may be paths: the word itself, what follows
// a flag's "=", and what follows a one-letter flag.
func candidates(w word) []string {
	s := w.text
	if !strings.HasPrefix(s, "-") {
		if _, value, ok := strings.Cut(s, "="); ok {
			return []string{s, value}
		}
		return []string{s}
	}
	if name, value, ok := strings.Cut(s, "="); ok {
		return []string{value, name}
	}
	if len(s) > 2 && s[1] != '-' {
		return []string{s[2:], strings.TrimLeft(s, "-")}
	}
	return nil
}

// expandTilde gives the path for ~/x, or no path for ~name.
func (a *analysis) expandTilde(s string) (string, bool) {
	if !strings.HasPrefix(s, "~") {
		return s, true
	}
	if s == "~" || strings.HasPrefix(s, "~/") {
		return a.places.home + s[1:], a.places.home != ""
	}
	return s, false
}

// outside says why a word must not be read unasked: it leads, or may lead, out of the
// workspace, or a rule forbids it. "" means that it is no such path.
func (a *analysis) outside(w word) string {
	if w.dynamic {
		return "it names a file that is not known before"
	}
	for _, c := range candidates(w) {
		if w.tilde || strings.HasPrefix(c, "~") {
			full, ok := a.expandTilde(c)
			if !ok {
				return c + " is outside the workspace"
			}
			c = full
		}
		for _, dir := range a.dirs {
			if why := a.outsideFrom(dir, c, w.glob); why != "" {
				return why
			}
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
	full := name
	if !filepath.IsAbs(name) {
		if dir == "" {
			return "it is not known in which folder it runs"
		}
		full = filepath.Join(dir, name)
	}
	if glob && strings.ContainsAny(name, "*?[") {
		// The fixed part must lie inside in any case: listing a folder reads it.
		if fixed := fixedPart(full); !a.places.inside(resolve(fixed)) {
			return name + " is outside the workspace"
		}
		hits, err := filepath.Glob(full)
		if err != nil || len(hits) > maxGlob {
			return name + " stands for too many files to look at each"
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
	real := resolve(full)
	if !a.places.inside(real) {
		// A word that is no path at all stays inside: it is joined to the folder. What
		// leads out is absolute, has "..", or is a link.
		return shown + " is outside the workspace"
	}
	if a.denied != nil {
		if rule := a.denied(real); rule != "" {
			return shown + " is covered by the rule " + rule
		}
		if a.ruled {
			if info, err := os.Stat(real); err == nil && info.IsDir() {
				return shown + " is a folder in which a rule forbids some files"
			}
		}
	}
	return ""
}

// fixedPart gives the folder above the first wildcard of a path.
func fixedPart(path string) string {
	i := strings.IndexAny(path, "*?[")
	if i < 0 {
		return path
	}
	return filepath.Dir(path[:i] + "x")
}

func resolve(path string) string {
	real, err := paths.Resolve(path)
	if err != nil {
		return filepath.Clean(path)
	}
	return real
}

// targets gives the resolved paths that a word may name, for the protected ones among them.
func (a *analysis) targets(w word) []string {
	if w.dynamic {
		return nil
	}
	var out []string
	for _, c := range candidates(w) {
		full, ok := a.expandTilde(c)
		if !ok || c == "" || len(c) > 4096 {
			continue
		}
		if filepath.IsAbs(full) {
			out = append(out, resolve(full))
			continue
		}
		for _, dir := range a.dirs {
			if dir != "" {
				out = append(out, resolve(filepath.Join(dir, full)))
			}
		}
	}
	return out
}
