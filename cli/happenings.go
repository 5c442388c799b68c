package cli

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
	"jcode/internal/paths"
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

// happenings connects hooks with the conversation: it finds them, and reports events to the engine.
type happenings struct {
	board      *board.Board
	bundles    *pluginscli.Bundles
	shell      *builtin.Shell
	follower   *undo.Follower // keeps what hooks change for an undo; may be nil
	cwd        string
	root, home string
	originals  []string        // checkouts that the project is a copy of
	config     string          // the configuration folder, resolved
	secret     func() []string // files in it that no hook may read
	once       bool            // a single run
	// start returns the mode before there is a conversation. configured are the hooks of the person's
	// configuration and of the project's.
	start         func() tools.Mode
	configured    func() (own, project config.Hooks)
	managed       []config.ManagedHooks    // those of this machine's administrator
	theirPins     func() map[string]string // what is trusted of the project's, by event
	trusted       func(ctx context.Context, kind tools.TrustKind, name, hash string) bool
	trust         tools.Trust // in files of this project, and of the person
	confinement   *confinement
	lookAtPlugins func() // applies changes of plugins
	variables     *hookVariables
	roles         *roleHooks // those that roles bring
	scratch       string     // a folder for files of single runs

	engine *hooks.Engine
	ctx    context.Context // ends with the app
	work   sync.WaitGroup

	mu      sync.Mutex
	files   []hookFile
	kept    map[string]hookFile      // the files in force, by path: what guards stays until another version is trusted
	pinned  map[string]func() string // by command of the configuration
	said    map[string]bool          // problems that were shown
	begun   map[string]bool          // sessions whose start hooks were told of
	resumed map[string]bool          // sessions that had messages before
	cleared bool                     // the next new session replaces one that was left
	pending map[string]string        // what the model of a session is told at its next step
	// followed is the conversation whose waiting is reported to hooks.
	followed *agent.Conversation
}

// openHooks finds the hooks. Nothing runs yet.
func (a *app) openHooks() {
	ctx, cancel := context.WithCancel(context.Background())
	h := &happenings{
		board: &a.board, bundles: &a.bundles, shell: a.shell, follower: a.follower, cwd: a.cwd, root: a.root, originals: a.originals, home: a.paths.Home, config: paths.Real(a.paths.Config),
		secret: func() []string { return []string{paths.Real(a.paths.Credentials())} }, once: a.flags.Print,
		start:      func() tools.Mode { return a.mode },
		managed:    managedHooks(a.std.managed),
		configured: func() (own, project config.Hooks) { return a.config.Hooks, a.theirHooks },
		trusted:    a.trusted, trust: a.everywhere(), confinement: a.confinement, lookAtPlugins: newPluginLife(a).Look,
		theirPins: func() map[string]string { return a.theirPins }, variables: &a.hookVariables, roles: &roleHooks{}, scratch: envFiles(a.paths.Data),
		ctx: ctx, kept: map[string]hookFile{}, pinned: map[string]func() string{}, said: map[string]bool{}, begun: map[string]bool{}, resumed: map[string]bool{}, pending: map[string]string{},
	}
	h.engine = hooks.New(hooks.Options{
		Runner: h, Root: a.root, Cwd: a.cwd, Covers: a.gate.Covers, Background: h.behind, Later: h.later, OfRole: h.ofRole, Mode: func() string { return string(h.mode()) },
		Notice: func(level, text string) { a.board.Say(event.Level(level), "%s", text) },
	})
	a.happenings = h
	h.reload()
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, hooks.Calls{Engine: h.engine})
	a.commands.Sources = append(a.commands.Sources, h)
	a.onClose(func() {
		h.sessionsEnd()
		cancel()
		h.work.Wait()
	})
}

func (h *happenings) mode() tools.Mode {
	if conv := h.board.Open(); conv != nil {
		return conv.Mode()
	}
	return h.start()
}

// extension returns what it adds to jcode.
func (h *happenings) extension() core.Extension {
	return core.Extension{Refresh: h.refresh, Opened: h.opened, Own: h.own(), Agents: h.agents(), Inert: h.inert, Wake: h.wake}
}

// wake is a point of the extension.
func (h *happenings) wake(items []tools.TrustItem) error {
	if len(core.OfKind(items, tools.TrustHook)) > 0 {
		h.reload()
	}
	return nil
}

// inert lists the files whose hooks wait for trust, or have it.
func (h *happenings) inert() []tools.TrustItem {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slicex.Map(h.files, func(f hookFile) tools.TrustItem { return f.item })
}

// refresh is a point of the extension.
func (h *happenings) refresh() { h.reload() }

// opened is a point of the extension.
func (h *happenings) opened(conv *agent.Conversation, _ bool) { h.follow(conv) }

// own makes a conversation report its events to the hooks.
func (h *happenings) own() agent.Extension {
	e := h.agents()
	e.Admit, e.Compacting, e.Before = h.admit, h.compacting, h.before // events of the person's input and of what the person sees
	return e
}

// agents makes sub-agents report their events to the hooks.
func (h *happenings) agents() agent.Extension {
	return agent.Extension{
		Stopping: h.stopping,
		Loaded: func(id string, rows []session.Message) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.resumed[id] = h.resumed[id] || !h.begun[id] && len(rows) > 0
		},
		Compacted: func(ctx context.Context, id string) { h.sessionStart(ctx, id, "compact") },
	}
}

// sessionStart tells hooks that a session begins, and keeps what they have to say to the model.
func (h *happenings) sessionStart(ctx context.Context, id, source string) {
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
func (h *happenings) before(_ context.Context, id string) agent.Announcement {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := h.pending[id]
	delete(h.pending, id)
	return agent.Announcement{Text: text, Shown: "a hook told the model something"}
}

// admit runs the hooks for a prompt. An error means that the prompt is not sent.
func (h *happenings) admit(ctx context.Context, id, prompt string) (string, error) {
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

// stopping asks hooks whether the model may stop.
func (h *happenings) stopping(ctx context.Context, s agent.Stop) string {
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
func (h *happenings) compacting(ctx context.Context, id string, manual bool, keep string) error {
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

// left tells hooks, in the background, that the person has left a session for a new one ("clear")
// or for another one ("resume").
func (h *happenings) left(id, reason string) {
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

func (h *happenings) sessionEnd(ctx context.Context, id, reason string) {
	h.engine.Fire(ctx, hooks.Occasion{Event: hooks.SessionEnd, Session: id, Names: []string{reason}, Fields: map[string]any{"reason": reason}})
}

// sessionsEnd tells hooks that the sessions of this run end.
func (h *happenings) sessionsEnd() {
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
