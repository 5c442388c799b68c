package hookscli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/cli/config"
	"jcode/cli/core"
	pluginscli "jcode/cli/plugins"
	"jcode/cli/undo"
	"jcode/hooks"
	"jcode/internal/slicex"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/builtin"
)

// Times of hooks at the edges of a session.
const (
	sessionEndWait = 5 * time.Second  // for all SessionEnd hooks together
	idleAfter      = 60 * time.Second // after a turn, until a Notification says that jcode waits
)

// Options are what the hooks of a run need.
type Options struct {
	Board           *board.Board
	Plugins         func() []hooks.Hook                         // those of plugins
	PluginRights    func(name string) (pluginscli.Rights, bool) // how the programs of a plugin run
	LookAtPlugins   func()                                      // applies changes of plugins
	Shell           *builtin.Shell
	Follower        *undo.Follower // keeps what hooks change for an undo; may be nil
	Cwd, Root, Home string
	Originals       []string        // checkouts that the project is a copy of
	Config          string          // the configuration folder, resolved
	Secret          func() []string // files in it that no hook may read
	Once            bool            // a single run
	// Start returns the mode before there is a conversation. Configured are the hooks of the person's configuration and
	// of the project's.
	Start       func() tools.Mode
	Configured  func() (own, project config.Hooks)
	Managed     []config.ManagedHooks    // those of this machine's administrator
	TheirPins   func() map[string]string // what is trusted of the project's, by event
	Trusted     func(ctx context.Context, kind tools.TrustKind, name, hash string) bool
	Trust       tools.Trust // in files of this project, and of the person
	Confinement Confinement
	Variables   *Variables
	Scratch     string // a folder for files of single runs
	// Covers reports whether a permission rule in Claude Code's form covers a call.
	Covers func(rule string, call tools.Call) (bool, error)
}

// Confinement is where the commands of hooks run.
type Confinement interface {
	// Confined reports whether commands can be confined.
	Confined() bool
	// CommandEnv is their environment; Kept are variables that they get although they look like secrets.
	CommandEnv() []string
	Kept() []string
	// ChangedSince returns a func that says which files that a line starts have changed since now, "" for none.
	ChangedSince(root, line string, theirs bool) func() string
}

// Hooks connects hooks with the conversation: it finds them, and reports events to the engine.
type Hooks struct {
	board        *board.Board
	plugins      func() []hooks.Hook
	pluginRights func(name string) (pluginscli.Rights, bool)
	shell        *builtin.Shell
	follower     *undo.Follower
	cwd          string
	root, home   string
	originals    []string
	config       string
	secret       func() []string
	once         bool

	start         func() tools.Mode
	configured    func() (own, project config.Hooks)
	managed       []config.ManagedHooks
	theirPins     func() map[string]string
	trusted       func(ctx context.Context, kind tools.TrustKind, name, hash string) bool
	trust         tools.Trust
	confinement   Confinement
	lookAtPlugins func()
	variables     *Variables
	roles         *roleHooks // those that roles bring
	scratch       string

	engine *hooks.Engine
	ctx    context.Context // ends with the app
	end    context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	files   []settingsFile
	kept    map[string]settingsFile  // the files in force, by path: what guards stays until another version is trusted
	pinned  map[string]func() string // by command of the configuration
	said    map[string]bool          // problems that were shown
	begun   map[string]bool          // sessions whose start hooks were told of
	resumed map[string]bool          // sessions that had messages before
	cleared bool                     // the next new session replaces one that was left
	pending map[string]string        // what the model of a session is told at its next step
	// followed is the conversation whose waiting is reported to hooks.
	followed *agent.Conversation
}

