package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Rank decides which owner gets a name that several claim: a lower rank wins, and within a rank the
// earlier owner keeps it.
type Rank int

// The ranks, strongest first.
const (
	RankBuiltin Rank = iota
	RankMCP
	RankPlugin // the startup script and plugins
	RankProject
	RankUser
)

// OwnerBuiltin owns jcode's own tools.
const OwnerBuiltin = "builtin"

// Entry is one tool in a snapshot.
type Entry struct {
	Spec  Spec
	Tool  Tool
	Owner string
	Rank  Rank
	// Shadowed is the owner that holds the name instead, empty for the holder.
	Shadowed string

	seq    uint64
	schema *schema
}

// Registry holds all callable tools. Every change makes a new version; snapshots of earlier ones
// do not change. It is safe for concurrent use, and holds no lock while a tool runs.
type Registry struct {
	mu       sync.Mutex
	seq      uint64
	entries  []*Entry // insertion order, shadowed ones included
	removed  map[string]bool
	current  atomic.Pointer[state]
	watchers map[chan struct{}]struct{}
}

// state is one immutable version.
type state struct {
	version  uint64
	holders  []*Entry // insertion order
	shadowed []*Entry
	byName   map[string]*Entry
	byWire   map[string]*Entry
	removed  map[string]bool
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	r := &Registry{removed: map[string]bool{}, watchers: map[chan struct{}]struct{}{}}
	r.current.Store(&state{byName: map[string]*Entry{}, byWire: map[string]*Entry{}, removed: map[string]bool{}})
	return r
}

// Register adds one tool for an owner. The error of a taken name contains "already
// registered"; a name or schema that no provider would take is an error too.
func (r *Registry) Register(owner string, rank Rank, t Tool) error {
	e, err := newEntry(owner, rank, t)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := claim(r.holderIndex(), e); err != nil {
		return err
	}
	r.insert(e)
	r.publish()
	return nil
}

// Replace sets all tools of an owner at once: its tools that are not among them are removed, the
// others keep their places. Tools that cannot be registered are left out and named in the errors.
func (r *Registry) Replace(owner string, rank Rank, list []Tool) []error {
	return r.Apply([]Change{{Owner: owner, Rank: rank, Tools: list}})
}

// Change is the new set of tools of one owner.
type Change struct {
	Owner string
	Rank  Rank
	// Tools are all of the owner's; none removes the owner.
	Tools []Tool
}

// Apply is Replace for several owners in one version. If two of them want the same name, the
// earlier change gets it.
func (r *Registry) Apply(changes []Change) []error {
	var errs []error
	var fresh []*Entry
	owners := make(map[string]bool, len(changes))
	for _, c := range changes {
		owners[c.Owner] = true
		for _, t := range c.Tools {
			e, err := newEntry(c.Owner, c.Rank, t)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			fresh = append(fresh, e)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	type key struct{ owner, name string }
	old := map[key]*Entry{}
	r.entries = slices.DeleteFunc(r.entries, func(e *Entry) bool {
		if owners[e.Owner] {
			old[key{e.Owner, e.Spec.Name}] = e
		}
		return owners[e.Owner]
	})
	held := r.holderIndex()
	for _, e := range fresh {
		if err := claim(held, e); err != nil {
			errs = append(errs, err)
			continue
		}
		k := key{e.Owner, e.Spec.Name}
		if was := old[k]; was != nil {
			e.seq = was.seq
			delete(old, k)
		}
		r.insert(e)
		held[e.Spec.Name], held["wire:"+e.Spec.Wire] = e, e
	}
	for k := range old {
		r.removed[k.name] = true
	}
	slices.SortStableFunc(r.entries, func(a, b *Entry) int { return cmp.Compare(a.seq, b.seq) })
	r.publish()
	return errs
}

// UnregisterOwner removes all tools of an owner in one version and returns how many.
func (r *Registry) UnregisterOwner(owner string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.entries)
	r.entries = slices.DeleteFunc(r.entries, func(e *Entry) bool {
		if e.Owner == owner {
			r.removed[e.Spec.Name] = true
		}
		return e.Owner == owner
	})
	n := before - len(r.entries)
	if n > 0 {
		r.publish()
	}
	return n
}

// Version counts the changes so far.
func (r *Registry) Version() uint64 { return r.current.Load().version }

// Snapshot returns the current version as a scope sees it. It is cheap.
func (r *Registry) Snapshot(scope *Scope) Snapshot {
	return Snapshot{version: r.current.Load(), scope: scope}
}

// Watch returns a channel that holds a value whenever the version changed since it was
// last read, and a function that ends the watch.
func (r *Registry) Watch() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers[ch] = struct{}{}
	return ch, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.watchers, ch)
	}
}

