package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"jcode/mcp/auth"
	"jcode/mcp/config"
	"jcode/mcp/wire"
	"jcode/tools"
)

// TrustStore keeps what a person approved of a project's files.
type TrustStore interface {
	// Trusted reports whether a server of a project was approved in exactly this form.
	Trusted(project, server, hash string) bool
	// Trust keeps an approval.
	Trust(project, server, hash string) error
}

// Options are what a Manager needs. The zero value of a field is what its comment says.
type Options struct {
	Paths    config.Paths
	Registry *tools.Registry // required
	// Trust keeps approvals of project entries; nil: none is approved.
	Trust TrustStore
	// TrustAll approves the project's entries for this run (`--trust`).
	TrustAll bool
	// Elicitor asks the person for a server; nil declines.
	Elicitor Elicitor
	// LogDir takes one log a server; empty: no logs.
	LogDir string
	// FileDir takes files that results are saved to; empty: nothing is saved.
	FileDir string
	// Roots are the folders that servers are told of: the workspace and added ones.
	Roots []string
	// Version is jcode's own.
	Version string
	// Env is the environment to look variables up in; nil: the process's own.
	Env []string
	// Withheld names variables that no server gets, not even by name: keys of model
	// providers.
	Withheld []string
	// Tools is auto (also ""), direct or deferred.
	Tools string
	// DeferThreshold is a number of tokens or a percentage of the window ("10%"); empty:
	// 10 % but at least 8,000.
	DeferThreshold string
	// MaxTools is the most tools that a request may hold; 0: 128.
	MaxTools int
	// Window returns the model's context window in tokens, 0 if unknown; may be nil.
	Window func() int
	// Sees reports whether the model takes images; nil: it does. For one that does not,
	// images are saved like other files.
	Sees func() bool
	// Person signs in to servers that ask for it; nil: nobody is there.
	Person auth.Person
	// Notify tells the person something; may be nil. level is info, warn or error.
	Notify func(level, text string)
}

// Manager owns all servers of a process.
type Manager struct {
	opt    Options
	env    config.Environment
	host   *wire.Host
	asking chan struct{} // one dialog at a time
	keeper *auth.Keeper  // of sign-ins; nil without a configuration folder
	signs  signIns

	// control serialises changes of what is wanted; it is held over waits for actors'
	// answers but never for connections.
	control sync.Mutex

	mu         sync.Mutex
	config     config.Config
	configured bool // config was read
	chosen     map[string]config.Chosen
	extra      map[string]config.Entry // connected by the agent or Lua, by name
	off        map[string]string       // disconnected by somebody: why
	forced     map[string]bool         // switched on for this session though disabled
	approved   map[string]bool         // approved for this session: name + pin
	accepted   map[string]string       // the pin with which a target was last let start
	pins       map[string]pin          // computed a moment ago
	actors     map[string]*actor
	leases     map[*Lease]struct{}
	base       *Lease // what the session itself holds of the configuration
	own        *Lease // what the agent and Lua connected
	started    bool
	closed     bool
	watchers   map[chan struct{}]struct{}
	// dispatcher carries out mcp_call; nil until it is set.
	dispatcher *tools.Dispatcher

	offer offerState
	saver fileSaver
	// delay scales waits before retries; tests shorten them.
	delay func(time.Duration) time.Duration
}

