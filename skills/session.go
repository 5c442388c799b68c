package skills

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"jcode/tools"
)

// Session is what one conversation knows about the skills: which ones it was told of, and which
// it has loaded. It is safe for concurrent use.
type Session struct {
	r *Registry

	mu      sync.Mutex
	version uint64
	scope   *tools.Scope
	known   map[string]string // name to hash, as the model was last told; nil before that
	base    map[string]string // known as of the system prompt
	loaded  map[string]string // name to hash, as its text is in the history or the prompt
	carried map[string]bool   // those that a compaction took out of the history
	refused map[string]bool   // hashes whose allowed-tools the person refused
}

// Session returns the session with that ID, the same one at each call.
func (r *Registry) Session(id string) *Session {
	s, _ := r.sessions.LoadOrStore(id, &Session{
		r: r, loaded: map[string]string{}, carried: map[string]bool{}, refused: map[string]bool{},
	})
	return s.(*Session)
}

// Prompt returns the part of a system prompt about skills: the catalogue for the scope, and the
// text of the skills that a compaction removed from the history. Changes compares with this
// state.
func (s *Session) Prompt(scope *tools.Scope) string {
	st := s.r.state()
	catalogue := s.r.Catalogue(scope)
	s.mu.Lock()
	s.version, s.scope, s.known = st.version, scope, visible(st, scope)
	s.base = maps.Clone(s.known)
	carried := slices.Sorted(maps.Keys(s.carried))
	s.mu.Unlock()
	if len(carried) == 0 {
		return catalogue
	}
	var b strings.Builder
	b.WriteString(catalogue)
	b.WriteString("\nThese skills were loaded earlier and still apply:\n")
	room := carryBytes
	for _, name := range carried {
		l, err := s.r.Load(name)
		if err != nil || len(l.Text) > room {
			s.drop(name) // the model can load it again
			continue
		}
		room -= len(l.Text)
		b.WriteString("\n" + l.Text)
		s.mark(name, l.Skill.Hash)
	}
	return b.String()
}

// carryBytes limits the text of loaded skills that a system prompt keeps across a compaction.
const carryBytes = 64 << 10

// Changes returns one line for the model if skills were added, changed or removed since it was
// last told, else "". It looks at the disk where that is cheap, so that a skill that the agent
// has just written is announced in the next step.
func (s *Session) Changes() string {
	s.r.Refresh()
	st := s.r.state()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.version, s.known = st.version, visible(st, s.scope)
		return ""
	}
	if st.version == s.version {
		return ""
	}
	now := visible(st, s.scope)
	was := s.known
	s.version, s.known = st.version, now
	var added, changed, reload, removed []string
	for name, hash := range now {
		switch old, had := was[name]; {
		case !had:
			added = append(added, fmt.Sprintf("%s (%s)", name, brief(st.active[name].Description, 120)))
		case old == hash:
		case s.loaded[name] != "" && s.loaded[name] != hash:
			reload = append(reload, name)
		default:
			changed = append(changed, name)
		}
	}
	for name := range was {
		if _, has := now[name]; !has {
			removed = append(removed, name)
			delete(s.loaded, name)
			delete(s.carried, name)
		}
	}
	list := []news{{"added", added}, {"changed", changed}, {"changed since you loaded them, load them again before you go on:", reload}, {"removed", removed}}
	for _, n := range list {
		slices.Sort(n.names)
	}
	if said := sentence(list); said != "" {
		return "Skills: " + said + "."
	}
	return ""
}

// Told says that the model has just been told everything, in another way than by Changes.
func (s *Session) Told() {
	st := s.r.state()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known != nil {
		s.version, s.known = st.version, visible(st, s.scope)
	}
}

// visible returns the skills that a model in this scope is told of, with their hashes.
func visible(st *state, scope *tools.Scope) map[string]string {
	out := make(map[string]string, len(st.active))
	for name, sk := range st.active {
		if !sk.ManualOnly && scope.AllowsSkill(name) {
			out[name] = sk.Hash
		}
	}
	return out
}

// Loaded returns the names of the skills that this session has loaded, sorted.
func (s *Session) Loaded() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.loaded))
}

// versionMark separates a skill's name from its hash where both are one text.
const versionMark = "@"

// unknownVersion replaces the hash of a text that was not stored: loading the skill again returns
// its text.
const unknownVersion = "unknown"

// nameAndVersion splits a skill in the form of Given and Restore.
func nameAndVersion(skill string) (name, hash string) {
	name, hash, ok := strings.Cut(skill, versionMark)
	if !ok {
		hash = unknownVersion
	}
	return strings.ToLower(strings.TrimSpace(name)), hash
}

// Given says that a message was sent that contains a skill's text. skill is the Skill of a
// command's outcome.
func (s *Session) Given(skill string) { s.mark(nameAndVersion(skill)) }

// Restore says that the history was read from disk, as after a resume or a rewind: which skills'
// texts it contains, and which a compaction removed from it. Each is a name, or the argument of
// Given. What was announced since the system prompt is announced again.
func (s *Session) Restore(live, compacted []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.loaded)
	clear(s.carried)
	for _, skill := range live {
		if name, hash := nameAndVersion(skill); s.loaded[name] == "" || hash != unknownVersion {
			s.loaded[name] = hash
		}
	}
	for _, skill := range compacted {
		if name, hash := nameAndVersion(skill); s.loaded[name] == "" {
			s.loaded[name] = hash
			s.carried[name] = true
		}
	}
	if s.base != nil {
		s.version, s.known = 0, maps.Clone(s.base)
	}
}

// Compacted says that a summary replaced a part of the history, and which skills' texts are still
// in the rest.
func (s *Session) Compacted(live []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.loaded {
		if !slices.ContainsFunc(live, func(l string) bool { n, _ := nameAndVersion(l); return n == name }) {
			s.carried[name] = true
		}
	}
}

// has reports whether exactly this version is in the history.
func (s *Session) has(name, hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded[name] == hash
}

func (s *Session) mark(name, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded[name] = hash
	if s.known != nil {
		if _, told := s.known[name]; told {
			s.known[name] = hash // its text was just sent: no need to announce it
		}
	}
}

func (s *Session) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.loaded, name)
	delete(s.carried, name)
}