// holderIndex maps names, and wire names behind "wire:", to their strongest entry.
func (r *Registry) holderIndex() map[string]*Entry {
	held := make(map[string]*Entry, 2*len(r.entries))
	for _, e := range r.entries {
		if h := held[e.Spec.Name]; h == nil || e.Rank < h.Rank {
			held[e.Spec.Name], held["wire:"+e.Spec.Wire] = e, e
		}
	}
	return held
}

// claim returns an error for an entry whose name belongs to an owner of the same or a lower rank.
func claim(held map[string]*Entry, e *Entry) error {
	for _, key := range []string{e.Spec.Name, "wire:" + e.Spec.Wire} {
		if h := held[key]; h != nil && (h.Rank <= e.Rank || h.Spec.Name != e.Spec.Name) {
			return fmt.Errorf("tool %s of %s: already registered by %s", e.Spec.Name, e.Owner, h.Owner)
		}
	}
	return nil
}

func (r *Registry) insert(e *Entry) {
	if e.seq == 0 {
		r.seq++
		e.seq = r.seq
	}
	delete(r.removed, e.Spec.Name)
	r.entries = append(r.entries, e)
}

// publish makes a new version from entries. The caller holds the lock.
func (r *Registry) publish() {
	s := &state{
		version: r.current.Load().version + 1,
		byName:  make(map[string]*Entry, len(r.entries)),
		byWire:  make(map[string]*Entry, len(r.entries)),
		removed: make(map[string]bool, len(r.removed)),
	}
	for _, e := range r.entries {
		if h := s.byName[e.Spec.Name]; h == nil || e.Rank < h.Rank {
			s.byName[e.Spec.Name] = e
		}
	}
	for _, e := range r.entries {
		if h := s.byName[e.Spec.Name]; h != e {
			shadow := *e
			shadow.Shadowed = h.Owner
			s.shadowed = append(s.shadowed, &shadow)
			continue
		}
		s.holders = append(s.holders, e)
		s.byWire[e.Spec.Wire] = e
	}
	for name := range r.removed {
		if s.byName[name] == nil {
			s.removed[name] = true
		}
	}
	r.current.Store(s)
	for ch := range r.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// plainName is the pattern of tool names; isPlain checks a name against it.
const plainName = `^[A-Za-z0-9_-]{1,64}$`

func isPlain(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// newEntry checks a tool's spec and fills in defaults.
func newEntry(owner string, rank Rank, t Tool) (*Entry, error) {
	spec := t.Spec()
	if spec.Group == GroupMCP && strings.HasPrefix(spec.Name, "mcp:") {
		if spec.Wire == "" {
			return nil, fmt.Errorf("tool %s of %s: no wire name", spec.Name, owner)
		}
	} else {
		if !isPlain(spec.Name) {
			return nil, fmt.Errorf("tool %q of %s: a name must match %s", spec.Name, owner, plainName)
		}
		if strings.HasPrefix(spec.Name, "mcp__") {
			return nil, fmt.Errorf("tool %s of %s: names that begin with mcp__ are reserved for MCP servers", spec.Name, owner)
		}
		spec.Wire = cmp.Or(spec.Wire, spec.Name)
	}
	if !isPlain(spec.Wire) {
		return nil, fmt.Errorf("tool %s of %s: wire name %q must match %s", spec.Name, owner, spec.Wire, plainName)
	}
	if len(spec.Parameters) == 0 {
		spec.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	var root struct {
		Type       any             `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(spec.Parameters, &root); err != nil || root.Type != "object" || root.Properties == nil {
		return nil, fmt.Errorf(`tool %s of %s: parameters must be a JSON Schema with "type":"object" and "properties"`, spec.Name, owner)
	}
	check := spec.Parameters
	if spec.Check != nil {
		check = spec.Check
	}
	return &Entry{Spec: spec, Tool: t, Owner: owner, Rank: rank, schema: &schema{raw: check}}, nil
}
