package lsp

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/launch"
	"jcode/internal/proc"
	"jcode/tools"
	"jcode/tools/lsp/protocol"
)

const (
	maxRunning = 4                // servers at once
	idleLimit  = 10 * time.Minute // without use, then a server is stopped
	deathLimit = 3                // exits on its own within deathTime, after which a server is not started again
	deathTime  = 10 * time.Minute
)

// Start is a server that is about to be started for the first time in this session.
type Start struct {
	Name    string
	Root    string
	Command string // the command line, for rules: as configured ("gopls"), with its path if it is the project's own
	Program string // the program file
	// Own says that the program belongs to the project, Personal that the person configured the server themselves.
	Own, Personal bool
	// Plugin names the plugin that brought the server, "" for none.
	Plugin string
}

// Permit is the answer to a Start.
type Permit struct {
	OK  bool
	Why string // the reason for a refusal
	// Confined says that it sees no other processes, and can't signal them.
	Confined bool
	// How says in a word or two how the server runs ("confined"), "" for the usual way.
	How string
	// Prepare returns what to start instead of the server's command. changed lists the protected files that were
	// made or changed since. Nil starts the command as it is.
	Prepare func(spec proc.Spec) (prepared proc.Spec, changed func() []string, err error)
	// Refused says what a server's last words show to be refused to it, and how a person allows it; "" for nothing.
	// May be nil.
	Refused func(words string) string
}

// Options are the settings of New.
type Options struct {
	// Root is the project's top folder, Start the one against which relative paths are resolved,
	// Roots the workspace's folders; all are resolved.
	Root, Start string
	Roots       []string
	// Servers are the configured servers; they take precedence over the known ones, and replace
	// those with the same name. Disabled names servers that are never started.
	Servers  []Server
	Disabled []string
	// AfterEdit adds what is new to the result of a change.
	AfterEdit bool
	// Env returns the environment of servers. Nil means the process's own without credentials.
	Env func() []string
	// Programs finds the programs of servers.
	Programs launch.Programs
	// Trusted reports whether programs of the project itself may run. Nil means no.
	Trusted func() bool
	// Allow decides whether a server may be started, because it runs code of the project, and how. Nil allows
	// nothing.
	Allow func(ctx context.Context, call tools.Call, s Start) Permit
	// Give gives a server a further right, "network" or "outside", for good. Nil means that there is none to give.
	Give func(ctx context.Context, s Start, right string) (notice string, err error)
	// Steered is called with protected files that were made or changed while a server ran, and not by a call. May
	// be nil.
	Steered func(server string, paths []string)
	// Denied reports whether a rule keeps a resolved path from being read: nothing of it is shown. May be nil.
	Denied func(path string) bool
	// Changes writes files for the tools rename and code_action. If it is nil, these are not
	// offered.
	Changes Changes
	// Notify shows the person a message. May be nil.
	Notify func(level, text string)
	// Offer is called once, when a server for the workspace is known to be available. May be nil.
	Offer func()
	// Version is jcode's version.
	Version string
	// Idle is the time after which an unused server is stopped; 0 means ten minutes.
	Idle time.Duration
	// Patience is how long the answer to a change is waited for; 0 means two seconds, and three for
	// a server that was just started.
	Patience time.Duration
	// Loading is how long changes wait, all together, for a server that says that it reads the project after its start;
	// 0 means Patience, and without that 30 seconds.
	Loading time.Duration
}

// Manager owns the servers. It starts none before a file needs it. It is safe for concurrent use.
type Manager struct {
	opts   Options
	around *surroundings
	stop   context.CancelFunc // ends around.life
	work   sync.WaitGroup
	offer  sync.Once
	finder *finder

	mu      sync.Mutex
	servers []Server // replaced as a whole
	starter *proc.Launcher
	live    map[place]*instance
	fallen  map[place]*instance // the last one that ended on its own
	deaths  map[place][]time.Time
	refused map[place]string // why the person, or a rule, does not allow its start
	off     map[string]bool  // by name: the person disabled it
	told    map[string]bool  // by reason: the person was told why a server is not available
	queue   []*change        // of calls that others of their step follow
	asking  map[place]chan struct{}
	janitor bool
	closed  bool
}