// New makes a manager that runs nothing yet.
func New(opt Options) *Manager {
	m := &Manager{
		opt: opt, env: config.ProcessEnvironment(opt.Paths.ProjectRoot), host: wire.NewHost(),
		asking: make(chan struct{}, 1), chosen: map[string]config.Chosen{}, extra: map[string]config.Entry{}, off: map[string]string{},
		forced: map[string]bool{}, approved: map[string]bool{}, accepted: map[string]string{}, pins: map[string]pin{}, actors: map[string]*actor{}, leases: map[*Lease]struct{}{},
		watchers: map[chan struct{}]struct{}{}, saver: fileSaver{dir: opt.FileDir},
		delay: func(d time.Duration) time.Duration { return d },
	}
	if opt.Env != nil {
		m.env.Base = opt.Env
	}
	m.env.Withheld = opt.Withheld
	if opt.Paths.Home != "" {
		m.env.Home = opt.Paths.Home
	}
	m.base, m.own = m.newLease(), m.newLease()
	if opt.Paths.ConfigDir != "" {
		m.keeper = auth.NewKeeper(opt.Paths.ConfigDir)
	}
	m.signs.ctx, m.signs.end = context.WithCancel(context.Background())
	m.offer.deferred = opt.Tools == "deferred"
	return m
}

// Start reads the configuration and begins to connect what is enabled and approved. It
// waits for none of it.
func (m *Manager) Start() {
	m.control.Lock()
	defer m.control.Unlock()
	m.readConfig()
	m.tellProblems()
	m.mu.Lock()
	m.started = true
	names := m.startNames()
	m.hold(m.base, names)
	m.mu.Unlock()
	m.settle(wish{})
}

// tellProblems tells the person of files and entries that can't be used.
func (m *Manager) tellProblems() {
	m.mu.Lock()
	var problems []string
	for _, f := range m.config.Files {
		if f.Error != "" {
			problems = append(problems, f.Error)
		}
	}
	for _, name := range m.known() {
		if e, _ := m.entry(name); e.Err != nil {
			problems = append(problems, e.Err.Error())
		}
	}
	m.mu.Unlock()
	for _, p := range problems {
		m.notify("warn", "MCP servers: %s", p)
	}
}

// readConfig reads the files and settles what counts.
func (m *Manager) readConfig() {
	c := config.Load(m.opt.Paths)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.config, m.configured = c, true
	m.rechoose()
}

// ensureConfig reads the configuration where nothing has done so yet: a role may need
// servers before Start. The caller holds control.
func (m *Manager) ensureConfig() {
	m.mu.Lock()
	configured := m.configured
	m.mu.Unlock()
	if !configured {
		m.readConfig()
	}
}

// Known lists the names of all servers that configuration and session know, sorted.
func (m *Manager) Known() []string {
	m.control.Lock()
	defer m.control.Unlock()
	m.ensureConfig()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known()
}

// rechoose settles which definitions count. The caller holds mu.
func (m *Manager) rechoose() { m.chosen = m.config.Choose(m.isApproved) }

// isApproved reports whether an entry may start without a question. The caller holds mu.
func (m *Manager) isApproved(e config.Entry) bool {
	if e.Source.Scope != config.ScopeProject || m.opt.TrustAll {
		return true
	}
	hash := m.pinNow(e)
	return m.approved[e.Name+" "+hash] || m.opt.Trust != nil && m.opt.Trust.Trusted(m.opt.Paths.ProjectRoot, e.Name, hash)
}

