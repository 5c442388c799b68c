package tools

import (
	"cmp"
	"slices"
	"strings"

	"jcode/internal/toolcard"
)

// Snapshot is one version of the registry as a scope sees it. The zero value is empty.
type Snapshot struct {
	version *state // nil for the zero value: use state
	scope   *Scope
}

// state returns the version, an empty one for the zero value.
func (s Snapshot) state() *state {
	if s.version == nil {
		return &state{}
	}
	return s.version
}

// Version returns the registry version of the snapshot.
func (s Snapshot) Version() uint64 { return s.state().version }

// List returns the tools that the scope allows, in the order in which they were
// registered, hidden ones included.
func (s Snapshot) List() []Entry {
	holders := s.state().holders
	out := make([]Entry, 0, len(holders))
	for _, e := range holders {
		if ok, _ := s.scope.Allows(e.Spec); ok {
			out = append(out, *e)
		}
	}
	return out
}

// All returns every entry, also those outside the scope and, last, the shadowed ones.
func (s Snapshot) All() []Entry {
	var out []Entry
	for _, e := range slices.Concat(s.state().holders, s.state().shadowed) {
		out = append(out, *e)
	}
	return out
}

// Lookup finds a tool by canonical or wire name, even if the scope excludes it: then ok is true, and
// why says which rule excludes it.
func (s Snapshot) Lookup(name string) (e Entry, ok bool, why string) {
	p := cmp.Or(s.state().byName[name], s.state().byWire[name])
	if p == nil {
		return Entry{}, false, ""
	}
	_, why = s.scope.Allows(p.Spec)
	return *p, true, why
}

// Canonical returns the canonical name for a wire name, or name itself.
func (s Snapshot) Canonical(name string) string {
	if e, ok, _ := s.Lookup(name); ok {
		return e.Spec.Name
	}
	return name
}

// unknown returns the error for a name that does not exist, with the nearest names that do.
func (s Snapshot) unknown(name string) error {
	shown := name
	if len(shown) > 80 {
		shown = strings.ToValidUTF8(shown[:80], "") + "…"
	}
	if s.state().removed[name] {
		return Errorf(KindUnknown, "unknown intent: %s (removed). It existed earlier and is gone; available now: %s", shown, s.names(name, 20))
	}
	if ours, ok := toolcard.Ours(name); ok {
		if e, is, why := s.Lookup(ours); is && why == "" && !e.Spec.Hidden {
			return Errorf(KindUnknown, "unknown tool: %s. Use %s", shown, ours)
		}
	}
	return Errorf(KindUnknown, "unknown intent: %s. Nearest of the tools that exist: %s", shown, s.names(name, 5))
}

// names returns up to n tool names, the nearest to name first.
func (s Snapshot) names(name string, n int) string {
	type near struct {
		name string
		dist int
	}
	var all []near
	want := fold(name)
	_, tool, isMCP := serverAndTool(name)
	for _, e := range s.List() {
		if e.Spec.Hidden && e.Spec.Group != GroupMCP || e.Spec.Trained {
			continue
		}
		dist := min(distance(want, fold(e.Spec.Name)), distance(want, fold(e.Spec.Wire)))
		if _, same, ok := serverAndTool(e.Spec.Name); isMCP && ok && same == tool {
			dist = min(dist, 1) // the same tool of another server
		}
		all = append(all, near{e.Spec.Name, dist})
	}
	if len(all) == 0 {
		return "none"
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.dist, b.dist) })
	if len(all) > n {
		all = all[:n]
	}
	list := make([]string, len(all))
	for i, x := range all {
		list[i] = x.name
	}
	return strings.Join(list, ", ")
}

// fold prepares a name for comparison: short, lower case, one kind of separator.
func fold(name string) string {
	if len(name) > 80 {
		name = name[:80]
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', ' ', ':', '.', '/':
			return '_'
		}
		return r
	}, strings.ToLower(strings.TrimSpace(name)))
}

// distance is the edit distance of two short strings in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diag+cost)
		}
	}
	return row[len(b)]
}

// Order remembers the places of tools in one session's requests: a tool that was sent keeps its
// place, so that a provider's prompt cache stays valid. The zero value is ready to use.
type Order struct {
	place map[string]int
}

// Arrange sorts entries for a request, in place: by group, and within a group in the order of first use.
// Entries that are new in this call are ordered by server, then by registration.
func (o *Order) Arrange(entries []Entry) []Entry {
	if o.place == nil {
		o.place = map[string]int{}
	}
	var fresh []Entry
	for _, e := range entries {
		if _, ok := o.place[e.Spec.Name]; !ok {
			fresh = append(fresh, e)
		}
	}
	slices.SortStableFunc(fresh, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Spec.Group, b.Spec.Group), cmp.Compare(a.Spec.Server, b.Spec.Server), cmp.Compare(a.seq, b.seq))
	})
	for _, e := range fresh {
		o.place[e.Spec.Name] = len(o.place)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Spec.Group, b.Spec.Group), cmp.Compare(o.place[a.Spec.Name], o.place[b.Spec.Name]))
	})
	return entries
}

// Offer returns what a model is offered, arranged: the scope's tools that are not hidden and that
// the gate offers in this mode. A nil gate offers all.
func (s Snapshot) Offer(o *Order, gate Gate, mode Mode) []Entry {
	list := slices.DeleteFunc(s.List(), func(e Entry) bool {
		if e.Spec.Hidden {
			return true
		}
		if gate == nil {
			return false
		}
		ok, _ := gate.Offered(e.Spec, mode)
		return !ok
	})
	return o.Arrange(list)
}

// Reason says why a tool is not offered in this mode, or returns "" if it is.
func (s Snapshot) Reason(e Entry, gate Gate, mode Mode) string {
	if e.Shadowed != "" {
		return "shadowed by " + e.Shadowed
	}
	if ok, why := s.scope.Allows(e.Spec); !ok {
		return why
	}
	if e.Spec.Hidden {
		return cmp.Or(e.Spec.Note, "called through mcp_call")
	}
	if gate != nil {
		if ok, why := gate.Offered(e.Spec, mode); !ok {
			return why
		}
	}
	return ""
}

// sloppy returns the only tool whose name differs from name just in case, surrounding spaces or the
// kind of separators; "" for none or several.
func (s Snapshot) sloppy(name string) string {
	want, found := fold(name), ""
	server, tool, exact := serverAndTool(name)
	for _, e := range s.List() {
		if exact {
			// Separators count: `mcp:a_b:c` never means a tool `b_c` of a server `a`.
			if of, named, ok := serverAndTool(e.Spec.Name); !ok || of != server || named != tool {
				continue
			}
		}
		if exact || fold(e.Spec.Name) == want || fold(e.Spec.Wire) == want {
			if found != "" {
				return ""
			}
			found = e.Spec.Name
		}
	}
	return found
}

// serverAndTool splits `mcp:SERVER:TOOL`, and prepares both for comparison.
func serverAndTool(name string) (server, tool string, ok bool) {
	group, rest, ok := strings.Cut(strings.TrimSpace(name), ":")
	if !ok || !strings.EqualFold(group, "mcp") {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, ":")
	return fold(server), fold(tool), ok
}
