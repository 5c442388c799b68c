package skills

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Change is the difference that a reload found.
type Change struct {
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
	// Broken are the skills that this reload found unusable, each with the reason.
	Broken []Diagnostic `json:"broken"`
}

// Empty reports whether nothing changed.
func (c Change) Empty() bool {
	return len(c.Added)+len(c.Changed)+len(c.Removed)+len(c.Broken) == 0
}

// String returns the change in one line: "added a, b; changed c; removed d".
func (c Change) String() string {
	broken := make([]string, len(c.Broken))
	for i, d := range c.Broken {
		broken[i] = d.String()
	}
	return cmp.Or(sentence([]news{{"added", c.Added}, {"changed", c.Changed}, {"removed", c.Removed}, {"broken", broken}}), "no change")
}

// news is what happened to some names.
type news struct {
	verb  string
	names []string
}

// sentence returns news in one line, "" where there are no names.
func sentence(list []news) string {
	var parts []string
	for _, n := range list {
		if len(n.names) > 0 {
			parts = append(parts, n.verb+" "+some(n.names))
		}
	}
	return strings.Join(parts, "; ")
}

// some joins names; those after the twentieth are only counted.
func some(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// version is the state of one name, or of one file that is broken.
type version struct {
	id    string
	fault *Diagnostic // set for a broken file
}

// changes compares two states.
func changes(old, now map[string]version) Change {
	var c Change
	for name, v := range now {
		was, had := old[name]
		same := had && was.id == v.id && (was.fault == nil) == (v.fault == nil)
		switch {
		case same:
		case v.fault != nil:
			c.Broken = append(c.Broken, *v.fault)
		case had && was.fault == nil:
			c.Changed = append(c.Changed, name)
		default:
			c.Added = append(c.Added, name)
		}
	}
	for name, was := range old {
		if v, has := now[name]; was.fault == nil && (!has || v.fault != nil) {
			c.Removed = append(c.Removed, name)
		}
	}
	slices.Sort(c.Added)
	slices.Sort(c.Changed)
	slices.Sort(c.Removed)
	slices.SortFunc(c.Broken, func(a, b Diagnostic) int { return strings.Compare(a.File, b.File) })
	return c
}

// versions returns a state of skills in the form that changes compares: usable ones by name,
// broken ones by file.
func (s *state) versions() map[string]version {
	out := map[string]version{}
	if s == nil {
		return out
	}
	for name, sk := range s.active {
		out[name] = version{id: sk.Hash + sk.File}
	}
	for _, e := range s.entries {
		if e.State == Broken {
			d := firstOf(e.Diagnostics, e.File)
			out[e.File] = version{e.Hash, &d}
		}
	}
	return out
}

// firstOf returns the diagnostic that keeps a file from being used.
func firstOf(list []Diagnostic, file string) Diagnostic {
	for _, d := range list {
		if d.Level == Fault {
			return d
		}
	}
	return Diagnostic{File: file, Level: Fault, Text: "cannot be used"}
}

// diffCommands compares two states.
func diffCommands(old, now *commandState) Change {
	if old == nil {
		return Change{}
	}
	return changes(commandVersions(old), commandVersions(now))
}

func commandVersions(s *commandState) map[string]version {
	out := map[string]version{}
	for _, f := range s.files {
		switch f.State {
		case Active:
			out[f.Name] = version{f.Hash + f.File, nil}
		case Broken:
			d := firstOf(f.Diagnostics, f.File)
			out[f.File] = version{f.Hash, &d}
		default: // not in use
		}
	}
	return out
}