// startNames are the servers that run without anybody asking. The caller holds mu.
func (m *Manager) startNames() []string {
	var names []string
	for name, c := range m.chosen {
		if c.Entry.Err == nil && (c.Entry.Enabled || m.forced[name]) && m.isApproved(c.Entry) && m.off[name] == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// entry returns what counts for a name. The caller holds mu.
func (m *Manager) entry(name string) (config.Entry, bool) {
	if c, ok := m.chosen[name]; ok {
		return c.Entry, true
	}
	e, ok := m.extra[name]
	return e, ok
}

// known lists all names, sorted. The caller holds mu.
func (m *Manager) known() []string {
	names := slices.Collect(maps.Keys(m.chosen))
	for name := range m.extra {
		if _, ok := m.chosen[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (m *Manager) hooks(e config.Entry) sessionHooks {
	return sessionHooks{
		elicit: m.elicitFor(e), roots: m.opt.Roots, version: m.opt.Version, alive: e.KeepAlive,
	}
}

// publish takes a new view of an actor, on the actor's goroutine. The registry follows
// before anybody sees the view: a server that shows as connected can be used.
func (m *Manager) publish(a *actor, v *view, toolsChanged bool) {
	old := a.view.Load()
	if toolsChanged {
		m.publishTools(a, v)
	} else {
		a.view.Store(v)
	}
	m.tellOf(a.name, old, v)
	if v.state == StateNeedsSignIn && old.state != v.state {
		m.offerSignIn(a.name, v.err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for ch := range m.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// tellOf tells the person of a server that was lost or given up. A failure that somebody
// waits for is told there.
func (m *Manager) tellOf(name string, old, v *view) {
	if v.partial != nil && old.partial == nil {
		m.notify("warn", "MCP server %s: %s; it is read again", name, config.Scrub(plainError(v.partial), v.secrets))
	}
	if v.err == nil || old.state == v.state {
		return
	}
	text := config.Scrub(plainError(v.err), v.secrets)
	switch {
	case v.state == StateNeedsSignIn && m.opt.Person == nil && !v.single && m.signs.first("told "+name):
		m.notify("warn", "MCP server %s %s", name, text)
	case v.state == StateFailed && !v.single:
		m.notify("warn", "MCP server %s failed: %s", name, text)
	case v.state == StateReconnecting && old.state == StateConnected:
		m.notify("warn", "MCP server %s was lost; it is being connected again: %s", name, text)
	case v.state == StateReconnecting && old.state == StateConnecting && v.attempt == 1:
		m.notify("warn", "MCP server %s did not connect and is tried again: %s", name, text)
	}
}

// Watch returns a channel that holds a value whenever the state, the tools or the prompts of a
// server have changed, and a function that ends the watch.
func (m *Manager) Watch() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watchers[ch] = struct{}{}
	return ch, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watchers, ch)
	}
}

// WaitReady waits until no server is in its first attempt, at most until ctx ends, and
// gives the names of those that still are.
func (m *Manager) WaitReady(ctx context.Context) []string {
	changes, stop := m.Watch()
	defer stop()
	for {
		var waiting []string
		m.mu.Lock()
		for name, a := range m.actors {
			if a.view.Load().state == StateConnecting {
				waiting = append(waiting, name)
			}
		}
		m.mu.Unlock()
		slices.Sort(waiting)
		if len(waiting) == 0 {
			return nil
		}
		select {
		case <-changes:
		case <-ctx.Done():
			return waiting
		}
	}
}

// refreshWait bounds how long a turn waits for lists that are read again.
const refreshWait = 2 * time.Second

// Refresh is called at the start of a turn: tools of URL servers that have no stream of
// notifications are read again, at most once a minute.
func (m *Manager) Refresh(ctx context.Context) {
	m.mu.Lock()
	actors := slices.Collect(maps.Values(m.actors))
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, refreshWait)
	defer cancel()
	actors = slices.DeleteFunc(actors, func(a *actor) bool { return !a.recheck() })
	for _, a := range actors {
		a.settled(ctx)
	}
}

// closeGrace bounds a quit: what lives on then is killed.
const closeGrace = 2 * time.Second

// Close ends all servers in parallel and returns when nothing of them is left, after at
// most a little over two seconds. The manager can't be used afterwards.
func (m *Manager) Close() {
	m.close()
	m.signs.wait.Wait() // they end with their context
}

func (m *Manager) close() {
	m.control.Lock()
	defer m.control.Unlock()
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return
	}
	m.closed = true
	actors := slices.Collect(maps.Values(m.actors))
	m.mu.Unlock()
	m.signs.end()
	for _, a := range actors {
		a.close()
	}
	m.host.Close(closeGrace)
	for _, a := range actors {
		a.wait()
	}
	for _, a := range actors {
		m.opt.Registry.UnregisterOwner(ownerOf(a.name))
	}
}

func (m *Manager) notify(level, format string, args ...any) {
	if m.opt.Notify != nil {
		m.opt.Notify(level, fmt.Sprintf(format, args...))
	}
}