// New finds the hooks. Nothing runs yet. The caller closes it.
func New(o Options) *Hooks {
	h := &Hooks{
		board: o.Board, plugins: o.Plugins, pluginRights: o.PluginRights, shell: o.Shell, follower: o.Follower, cwd: o.Cwd, root: o.Root, originals: o.Originals, home: o.Home, config: o.Config,
		secret: o.Secret, once: o.Once, start: o.Start, managed: o.Managed, configured: o.Configured,
		trusted: o.Trusted, trust: o.Trust, confinement: o.Confinement, lookAtPlugins: o.LookAtPlugins,
		theirPins: o.TheirPins, variables: o.Variables, roles: &roleHooks{}, scratch: o.Scratch,
		kept: map[string]settingsFile{}, pinned: map[string]func() string{}, said: map[string]bool{}, begun: map[string]bool{}, resumed: map[string]bool{}, pending: map[string]string{},
	}
	h.ctx, h.end = context.WithCancel(context.Background())
	h.engine = hooks.New(hooks.Options{
		Runner: h, Root: o.Root, Cwd: o.Cwd, Covers: o.Covers, Background: h.behind, Later: h.later, OfRole: h.ofRole, Mode: func() string { return string(h.mode()) },
		Notice: func(level, text string) { h.board.Say(event.Level(level), "%s", text) },
	})
	h.reload()
	return h
}

// Close tells hooks that the sessions of this run end, and ends what runs.
func (h *Hooks) Close() {
	h.SessionsEnd()
	h.end()
	h.work.Wait()
}

// Calls returns what runs the hooks of calls.
func (h *Hooks) Calls() tools.Hook { return hooks.Calls{Engine: h.engine} }

// Any reports whether there are hooks for everything.
func (h *Hooks) Any() bool { return len(h.engine.List()) > 0 }

// HearRolesOf makes the hooks of another conversation's roles hear of this one's agents.
func (h *Hooks) HearRolesOf(main *Hooks) { h.roles = main.roles }

func (h *Hooks) mode() tools.Mode {
	if conv := h.board.Open(); conv != nil {
		return conv.Mode()
	}
	return h.start()
}

// Extension returns what it adds to jcode.
func (h *Hooks) Extension() core.Extension {
	return core.Extension{Refresh: h.refresh, Opened: h.opened, Own: h.own(), Agents: h.agents(), Inert: h.inert, Wake: h.wake}
}

// wake is a point of the extension.
func (h *Hooks) wake(items []tools.TrustItem) error {
	if len(core.OfKind(items, tools.TrustHook)) > 0 {
		h.reload()
	}
	return nil
}

// inert lists the files whose hooks wait for trust, or have it.
func (h *Hooks) inert() []tools.TrustItem {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slicex.Map(h.files, func(f settingsFile) tools.TrustItem { return f.item })
}

// refresh is a point of the extension.
func (h *Hooks) refresh() { h.reload() }

// opened is a point of the extension.
func (h *Hooks) opened(conv *agent.Conversation, _ bool) { h.follow(conv) }

// own makes a conversation report its events to the hooks.
func (h *Hooks) own() agent.Extension {
	e := h.agents()
	e.Admit, e.Compacting, e.Before = h.admit, h.compacting, h.before // events of the person's input and of what the person sees
	return e
}

// agents makes sub-agents report their events to the hooks.
func (h *Hooks) agents() agent.Extension {
	return agent.Extension{
		Stopping: h.Stopping,
		Loaded: func(id string, rows []session.Message) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.resumed[id] = h.resumed[id] || !h.begun[id] && len(rows) > 0
		},
		Compacted: func(ctx context.Context, id string) { h.sessionStart(ctx, id, "compact") },
	}
}

// sessionStart tells hooks that a session begins, and keeps what they have to say to the model.
func (h *Hooks) sessionStart(ctx context.Context, id, source string) {
	out := h.engine.Fire(ctx, hooks.Occasion{Event: hooks.SessionStart, Session: id, Names: []string{source}, Fields: map[string]any{"source": source}})
	if source != "compact" {
		h.variables.forget(id)
	}
	h.variables.add(id, out.Variables)
	if out.Context != "" {
		h.mu.Lock()
		h.pending[id] += "[SessionStart hook] " + out.Context + "\n"
		h.mu.Unlock()
	}
}