// New returns a manager. It reads nothing and starts nothing.
func New(o Options) *Manager {
	if o.Idle == 0 {
		o.Idle = idleLimit
	}
	if o.Env == nil {
		o.Env = os.Environ
	}
	m := &Manager{
		opts: o, live: map[place]*instance{}, fallen: map[place]*instance{},
		deaths: map[place][]time.Time{}, refused: map[place]string{}, off: map[string]bool{}, asking: map[place]chan struct{}{}, told: map[string]bool{},
	}
	m.finder = &finder{root: o.Root, roots: o.Roots, programs: o.Programs, trusted: o.Trusted, found: map[string]looked{}}
	life, stop := context.WithCancel(context.Background())
	m.stop = stop
	m.around = &surroundings{
		root: o.Root, start: o.Start, roots: o.Roots, denied: o.Denied, env: o.Env, finder: m.finder, touched: newTouched(),
		life: life, work: &m.work, patience: o.Patience, loading: o.Loading, version: o.Version, steered: o.Steered,
	}
	m.servers = allServers(o.Servers, o.Disabled)
	return m
}

// Close stops all servers with everything they started.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	list := m.running()
	m.mu.Unlock()
	m.stop()
	var ending sync.WaitGroup
	for _, in := range list {
		ending.Go(in.end)
	}
	ending.Wait()
	m.work.Wait()
	m.mu.Lock()
	l := m.starter
	m.mu.Unlock()
	if l != nil {
		l.Close()
	}
}

// running lists the live instances, by name. The caller holds the lock.
func (m *Manager) running() []*instance {
	return slices.SortedFunc(maps.Values(m.live), byName)
}

func byName(a, b *instance) int { return strings.Compare(a.server.Name+a.root, b.server.Name+b.root) }

// instances lists the live instances, by name.
func (m *Manager) instances() []*instance {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running()
}

func (m *Manager) launcher() *proc.Launcher {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.starter == nil {
		m.starter = proc.NewServerLauncher()
	}
	return m.starter
}

// place identifies an instance: a server's name, and the folder that it began with.
type place struct{ server, root string }

// holder returns a running server that works on a folder, and one that could if there is none. The caller holds
// the lock.
func (m *Manager) holder(s Server, root string, from program) (holds, could *instance) {
	if in := m.live[place{s.Name, root}]; in != nil {
		return in, nil
	}
	for _, in := range m.running() {
		if in.server.Name != s.Name || in.program != from {
			continue
		}
		if in.worksOn(root) {
			return in, nil
		}
		could = in
	}
	return nil, could
}

