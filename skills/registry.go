package skills

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jcode/tools"
)

// Options are the settings of New.
type Options struct {
	Places Places
	// Disabled are names of skills that are not used.
	Disabled []string
	// Cache is the folder to which files of builtin skills are written for use. If it is empty,
	// builtin skills have no files.
	Cache string
	// Trust stores which allowed-tools a person approved. Nil means none.
	Trust tools.Trust
	// Grants applies approved rules. Nil means that none apply.
	Grants Grants
	// Changed is called with what a reload found, from any goroutine. May be nil.
	Changed func(Change)
	// Notice is called with what a person should know about the watching. May be nil.
	Notice func(text string)
}

// Registry knows all skills. Reading it needs no file access after the first use; Load, Refresh
// and Reload look at the disk. All methods are safe for concurrent use.
type Registry struct {
	opts    Options
	current atomic.Pointer[state]

	hooksSaid sync.Map // the files of skills of which it was said that their hooks are not run

	scanning sync.Mutex // one scan at a time; guards the fields below
	disabled map[string]bool
	last     map[string]read
	folders  map[string]stamp
	checked  time.Time
	took     time.Duration // the last look
	cost     time.Duration // the quicker one of the last two

	sessions sync.Map // session ID to *Session
}

// state is one immutable view of what is on disk.
type state struct {
	version uint64
	entries []Entry // sorted by name, then by precedence, the winner first
	active  map[string]Skill
	notes   []Diagnostic
}

// New makes a Registry. It reads nothing: the first use does, or Reload.
func New(opts Options) *Registry {
	r := &Registry{opts: opts, disabled: map[string]bool{}}
	for _, name := range opts.Disabled {
		r.disabled[name] = true
	}
	return r
}

func (r *Registry) state() *state {
	if s := r.current.Load(); s != nil {
		return s
	}
	r.scanning.Lock()
	defer r.scanning.Unlock()
	if s := r.current.Load(); s != nil {
		return s
	}
	r.scan(nil)
	return r.current.Load()
}

// Reload searches all folders and reads every file again, whatever its time stamp.
func (r *Registry) Reload() Change {
	return r.update(func() Change { return r.scan(nil) })
}

// Refresh searches again if a folder or file differs from when it was read. It costs one stat per
// skill and folder. If that was expensive twice a moment ago, it does nothing.
func (r *Registry) Refresh() Change {
	return r.update(func() Change {
		const cheap, share = 2 * time.Millisecond, 10
		if r.cost >= cheap && time.Since(r.checked) <= share*r.cost {
			return Change{}
		}
		start := time.Now()
		differs := r.differs()
		r.checked = time.Now()
		took := r.checked.Sub(start)             // a search follows a change only, and is not counted
		r.cost, r.took = min(took, r.took), took // one slow look may be a busy machine's
		if !differs {
			return Change{}
		}
		return r.scan(r.last)
	})
}

// refreshFiles reads the given files again, and searches for others.
func (r *Registry) refreshFiles(files []string) {
	r.update(func() Change {
		reuse := maps.Clone(r.last)
		for _, f := range files {
			delete(reuse, f)
		}
		return r.scan(reuse)
	})
}

// update runs a search with scanning held, and reports what it found to Options.Changed.
func (r *Registry) update(search func() Change) Change {
	r.state()
	r.scanning.Lock()
	c := search()
	r.scanning.Unlock()
	if r.opts.Changed != nil && !c.Empty() {
		r.opts.Changed(c)
	}
	return c
}

// differs compares the disk with what the last scan saw.
func (r *Registry) differs() bool {
	for dir, s := range r.folders {
		if stampOf(dir) != s {
			return true
		}
	}
	for file, e := range r.last {
		if e.Source.Dir != "" && stampOf(file) != e.stamp {
			return true
		}
	}
	return false
}