// before passes to the model what hooks said outside of its steps.
func (h *Hooks) before(_ context.Context, id string) agent.Announcement {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := h.pending[id]
	delete(h.pending, id)
	return agent.Announcement{Text: text, Shown: "a hook told the model something"}
}

// admit runs the hooks for a prompt. An error means that the prompt is not sent.
func (h *Hooks) admit(ctx context.Context, id, prompt string) (string, error) {
	h.lookAtPlugins()
	h.reload()
	h.mu.Lock()
	fresh, resumed, cleared, told := !h.begun[id], h.resumed[id], h.cleared, h.pending[id]
	h.begun[id], h.cleared = true, false
	h.mu.Unlock()
	if fresh {
		source := "startup"
		switch {
		case resumed:
			source = "resume"
		case cleared:
			source = "clear"
		}
		h.sessionStart(ctx, id, source)
		if ctx.Err() != nil { // interrupted: they run again with the next prompt
			h.mu.Lock()
			delete(h.begun, id)
			h.cleared, h.pending[id] = cleared, told
			h.mu.Unlock()
			return "", ctx.Err()
		}
	}
	out := h.engine.Fire(ctx, hooks.Occasion{Event: hooks.UserPromptSubmit, Session: id, Fields: map[string]any{"prompt": prompt}})
	switch {
	case out.Block:
		return "", fmt.Errorf("the prompt was not sent: %s: %s", out.By, out.Reason)
	case out.Stop:
		return "", fmt.Errorf("the prompt was not sent: %s: %s", out.By, out.StopReason)
	case out.Context != "":
		return "[UserPromptSubmit hook] " + out.Context, nil
	}
	return "", nil
}

// Stopping asks hooks whether the model may stop.
func (h *Hooks) Stopping(ctx context.Context, s agent.Stop) string {
	event, fields := hooks.Stop, map[string]any{"stop_hook_active": s.Again, "last_assistant_message": s.Text}
	if s.Child {
		event, fields["agent_id"] = hooks.SubagentStop, s.Session
	}
	out := h.engine.Fire(ctx, hooks.Occasion{Event: event, Session: s.Session, Fields: fields, Roles: s.Roles})
	if out.Block && !out.Stop {
		return "[" + out.By + " wants you to go on: " + out.Reason + "]"
	}
	return ""
}

// compacting tells hooks about a compaction.
func (h *Hooks) compacting(ctx context.Context, id string, manual bool, keep string) error {
	trigger := "auto"
	if manual {
		trigger = "manual"
	}
	out := h.engine.Fire(ctx, hooks.Occasion{
		Event: hooks.PreCompact, Session: id, Names: []string{trigger}, Fields: map[string]any{"trigger": trigger, "custom_instructions": keep},
	})
	switch {
	case out.Block:
		return fmt.Errorf("%s: %s", out.By, out.Reason)
	case out.Stop:
		return fmt.Errorf("%s: %s", out.By, out.StopReason)
	}
	return nil
}

// Left tells hooks, in the background, that the person has left a session for a new one ("clear")
// or for another one ("resume").
func (h *Hooks) Left(id, reason string) {
	h.mu.Lock()
	known := h.begun[id]
	delete(h.begun, id)
	h.cleared = reason == "clear"
	h.mu.Unlock()
	if !known {
		return
	}
	h.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), sessionEndWait)
		defer cancel()
		h.sessionEnd(ctx, id, reason)
	})
}

func (h *Hooks) sessionEnd(ctx context.Context, id, reason string) {
	h.engine.Fire(ctx, hooks.Occasion{Event: hooks.SessionEnd, Session: id, Names: []string{reason}, Fields: map[string]any{"reason": reason}})
}

// SessionsEnd tells hooks that the sessions of this run end.
func (h *Hooks) SessionsEnd() {
	h.mu.Lock()
	begun := h.begun
	h.begun = map[string]bool{}
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), sessionEndWait)
	defer cancel()
	reason := "prompt_input_exit"
	if h.once {
		reason = "other"
	}
	for id := range begun {
		h.sessionEnd(ctx, id, reason)
	}
}
