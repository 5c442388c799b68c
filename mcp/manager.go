package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"jcode/internal/launch"
	"jcode/mcp/auth"
	"jcode/mcp/config"
	"jcode/mcp/wire"
	"jcode/tools"
)

// Options configures a Manager. The comment of a field says what its zero value means.
type Options struct {
	Paths    config.Paths
	Registry *tools.Registry // required
	// Trust keeps approvals of project entries; nil: none is approved.
	Trust tools.Trust
	// TrustAll approves the project's entries for this run (`--trust`).
	TrustAll bool
	// Confiner confines the servers of projects and plugins; nil: nothing is confined.
	Confiner Confiner
	// Changes knows which files this session's agents changed; nil: none.
	Changes Changes
	// Elicitor asks the person for a server; nil declines.
	Elicitor Elicitor
	// LogDir holds one log per server; empty: no logs.
	LogDir string
	// FileDir holds the files that results are saved to; empty: nothing is saved.
	FileDir string
	// Private reports whether nothing that servers send may reach the disk now; nil: it may.
	Private func() bool
	// Roots are the folders that are announced to servers: the workspace and added ones.
	Roots []string
	// Version is jcode's own.
	Version string
	// Env is the environment to look variables up in; nil: the process's own.
	Env []string
	// Variables returns what servers get besides, as NAME=value, at the moment at which one starts; nil: nothing.
	Variables func() []string
	// Withheld names variables that no server gets, not even by name: keys of model
	// providers.
	Withheld []string
	// Tools is auto (also ""), direct or deferred.
	Tools string
	// DeferThreshold is a number of tokens or a percentage of the window ("10%"); empty:
	// 10 % but at least 8,000.
	DeferThreshold string
	// MaxTools is how many tools a request may contain at most; 0: 128.
	MaxTools int
	// Window returns the model's context window in tokens, 0 if unknown; may be nil.
	Window func() int
	// Sees reports whether the model accepts images; nil: it does. For one that does not, images are saved like
	// other files.
	Sees func() bool
	// Person signs in to servers that ask for it; nil: nobody is there.
	Person auth.Person
	// Permit returns why a server may not run: the command line that starts it, otherwise its address. Nil permits all.
	Permit func(command []string, address string) error
	// Programs finds the programs of servers that neither the project nor a plugin brought.
	Programs launch.Programs
	// Notify shows the person a message; may be nil. level is info, warn or error.
	Notify func(level, text string)
}

// Changes knows the files that agents of this session changed. It is safe for concurrent use.
type Changes interface {
	// Count returns how many changes there were.
	Count() int
	// Since lists the changed files after the first n changes that are of a kind that runs, or in a folder of
	// one of the files, all relative to the project.
	Since(n int, files []string) []string
}

// Manager owns all servers of a process.
type Manager struct {
	opt       Options
	env       config.Environment
	host      *wire.Host
	keeper    *auth.Keeper // of sign-ins; nil without a configuration folder
	approvals *approvals
	asker     asker
	signIns   *signIns
	offer     *offer
	watchers  watchers
	lent      lent
	saver     fileSaver

	// control serialises changes of the desired state. It may be held while waiting for the
	// answer of an actor, but never while waiting for a connection.
	control sync.Mutex

	mu     sync.Mutex
	wants  *wants
	actors map[string]*actor
	closed bool

	// delay scales waits before retries; tests shorten them.
	delay func(time.Duration) time.Duration
}

// New returns a manager that runs nothing yet.
func New(opt Options) *Manager {
	m := &Manager{
		opt: opt, env: config.ProcessEnvironment(opt.Paths.ProjectRoot), host: wire.NewHost(opt.Variables),
		actors: map[string]*actor{}, saver: fileSaver{dir: opt.FileDir, private: opt.Private},
		delay: func(d time.Duration) time.Duration { return d },
	}
	if opt.Env != nil {
		m.env.Base = opt.Env
	}
	m.env.Withheld, m.env.Programs, m.env.Permit = opt.Withheld, opt.Programs, opt.Permit
	if opt.Paths.Home != "" {
		m.env.Home = opt.Paths.Home
	}
	if opt.Paths.ConfigDir != "" {
		m.keeper = auth.NewKeeper(opt.Paths.ConfigDir)
	}
	m.approvals = newApprovals(opt, m.env)
	m.wants = newWants(m.approvals)
	m.asker = asker{turn: make(chan struct{}, 1), elicitor: opt.Elicitor, notify: m.notify}
	m.signIns = newSignIns(m.keeper, opt.Person, m.env, m.asker)
	m.offer = newOffer(m)
	return m
}