// scan searches the sources and publishes what it finds. The caller holds scanning.
func (r *Registry) scan(reuse map[string]read) Change {
	s := scan{places: r.opts.Places, reuse: reuse}
	s.run(r.opts.Places.sources())
	r.last = make(map[string]read, len(s.found))
	for _, e := range s.found {
		r.last[e.File] = e
	}
	r.folders = s.folders
	return r.publish(s.found, s.notes)
}

// publish decides which skill gets each name, and makes the result current.
func (r *Registry) publish(found []read, notes []Diagnostic) Change {
	old := r.current.Load()
	next := &state{active: map[string]Skill{}, notes: notes}
	if old != nil {
		next.version = old.version
	}
	winner := map[string]string{}
	once := map[string]bool{}
	own := ownSkills(found)
	for _, e := range slices.Backward(found) { // the last found wins
		if e.real != "" {
			if once[e.real] {
				continue // the same skill by another way
			}
			once[e.real] = true
		}
		next.entries = append(next.entries, r.place(e.Entry, winner, own, next.active))
	}
	slices.SortStableFunc(next.entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	c := changes(old.versions(), next.versions())
	if old == nil || !c.Empty() {
		next.version++
	}
	r.current.Store(next)
	if old == nil {
		return Change{}
	}
	return c
}

// ownSkills returns the file that holds each name outside the project.
func ownSkills(found []read) map[string]string {
	own := map[string]string{}
	for _, e := range found {
		if e.State == Active && !e.Source.Project {
			own[e.Name] = e.File
		}
	}
	return own
}

// place decides whether an entry gets its name. winner holds the names that are taken, own those
// of the person and the program, which a project's skill gets only once trusted.
func (r *Registry) place(entry Entry, winner, own map[string]string, active map[string]Skill) Entry {
	if entry.State != Active {
		return entry
	}
	shadow := func(by string, d Diagnostic) {
		entry.State, entry.By = Shadowed, by
		entry.Diagnostics = append(slices.Clone(entry.Diagnostics), d)
	}
	if by, taken := winner[entry.Name]; taken {
		shadow(by, Diagnostic{File: entry.File, Level: Warning, Text: "shadowed by " + by, Cure: "rename or remove one of the two"})
		return entry
	}
	if mine, has := own[entry.Name]; has && entry.Source.Project {
		if ok, err := mayReplace(r.opts.Trust, entry.Pin()); !ok {
			entry.Waits = true
			shadow(mine, waits(entry.File, mine, err))
			return entry
		}
		entry.Replaces = mine
	}
	winner[entry.Name] = entry.File
	if r.disabled[entry.Name] {
		entry.State = Disabled
	} else {
		active[entry.Name] = entry.Skill
	}
	return entry
}

// Version grows whenever the usable skills change.
func (r *Registry) Version() uint64 { return r.state().version }

// List returns the skills in use, sorted by name.
func (r *Registry) List() []Skill {
	s := r.state()
	out := make([]Skill, 0, len(s.active))
	for _, e := range s.entries {
		if e.State == Active {
			out = append(out, e.Skill)
		}
	}
	return out
}

// Entries returns everything that was found, broken, shadowed and disabled skills too,
// sorted by name. The slice must not be changed.
func (r *Registry) Entries() []Entry { return r.state().entries }

// Diagnostics returns the problems of all skills and folders of skills.
func (r *Registry) Diagnostics() []Diagnostic {
	s := r.state()
	out := slices.Clone(s.notes)
	for _, e := range s.entries {
		out = append(out, e.Diagnostics...)
	}
	return out
}

// Get returns the skill in use of that name; case does not matter.
func (r *Registry) Get(name string) (Skill, bool) {
	s := r.state()
	if sk, ok := s.active[name]; ok {
		return sk, true
	}
	sk, ok := s.active[strings.ToLower(strings.TrimSpace(name))]
	return sk, ok
}

// SetEnabled enables or disables a skill for this process. Storing that for later is up to the
// caller.
func (r *Registry) SetEnabled(name string, on bool) Change {
	return r.update(func() Change {
		if on {
			delete(r.disabled, name)
		} else {
			r.disabled[name] = true
		}
		return r.scan(r.last)
	})
}