// instanceFor returns the server for a file, and starts it if necessary. A nil instance without
// an error means that there is none for this file.
func (m *Manager) instanceFor(ctx context.Context, call tools.Call, path string) (*instance, error) {
	s, root, from, ok := m.choose(path)
	if !ok {
		return nil, nil
	}
	id := place{s.Name, root}
	for {
		m.mu.Lock()
		in, could := m.holder(s, root, from)
		if in != nil || m.closed || m.off[s.Name] {
			m.mu.Unlock()
			return in, nil
		}
		if could != nil {
			m.mu.Unlock()
			if could.adopt(ctx, root) {
				return could, nil
			}
			m.mu.Lock()
		}
		if why := m.refused[id]; why != "" {
			m.mu.Unlock()
			return nil, fmt.Errorf("%s was not started: %s", s.Name, why)
		}
		if m.exhausted(id) {
			last := m.fallen[id]
			m.mu.Unlock()
			return nil, fmt.Errorf("%s ended %d times in %d minutes and is left alone (/lsp restart %s tries again): %w%s", s.Name, deathLimit, int(deathTime.Minutes()), s.Name, last.failure(), last.said())
		}
		asked := m.asking[id]
		if asked == nil {
			m.asking[id] = make(chan struct{})
			m.mu.Unlock()
			break
		}
		m.mu.Unlock()
		select { // another call asks already
		case <-asked:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	in, err := m.begin(ctx, call, s, root, from)
	m.mu.Lock()
	close(m.asking[id])
	delete(m.asking, id)
	m.mu.Unlock()
	return in, err
}

// exhausted reports whether a server exited too often. The caller holds the lock.
func (m *Manager) exhausted(id place) bool {
	m.deaths[id] = slices.DeleteFunc(m.deaths[id], func(at time.Time) bool { return time.Since(at) > deathTime })
	return len(m.deaths[id]) >= deathLimit
}

// begin asks whether a server may be started, and starts it.
func (m *Manager) begin(ctx context.Context, call tools.Call, s Server, root string, from program) (*instance, error) {
	id := place{s.Name, root}
	permit := Permit{Why: "nobody may start language servers here"}
	if m.opts.Allow != nil {
		permit = m.opts.Allow(ctx, call, s.start(root, from))
	}
	if !permit.OK {
		if ctx.Err() == nil {
			m.mu.Lock()
			m.refused[id] = permit.Why
			m.mu.Unlock()
		}
		return nil, fmt.Errorf("%s was not started: %s", s.Name, permit.Why)
	}
	m.makeRoom()
	in, err := m.around.launch(m.launcher(), s, root, from, permit)
	if err != nil {
		m.mu.Lock()
		m.deaths[id] = append(m.deaths[id], time.Now())
		m.fallen[id] = &instance{server: s, root: root, around: m.around, state: StateFailed, err: err}
		m.mu.Unlock()
		return nil, err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		in.end()
		return nil, protocol.ErrClosed
	}
	m.live[id] = in
	if !m.janitor {
		m.janitor = true
		m.work.Go(m.tidy)
	}
	m.mu.Unlock()
	m.work.Go(func() {
		if <-in.gone; in.fell {
			m.died(in)
		}
	})
	return in, nil
}

// makeRoom stops the least recently used server if too many are running.
func (m *Manager) makeRoom() {
	list := m.instances()
	if len(list) < maxRunning {
		return
	}
	oldest := slices.MinFunc(list, func(a, b *instance) int { return a.lastUse().Compare(b.lastUse()) })
	m.retire(oldest)
}

func (in *instance) lastUse() time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.used
}

// retire stops a server in order.
func (m *Manager) retire(in *instance) {
	m.mu.Lock()
	if m.live[place{in.server.Name, in.root}] == in {
		delete(m.live, place{in.server.Name, in.root})
	}
	m.mu.Unlock()
	in.end()
	<-in.gone
}

// tidy stops the servers that have not been used for a while.
func (m *Manager) tidy() {
	ticker := time.NewTicker(max(m.opts.Idle/20, 10*time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-m.around.life.Done():
			return
		}
		for _, in := range m.instances() {
			in.tellSteered()
			if time.Since(in.lastUse()) > m.opts.Idle {
				m.retire(in)
			}
		}
	}
}

// died records that a server ended on its own.
func (m *Manager) died(in *instance) {
	id := place{in.server.Name, in.root}
	m.mu.Lock()
	if m.live[id] == in {
		delete(m.live, id)
	}
	m.fallen[id] = in
	m.deaths[id] = append(m.deaths[id], time.Now())
	left, closed := m.exhausted(id), m.closed
	m.mu.Unlock()
	if left && !closed && m.opts.Notify != nil {
		m.opts.Notify("warn", fmt.Sprintf("the language server %s ended %d times and is left alone: %v%s", in.server.Name, deathLimit, in.failure(), in.said()))
	}
}

// Errors returns the number of errors in the files that servers have open: those of the session.
func (m *Manager) Errors() int {
	n := 0
	for _, in := range m.instances() {
		in.mu.Lock()
		n += in.found.errors(in.docs)
		in.mu.Unlock()
	}
	return n
}
