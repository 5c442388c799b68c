package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/cli/core"
	mcpcli "jcode/cli/mcp"
	pluginscli "jcode/cli/plugins"
	"jcode/lua"
	"jcode/lua/pool"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/permission"
	"jcode/tui"
)

// scriptsWait is how long a submitted prompt waits for the startup script and plugins.
// Each has a limit of its own; this bounds all of them.
const scriptsWait = 6 * time.Second

// scripting connects Lua with the rest of jcode.
type scripting struct {
	board      *board.Board
	registry   *tools.Registry
	dispatcher *tools.Dispatcher
	trust      *permission.Trust
	everywhere tools.Trust // in files of this project, and of the person
	servers    mcpcli.Servers
	bundles    *pluginscli.Bundles
	cwd        string
	config     string             // the configuration folder
	once       bool               // a single run, without a person
	mode       func() tools.Mode  // if no conversation is open
	asker      func() tools.Asker // answers instead of the person; nil leaves it to them
	started    <-chan struct{}    // the extensions have begun
	settled    <-chan struct{}    // the question about the folder no longer needs an answer

	room  *lua.Room
	begun sync.Once

	// ctx ends with the app; work is what runs until then.
	ctx  context.Context
	work sync.WaitGroup

	asking sync.Mutex  // one question about trust at a time
	no     atomic.Bool // the person said no in this run
	said   atomic.Bool // the headless notice was shown

	mu     sync.Mutex
	failed string // the last error of the trust, "" after an answer
}

// openLua creates the scripting. Nothing runs and no file is read yet.
func (a *app) openLua() error {
	ctx, cancel := context.WithCancel(context.Background())
	s := &scripting{
		board: &a.board, registry: a.registry, dispatcher: a.dispatcher, trust: a.trust, everywhere: a.everywhere(), servers: a.servers,
		cwd: a.cwd, config: a.paths.Config, once: a.flags.once(),
		mode: func() tools.Mode { return a.mode }, asker: func() tools.Asker { return a.asker },
		bundles: &a.bundles, started: a.started, settled: a.settled, ctx: ctx,
	}
	room, err := lua.New(lua.Options{
		Registry: a.registry, Dispatcher: a.dispatcher, Root: a.root, Start: a.cwd, ProjectID: a.project, Config: a.paths.Config, Plugins: a.bundles.Scripts,
		State: &luaState{stored: a.store.LuaState(), private: a.privateNow}, MCP: a.servers.Control(s.approve), Trust: a.trust, Untrusted: s.untrusted, Brought: s.brought, Notices: s, Standing: s.standing,
		SecretEnv: a.isKeyVariable, CommandTaken: a.isCommand,
		Denied: func(address string) string { return a.gate.DeniedAddress(address) },
		Eval:   isOn(a.config.Lua.Eval), NoWatch: a.flags.once(),
	})
	if err != nil {
		cancel()
		return err
	}
	s.room = room
	a.lua = s
	a.onClose(func() {
		cancel()
		room.Close()
		s.work.Wait()
	})
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, room.Hook())
	a.commands.Sources = append(a.commands.Sources, room)
	return nil
}

// extension returns what it adds to jcode.
func (s *scripting) extension() core.Extension {
	return core.Extension{Begin: s.begin, Load: s.load, Look: s.look, Refresh: s.refresh, Opened: s.opened, Own: s.own(), Inert: s.inert, Wake: s.wake, Panels: s.panels}
}

// load is a point of the extension.
func (s *scripting) load(ctx context.Context) {
	s.begin()
	s.ready(ctx)
}

// look is a point of the extension.
func (s *scripting) look() { s.room.Refresh() }

// refresh is a point of the extension.
func (s *scripting) refresh() {
	if s.room.Running() {
		s.room.Refresh()
	}
}

// opened is a point of the extension. Scripts are told about the first conversation once they have loaded.
func (s *scripting) opened(_ *agent.Conversation, again bool) {
	if again {
		s.began()
	}
}

// inert is a point of the extension.
func (s *scripting) inert() []tools.TrustItem {
	if waiting := s.room.Untrusted(); len(waiting) > 0 {
		return []tools.TrustItem{s.room.Folder(waiting)}
	}
	return nil
}

