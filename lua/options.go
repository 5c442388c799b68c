package lua

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"jcode/lua/pool"
	"jcode/tools"
)

// Options is what the room needs from the rest of the house. Registry, Dispatcher and
// Root are required.
type Options struct {
	// Registry holds the tools; the room adds its own and takes them away.
	Registry *tools.Registry
	// Dispatcher carries out what scripts dispatch. Its gate judges plugins, too.
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
	// Plugins returns folders with tools/ and plugins/ that plugins of others bring, which the
	// person accepted, as they are at each look. Nil is none.
	Plugins func() []string
	// State keeps what scripts store. Nil: state functions raise.
	State StateStore
	// MCP is the manager of MCP servers. Nil: scripts see no server.
	MCP MCPControl
	// Trust decides about the project's Lua. Nil trusts nothing of the project.
	Trust tools.Trust
	// Untrusted is told, without waiting, which Lua of the project is there and not trusted,
	// once for each set. Whoever asks the person calls Room.Reload after a yes. May be nil.
	Untrusted func(items []tools.TrustItem)
	// Notices shows lines to the person. Nil drops them.
	Notices Notices
	// Standing returns the standing of the current session, for scripts that run on their
	// own: startup, plugins, commands, events. Nil: nobody can be asked.
	Standing func() tools.Caller
	// SecretEnv reports whether an environment variable must never reach a script, beside
	// those that look like keys. May be nil.
	SecretEnv func(name string) bool
	// CommandTaken reports whether a slash command of that name exists outside Lua. May be
	// nil.
	CommandTaken func(name string) bool
	// Executable is the program that is started as a host; empty means this one.
	Executable string
	// Eval adds the lua_eval tool.
	Eval bool
	// NoWatch leaves files unwatched: whoever calls Refresh before each step needs no
	// more in a run that ends soon.
	NoWatch bool

	// start replaces the host process in tests.
	start pool.Starter
	// idleLimit is how long a spare host lives unused; 0 = 120 s.
	idleLimit time.Duration
	// eventLimit is how long an event handler may take; 0 = 100 ms.
	eventLimit time.Duration
}

// StateStore keeps what scripts store, by scope and key. Values are JSON. The session
// store is one.
type StateStore interface {
	Get(ctx context.Context, scope, key string) (value json.RawMessage, ok bool, err error)
	Set(ctx context.Context, scope, key string, value json.RawMessage) error
	Delete(ctx context.Context, scope, key string) error
	Keys(ctx context.Context, scope string) ([]string, error)
}

// MCPControl is the manager of MCP servers as scripts use it. No method waits for a
// server.
type MCPControl interface {
	// Add wants a server; the error is about the name or the target itself.
	Add(name string, target MCPTarget) error
	// Remove drops a server and reports whether it was there; its tools are gone when
	// it returns.
	Remove(name string) bool
	// Restart tries a server again from the start; false if unknown.
	Restart(name string) bool
	// Status returns one server's state.
	Status(name string) (MCPStatus, bool)
	// List returns all servers that run or should, sorted by name.
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
	// Owner is the script that asks; Ask says that a person must approve the target
	// before anything is started.
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

// startDir is the folder in which relative paths begin.
func (o Options) startDir() string { return cmp.Or(o.Start, o.Root) }
