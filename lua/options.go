package lua

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"jcode/lua/pool"
	"jcode/tools"
)

// Options configures a Room. Registry, Dispatcher and Root are required.
type Options struct {
	// Registry holds the tools; the room adds and removes its own.
	Registry *tools.Registry
	// Dispatcher carries out the calls of scripts. Its gate judges plugins, too.
	Dispatcher *tools.Dispatcher
	// Root is the project's folder, absolute and resolved: what fs.* may touch.
	Root string
	// Start is the folder in which relative paths begin, jcode.pwd for scripts; "" means Root.
	Start string
	// ProjectID keeps the state of one project's tools apart from another's.
	ProjectID string
	// Config is jcode's configuration folder, for user tools and the startup script.
	// Empty means that there is none.
	Config string
	// Plugins returns the folders with tools/ and plugins/ of installed plugins that the person has
	// accepted; it is called at each Refresh. Nil means none.
	Plugins func() []string
	// State stores the state of scripts. Nil: state functions raise an error.
	State StateStore
	// MCP is the manager of MCP servers. Nil: scripts see no servers.
	MCP MCPControl
	// Trust decides about the project's Lua. Nil trusts nothing of the project.
	Trust tools.Trust
	// Untrusted is called with the Lua of the project that is not trusted, once for each set. It must not block.
	// The caller's owner asks the person, and calls Room.Reload after a yes. May be nil.
	Untrusted func(items []tools.TrustItem)
	// Brought says how commands of scripts run, by who brought them: "project", "user", or "plugin " with the name of
	// an installed plugin. Nil, or a nil answer, means as the person's own.
	Brought func(from string) *tools.Brought
	// Notices shows lines to the person. Nil drops them.
	Notices Notices
	// Standing returns the caller for code that runs without a call of the model: startup, plugins,
	// commands, events. Nil: there is nobody to ask.
	Standing func() tools.Caller
	// SecretEnv reports whether an environment variable must never reach a script, in addition to
	// those that look like keys. May be nil.
	SecretEnv func(name string) bool
	// Denied returns the rule that forbids requests to an address, "" if none. May be nil.
	Denied func(address string) string
	// CommandTaken reports whether a slash command of that name exists outside Lua. May be
	// nil.
	CommandTaken func(name string) bool
	// Eval adds the lua_eval tool.
	Eval bool
	// NoWatch disables watching files. Refresh before each step is enough for a short run.
	NoWatch bool

	// start replaces the host process in tests.
	start pool.Starter
	// idleLimit is how long a spare host is kept unused; 0 = 120 s.
	idleLimit time.Duration
	// eventLimit is how long an event handler may take; 0 = 100 ms.
	eventLimit time.Duration
}

// StateStore stores the state of scripts by scope and key. Values are JSON. The session store
// implements it.
type StateStore interface {
	Get(ctx context.Context, scope, key string) (value json.RawMessage, ok bool, err error)
	Set(ctx context.Context, scope, key string, value json.RawMessage) error
	Delete(ctx context.Context, scope, key string) error
	Keys(ctx context.Context, scope string) ([]string, error)
	// Swap replaces a value if it is still old, and reports whether it was; a nil value stands for none.
	Swap(ctx context.Context, scope, key string, old, value json.RawMessage) (swapped bool, err error)
}

// MCPControl is the manager of MCP servers as scripts use it. No method waits for a
// server.
type MCPControl interface {
	// Add adds a server; the error is about the name or the target itself.
	Add(name string, target MCPTarget) error
	// Remove removes a server and reports whether it existed; its tools are gone when it returns.
	Remove(name string) bool
	// Restart restarts a server; it returns false if there is none of that name.
	Restart(name string) bool
	// Status returns one server's state.
	Status(name string) (MCPStatus, bool)
	// List returns all servers that run or are meant to, sorted by name.
	List() []MCPStatus
}

// MCPTarget is where a server is: a URL, or a command.
type MCPTarget struct {
	URL     string
	Headers map[string]string
	Command string
	Args    []string
	Env     map[string]string
	Dir     string
	// Owner is the script that adds it; Ask says that a person must approve the target before
	// anything is started.
	Owner string
	Ask   bool
}

// MCPStatus is one server's state.
type MCPStatus struct {
	Name    string
	State   string // connecting, connected, reconnecting, failed
	Tools   int
	Error   string
	Attempt int
}

// Notices shows one line to the person. Level is info, warn or error.
type Notices interface {
	Notice(level, text string)
}

// startDir returns the folder in which relative paths begin.
func (o Options) startDir() string { return cmp.Or(o.Start, o.Root) }