// SignIns returns the sign-ins to the manager's servers.
func (m *Manager) SignIns() SignIns { return SignIns{m, m.signIns} }

// Start reads the configuration and starts connecting what is enabled and approved. It does not wait for any
// of it.
func (m *Manager) Start() {
	m.control.Lock()
	defer m.control.Unlock()
	m.readConfig()
	m.tellProblems()
	m.mu.Lock()
	m.wants.started = true
	m.wants.wantEnabled()
	m.mu.Unlock()
	m.settle(order{})
}

// tellProblems notifies the person of files, entries and approvals that can't be used.
func (m *Manager) tellProblems() {
	m.mu.Lock()
	problems := m.wants.problems(false)
	m.mu.Unlock()
	for _, p := range problems {
		m.notify("warn", "MCP servers: %s", p)
	}
}

// readConfig reads the files and picks the definition of each name.
func (m *Manager) readConfig() {
	c := config.Load(m.opt.Paths)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wants.take(c)
}

// ensureConfig reads the configuration if that has not happened yet: a role may need servers
// before Start. The caller holds control.
func (m *Manager) ensureConfig() {
	m.mu.Lock()
	configured := m.wants.configured
	m.mu.Unlock()
	if !configured {
		m.readConfig()
	}
}

// Known lists the names of all servers that the configuration and the session know, sorted.
func (m *Manager) Known() []string {
	m.control.Lock()
	defer m.control.Unlock()
	m.ensureConfig()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wants.known()
}

func (m *Manager) hooks(e config.Entry) sessionHooks {
	return sessionHooks{
		elicit: m.asker.hook(e.Name), roots: m.opt.Roots, version: m.opt.Version, alive: e.KeepAlive,
	}
}

// publish stores a new view of an actor, on the actor's goroutine. The registry is updated
// first, so that the tools of a server with the state connected can be called.
func (m *Manager) publish(a *actor, v *view, toolsChanged bool) {
	old := a.view.Load()
	if toolsChanged {
		m.offer.publish(a, v)
	} else {
		a.view.Store(v)
	}
	m.tellOf(a.name, old, v)
	if v.state == StateNeedsSignIn && old.state != v.state {
		m.SignIns().offer(a.name, v.err)
	}
	m.watchers.wake()
}

// tellOf notifies the person of a server that was lost or failed for good. A failure that a
// caller waits for is reported to that caller instead.
func (m *Manager) tellOf(name string, old, v *view) {
	if v.partial != nil && old.partial == nil {
		m.notify("warn", "MCP server %s: %s; it is read again", name, config.Scrub(plainError(v.partial), v.secrets))
	}
	if v.err == nil || old.state == v.state {
		return
	}
	text := config.Scrub(plainError(v.err), v.secrets)
	switch {
	case v.state == StateNeedsSignIn && m.opt.Person == nil && !v.single && m.signIns.untold(name):
		m.notify("warn", "MCP server %s %s", name, text)
	case v.state == StateFailed && !v.single:
		m.notify("warn", "MCP server %s failed: %s", name, text)
	case v.state == StateReconnecting && old.state == StateConnected:
		m.notify("warn", "MCP server %s was lost; it is being connected again: %s", name, text)
	case v.state == StateReconnecting && old.state == StateConnecting && v.attempt == 1:
		m.notify("warn", "MCP server %s did not connect and is tried again: %s", name, text)
	}
}

// Watch returns a channel that receives a value whenever the state, the tools or the prompts
// of a server have changed, and a function that ends the watch.
func (m *Manager) Watch() (<-chan struct{}, func()) { return m.watchers.add() }

// WaitReady waits until no server is in its first attempt, at most until ctx ends, and
// returns the names of those that still are.
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

// closeGrace bounds Close: processes that still run then are killed.
const closeGrace = 2 * time.Second

// Close ends all servers in parallel and returns when their processes are gone, after at most
// a little over two seconds. The manager can't be used afterwards.
func (m *Manager) Close() {
	m.close()
	m.signIns.wait.Wait() // they end with their context
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
	m.signIns.end()
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
