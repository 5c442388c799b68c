package roster

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/text"
	"jcode/tools"
)

// Most is how many agents may work at once by default.
const Most = 8

// keptOutput is how much of an agent's output is kept, in bytes.
const keptOutput = 64 << 10

// Roster lists the agents of a tree. W is the owner's handle on an agent. All methods are safe for concurrent
// use.
type Roster[W any] struct {
	most    int
	changed func(State)

	mu   sync.Mutex
	list []*Member[W]
	news []announcement
	tick chan struct{} // closed and replaced at each change
	// telling counts changes that the owner is being notified of: waiters learn of an end only after the owner,
	// who may leave then.
	telling int
}

// Member is one agent of a roster.
type Member[W any] struct {
	work  W
	state State
	out   string // the end of its output
	seen  int    // bytes of out that were read
}

// announcement is something a session has not been told yet: the end of one of its agents or, without a name,
// a message from another agent.
type announcement struct{ to, name, text string }

// New returns an empty roster. most is how many agents may work at once; 0 means Most. changed is called on
// each change, without a lock held.
func New[W any](most int, changed func(State)) *Roster[W] {
	if most <= 0 {
		most = Most
	}
	return &Roster[W]{most: most, changed: changed, tick: make(chan struct{})}
}

// of yields the agents that work for a session, or all with "", in start order. The caller holds the lock.
func (r *Roster[W]) of(parent string) iter.Seq[*Member[W]] {
	return func(yield func(*Member[W]) bool) {
		for _, m := range r.list {
			if (parent == "" || m.state.Parent == parent) && !yield(m) {
				return
			}
		}
	}
}

// List returns the agents that work for a session, or all with "", in start order.
func (r *Roster[W]) List(parent string) []State {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []State
	for m := range r.of(parent) {
		out = append(out, m.state)
	}
	return out
}

// Members returns all agents of a parent, or all with "".
func (r *Roster[W]) Members(parent string) []*Member[W] {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(r.of(parent))
}

// Find returns the named agent of a session, or of any session with "". The error lists the existing names.
func (r *Roster[W]) Find(parent, name string) (*Member[W], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for m := range r.of(parent) {
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

// Enter reserves a slot and a free name, derived from name or else from role, for a new agent. It returns an
// error when the limit is reached.
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

// Change applies f to an agent, wakes the waiters, and notifies the owner. f must not use the roster.
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

// Get returns an agent's state and its handle.
func (r *Roster[W]) Get(m *Member[W]) (State, W) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return m.state, m.work
}

// Announce queues the end of an agent for its parent.
func (r *Roster[W]) Announce(m *Member[W], text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news = append(r.news, announcement{m.state.Parent, m.state.Name, text})
}

// Tell queues what a session says for all others of the tree that work on the same files.
func (r *Roster[W]) Tell(from, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	dirs := map[string]string{} // by session; the first conversation is not listed, and has none
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

// Withdraw drops an agent's announcements, because its answer is delivered in another way.
func (r *Roster[W]) Withdraw(m *Member[W]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news = slices.DeleteFunc(r.news, func(n announcement) bool { return n.name == m.state.Name })
}

// News returns what a parent has not been told yet, once.
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

// Unfinished reports whether an agent of a parent is still working or has an end that was not reported yet.
func (r *Roster[W]) Unfinished(parent string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	running, ended := r.count(parent, "")
	return running+ended > 0
}

// count returns how many agents of a parent, or those of one name, are running, and how many ends were not
// reported yet. The caller holds the lock.
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

// Wait waits until the named agent of a parent, or every agent, has ended; with first, until one has. It also
// returns when ctx ends.
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

// Wrote appends to an agent's output.
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

// Output returns the kept output of an agent.
func (r *Roster[W]) Output(m *Member[W]) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return m.out
}

// Since returns an agent's output since the last call.
func (r *Roster[W]) Since(m *Member[W]) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := strings.TrimSpace(m.out[min(m.seen, len(m.out)):])
	m.seen = len(m.out)
	return out
}