// wake is a point of the extension.
func (s *scripting) wake(items []tools.TrustItem) error {
	if len(core.OfKind(items, tools.TrustLuaTool)) == 0 {
		return nil
	}
	return s.room.Reload("")
}

// panels is a point of the extension.
func (s *scripting) panels() []command.Panel {
	return []command.Panel{luaActions{s.room, s.config, s.allow}.panel()}
}

// own is a point of the extension.
func (s *scripting) own() agent.Extension {
	return agent.Extension{
		Ready: s.ready, Before: s.before,
		TurnStarted: func(ev event.TurnStart) { s.room.Prompt(ev.Prompt) },
		TurnEnded:   func(ev event.TurnEnd) { s.room.TurnEnd(ev.Turn, string(ev.Reason)) },
	}
}

// begin is a point of the extension. Scripts begin to run once: after the first frame, or earlier if a role needs to
// know their tools.
func (s *scripting) begin() { s.begun.Do(s.run) }

func (s *scripting) run() {
	if err := s.room.Start(s.ctx); err != nil {
		s.board.Say(event.LevelWarn, "%v", err)
		return
	}
	s.work.Go(s.follow)
}

// follow tells scripts that the session began and how MCP servers change state, and tells the person which
// Lua tools change.
func (s *scripting) follow() {
	if s.room.WaitReady(s.ctx) != nil {
		return
	}
	s.began()
	changed, unwatch := s.servers.Watch()
	defer unwatch()
	var tooling <-chan struct{} // nil in a single run
	var news *luaNews
	if !s.once {
		var unwatch func()
		tooling, unwatch = s.registry.Watch()
		defer unwatch()
		news = newLuaNews(s.registry, s.board)
	}
	last := map[string]lua.MCPStatus{}
	for {
		select {
		case <-changed:
			for _, st := range s.servers.States() {
				if last[st.Name] != st {
					last[st.Name] = st
					s.room.MCPState(st)
				}
			}
		case <-tooling:
			news.look()
		case <-s.ctx.Done():
			return
		}
	}
}

// began tells scripts which session is open.
func (s *scripting) began() {
	id := s.board.Session()
	s.room.SessionStart(id, s.cwd, id != "")
}

// ready waits for the startup script and the plugins.
func (s *scripting) ready(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, scriptsWait)
	defer cancel()
	quick, stop := context.WithTimeout(ctx, 200*time.Millisecond)
	defer stop()
	if s.room.WaitReady(quick) == nil || ctx.Err() != nil {
		return
	}
	s.board.Say(event.LevelInfo, "loading scripts…")
	if s.room.WaitReady(ctx) != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		s.board.Say(event.LevelWarn, "continuing without Lua scripts that are still loading")
	}
}

// before applies what changed on disk since the last step. Trust in Lua that the agent has just written is
// asked for here, so that it can be used in the same turn.
func (s *scripting) before(ctx context.Context, _ string) agent.Announcement {
	s.room.Refresh()
	if items := s.room.Untrusted(); len(items) > 0 {
		s.ask(ctx, items)
	}
	if s.room.Running() {
		wait, cancel := context.WithTimeout(ctx, scriptsWait)
		defer cancel()
		if s.room.WaitReady(wait) != nil && ctx.Err() == nil {
			s.board.Say(event.LevelWarn, "continuing without Lua scripts that are still loading")
		}
	}
	return agent.Announcement{}
}

// Notice implements lua.Notices.
func (s *scripting) Notice(level, text string) { s.board.Say(event.Level(level), "%s", text) }

// standing returns the caller for scripts that run by themselves.
func (s *scripting) standing() tools.Caller {
	c := tools.Caller{Origin: tools.OriginScript, Mode: s.mode, Asker: s.person()}
	if conv := s.board.Open(); conv != nil {
		c.Session, c.Mode, c.Scope = conv.ID(), conv.Mode, conv.Scope()
	}
	return c
}

// person returns the asker that answers a script's questions, nil if there is no person.
func (s *scripting) person() tools.Asker {
	if asker := s.asker(); asker != nil {
		return asker
	}
	if conv := s.board.Open(); conv != nil && !s.once {
		return conv.Person()
	}
	return nil
}

