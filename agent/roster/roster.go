package roster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/text"
	"jcode/tools"
)

// Most is how many agents work at once where nothing else is set.
const Most = 8

// keptOutput is how much of what an agent did is kept for a look at it, in bytes.
const keptOutput = 64 << 10

// Roster lists the agents of a tree. W is what its owner needs to reach one. All methods are
// safe for concurrent use.
type Roster[W any] struct {
	most    int
	changed func(State)

	mu   sync.Mutex
	list []*Member[W]
	news []announcement
	tick chan struct{} // closed and replaced at each change
	// telling counts changes that the owner is being told of: who waits learns of an end after
	// the owner, who may leave then.
	telling int
}

// Member is one agent of a roster.
type Member[W any] struct {
	work  W
	state State
	out   string // what it did, the end of it
	seen  int    // bytes of out that were looked at
}

// announcement is what a session was not told of yet: the end of an agent of its own, or, without
// a name, what another one says.
type announcement struct{ to, name, text string }

// New makes an empty roster. most is how many agents may work at once, 0 means Most. changed is
// told of each change, without a lock held.
func New[W any](most int, changed func(State)) *Roster[W] {
	if most <= 0 {
		most = Most
	}
	return &Roster[W]{most: most, changed: changed, tick: make(chan struct{})}
}

// List returns the agents that work for a session, or with "" all, in the order of their start.
func (r *Roster[W]) List(parent string) []State {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []State
	for _, m := range r.list {
		if parent == "" || m.state.Parent == parent {
			out = append(out, m.state)
		}
	}
	return out
}

// Members returns all agents of a parent, or with "" all.
func (r *Roster[W]) Members(parent string) []*Member[W] {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*Member[W]
	for _, m := range r.list {
		if parent == "" || m.state.Parent == parent {
			out = append(out, m)
		}
	}
	return out
}

// Find returns the agent of a name that works for a session, or with "" for any. The error says
// which there are.
func (r *Roster[W]) Find(parent, name string) (*Member[W], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for _, m := range r.list {
		if parent != "" && m.state.Parent != parent {
			continue
		}
		if m.state.Name == name {
			return m, nil
		}
		names = append(names, m.state.Name)
	}
	if names == nil {
		return nil, tools.Errorf(tools.KindInvalidArgs, "there is no agent: task with background starts one")
	}
	return nil, tools.Errorf(tools.KindInvalidArgs, "there is no agent %q; there are: %s", name, strings.Join(names, ", "))
}

// Enter takes a place and a free name, made of name or else role, for a new agent. It is an
// error when as many work as may.
func (r *Roster[W]) Enter(parent, name, role string) (*Member[W], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	running := 0
	taken := map[string]bool{}
	for _, m := range r.list {
		taken[m.state.Name] = true
		if m.state.Running() {
			running++
		}
	}
	if running >= r.most {
		return nil, tools.Errorf(tools.KindLimit, "%s, which is the most at once: wait for one, or stop one", working(running))
	}
	base := cmp.Or(Name(name), Name(role), "agent")
	free := base
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s-%d", base, n)
	}
	m := &Member[W]{state: State{Name: free, Parent: parent, Role: role, Status: Working, Started: time.Now()}}
	r.list = append(r.list, m)
	return m, nil
}

func working(n int) string {
	if n == 1 {
		return "1 agent is working"
	}
	return fmt.Sprintf("%d agents are working", n)
}

// Restore lists an agent of an earlier run.
func (r *Roster[W]) Restore(state State, work W) *Member[W] {
	m := &Member[W]{work: work, state: state}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, m)
	return m
}

// Leave releases what Enter took.
func (r *Roster[W]) Leave(m *Member[W]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(x *Member[W]) bool { return x == m })
}

// Change applies f to an agent, wakes who waits, and tells the owner. f must not use the roster.
func (r *Roster[W]) Change(m *Member[W], f func(s *State, w *W)) {
	r.mu.Lock()
	f(&m.state, &m.work)
	state := m.state
	r.telling++
	r.mu.Unlock()
	r.changed(state)
	r.mu.Lock()
	r.telling--
	close(r.tick)
	r.tick = make(chan struct{})
	r.mu.Unlock()
}

// Get returns the state of an agent, and its handle.
func (r *Roster[W]) Get(m *Member[W]) (State, W) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return m.state, m.work
}

// Announce keeps the end of an agent for its parent.
func (r *Roster[W]) Announce(m *Member[W], text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news = append(r.news, announcement{m.state.Parent, m.state.Name, text})
}

// Tell keeps what a session says for all others of the tree that work on the same files.
func (r *Roster[W]) Tell(from, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	dirs := map[string]string{} // by session; the first conversation is in no list, and has none
	for _, m := range r.list {
		dirs[m.state.Session] = m.state.Dir
	}
	to := map[string]bool{}
	for _, m := range r.list {
		for _, s := range []string{m.state.Session, m.state.Parent} {
			_, listed := dirs[s]
			if works := !listed || s == m.state.Session && m.state.Running(); works && s != from && dirs[s] == dirs[from] {
				to[s] = true
			}
		}
	}
	for s := range to {
		r.news = append(r.news, announcement{to: s, text: text})
	}
}

// Withdraw forgets what was announced of an agent, because its answer goes another way.
func (r *Roster[W]) Withdraw(m *Member[W]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news = slices.DeleteFunc(r.news, func(n announcement) bool { return n.name == m.state.Name })
}

// News returns what a parent was not told of yet, once.
func (r *Roster[W]) News(parent string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var told []string
	r.news = slices.DeleteFunc(r.news, func(n announcement) bool {
		if n.to == parent {
			told = append(told, n.text)
		}
		return n.to == parent
	})
	return strings.Join(told, "\n\n")
}

// Unfinished reports whether an agent of a parent works, or its end was not told yet.
func (r *Roster[W]) Unfinished(parent string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	running, ended := r.count(parent, "")
	return running+ended > 0
}

// count returns how many agents of a parent work, of one name or with "" of all, and how many
// ends it was not told of. The caller holds the lock.
func (r *Roster[W]) count(parent, name string) (running, ended int) {
	for _, m := range r.list {
		if m.state.Parent == parent && (name == "" || m.state.Name == name) && m.state.Running() {
			running++
		}
	}
	for _, n := range r.news {
		if n.to == parent && n.name != "" {
			ended++
		}
	}
	return running, ended
}

// Wait waits until the agents of a parent that have a name, or all, have ended; with first until
// one has. It ends with ctx, too.
func (r *Roster[W]) Wait(ctx context.Context, parent, name string, first bool) {
	for {
		r.mu.Lock()
		running, ended := r.count(parent, name)
		tick, told := r.tick, r.telling == 0
		r.mu.Unlock()
		if told && (running == 0 || first && ended > 0) {
			return
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return
		}
	}
}

// Wrote adds to what an agent did.
func (r *Roster[W]) Wrote(m *Member[W], s string) {
	if s = strings.TrimSpace(s); s == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	m.out += s + "\n"
	if len(m.out) > keptOutput {
		kept := text.CutTail(m.out, keptOutput/2)
		m.seen = max(m.seen-(len(m.out)-len(kept)), 0)
		m.out = kept
	}
}

// Output returns all that is kept of what an agent did.
func (r *Roster[W]) Output(m *Member[W]) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return m.out
}

// Since returns what an agent did since the last call.
func (r *Roster[W]) Since(m *Member[W]) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := strings.TrimSpace(m.out[min(m.seen, len(m.out)):])
	m.seen = len(m.out)
	return out
}