// untrusted asks the person about Lua of the project, in the background.
func (s *scripting) untrusted(items []tools.TrustItem) {
	if s.person() != nil {
		s.work.Go(func() { s.ask(s.ctx, items) })
		return
	}
	select {
	case <-s.started:
	default:
		return // what is pending at the start is asked about together with the rest
	}
	if !s.said.Swap(true) {
		s.board.Say(event.LevelWarn, "%d Lua tools or plugins of this project are not trusted and stay off: --trust trusts them for one run", len(items))
	}
}

// ask asks the question of trust once in a run.
func (s *scripting) ask(ctx context.Context, items []tools.TrustItem) {
	person := s.person()
	if person == nil {
		return
	}
	if s.asker() == nil { // the question about the folder comes first, and may cover these
		select {
		case <-s.settled:
		case <-ctx.Done():
			return
		}
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	if s.no.Load() {
		return
	}
	item := s.room.Folder(items)
	_, open, err := s.trust.Question(ctx, []tools.TrustItem{item})
	s.report(err)
	if err != nil || !open {
		return
	}
	answer, err := person.Ask(ctx, tools.Question{
		CallID: uuid.NewString(), Tool: "lua", Title: "Trust the Lua of this project?",
		Details: append(item.Runs, "No part of it runs without your yes. What a tool may do is asked again, per version."),
		Options: []tools.AnswerOption{
			{Scope: tools.AnswerSession, Label: "trust it for this run"},
			{Scope: tools.AnswerProject, Label: "always trust this folder's Lua"},
			{Scope: tools.AnswerNo, Label: "no"},
		},
	})
	if err != nil {
		return
	}
	if answer.Scope == tools.AnswerNo {
		s.no.Store(true)
		return
	}
	keep := answer.Scope == tools.AnswerProject
	if err := s.trust.Accept(context.WithoutCancel(ctx), []tools.TrustItem{item}, keep); err != nil {
		s.board.Say(event.LevelWarn, "%v", err)
		return
	}
	if err := s.room.Reload(""); err != nil {
		s.board.Say(event.LevelWarn, "%v", err)
	}
}

// report tells the person why trust could not be read: once until it can be read, or the reason changes.
func (s *scripting) report(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	s.mu.Lock()
	fresh := text != s.failed
	s.failed = text
	s.mu.Unlock()
	if fresh && err != nil {
		s.board.Say(event.LevelWarn, "Lua of this project stays off: %v", err)
	}
}

// approve lets the gate judge what a script wants to start.
func (s *scripting) approve(ctx context.Context, owner string, plan tools.Plan) error {
	caller := s.standing()
	caller.Label, caller.Owner = owner, owner
	d := s.dispatcher.Judge(ctx, caller, tools.Spec{Name: "mcp_connect", Needs: tools.CapMCP, Trusted: true}, plan)
	if d.Allow {
		return nil
	}
	s.board.Say(event.LevelWarn, "%s: %s: refused: %s", owner, plan.Summary, d.Reason)
	return errors.New(d.Reason)
}

// isCommand reports whether a slash command of that name exists outside Lua.
func (a *app) isCommand(name string) bool {
	if slices.Contains(tui.OwnCommands(), name) || slices.Contains(panelNames(), name) {
		return true
	}
	for _, src := range a.commands.Sources {
		if src == command.Source(a.lua.room) {
			continue
		}
		if slices.ContainsFunc(src.List(), func(c command.Command) bool { return c.Name == name }) {
			return true
		}
	}
	return false
}

// isKeyVariable reports whether a variable contains the key of a configured provider or search service.
func (a *app) isKeyVariable(name string) bool {
	if name == searchKeyEnv(a.config.WebSearch) {
		return true
	}
	for _, p := range a.models.settings.Providers {
		if p.KeyEnv == name {
			return true
		}
	}
	return false
}

// scripts starts a host and reports what protects it.
func (d *doctor) scripts(ctx context.Context) {
	layers, err := pool.Probe(ctx)
	switch {
	case err != nil:
		d.Warn("lua", "Lua tools and plugins do not run; --no-lua switches them off", "%v", err)
	case len(layers) == 0:
		d.Warn("lua", "", "scripts run in a process of their own; this system adds no further protection to it")
	default:
		d.OK("lua", "scripts run in a process of their own with: %s", strings.Join(layers, ", "))
	}
}
