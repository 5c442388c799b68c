package luacli

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/cli/core"
	"jcode/cli/health"
	"jcode/lua"
	"jcode/lua/pool"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/permission"
)

// scriptsWait is how long a submitted prompt waits for the startup script and plugins.
// Each has a limit of its own; this bounds all of them.
const scriptsWait = 6 * time.Second

// Options are what scripts need of jcode.
type Options struct {
	// Room is what their room needs; what this package knows itself need not be in it.
	Room       lua.Options
	Board      *board.Board
	Trust      *permission.Trust
	Everywhere tools.Trust // in files of this project, and of the person
	Servers    Servers
	// Plugin returns what further rights of a plugin's programs belong to, the zero value without such a plugin.
	Plugin  func(name string) tools.TrustItem
	Once    bool               // a single run, without a person
	Mode    func() tools.Mode  // if no conversation is open
	Asker   func() tools.Asker // answers instead of the person; nil leaves it to them
	Started <-chan struct{}    // the extensions have begun
	Settled <-chan struct{}    // the question about the folder no longer needs an answer
}

// Servers are the MCP servers as scripts see them.
type Servers interface {
	States() []lua.MCPStatus
	// Watch returns a channel that receives after changes of a server, and a function that ends it.
	Watch() (changes <-chan struct{}, stop func())
	// Control returns how scripts use them; approve lets a person, or the rules, decide about what a script wants to
	// start.
	Control(approve func(ctx context.Context, owner string, plan tools.Plan) error) lua.MCPControl
}

// Scripts connects Lua with the rest of jcode.
type Scripts struct {
	board      *board.Board
	registry   *tools.Registry
	dispatcher *tools.Dispatcher
	trust      *permission.Trust
	everywhere tools.Trust
	servers    Servers
	plugin     func(name string) tools.TrustItem
	cwd        string
	config     string // the configuration folder
	once       bool
	mode       func() tools.Mode
	asker      func() tools.Asker
	started    <-chan struct{}
	settled    <-chan struct{}

	room  *lua.Room
	begun sync.Once

	// ctx ends with the app; work is what runs until then.
	ctx  context.Context
	end  context.CancelFunc
	work sync.WaitGroup

	asking sync.Mutex  // one question about trust at a time
	no     atomic.Bool // the person said no in this run
	said   atomic.Bool // the headless notice was shown

	mu     sync.Mutex
	failed string // the last error of the trust, "" after an answer
}

// New connects Lua. Nothing runs and no file is read yet. The caller closes it.
func New(o Options) (*Scripts, error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Scripts{
		board: o.Board, registry: o.Room.Registry, dispatcher: o.Room.Dispatcher, trust: o.Trust, everywhere: o.Everywhere, servers: o.Servers,
		cwd: o.Room.Start, config: o.Room.Config, once: o.Once, mode: o.Mode, asker: o.Asker,
		plugin: o.Plugin, started: o.Started, settled: o.Settled, ctx: ctx, end: cancel,
	}
	room := o.Room
	room.MCP, room.Trust, room.Untrusted, room.Brought = o.Servers.Control(s.approve), o.Trust, s.untrusted, s.brought
	room.Notices, room.Standing, room.NoWatch = s, s.standing, o.Once
	var err error
	if s.room, err = lua.New(room); err != nil {
		cancel()
		return nil, err
	}
	return s, nil
}

// Close ends what scripts do.
func (s *Scripts) Close() {
	s.end()
	s.room.Close()
	s.work.Wait()
}

// Room returns the room in which scripts live.
func (s *Scripts) Room() *lua.Room { return s.room }

// Extension returns what it adds to jcode.
func (s *Scripts) Extension() core.Extension {
	return core.Extension{Begin: s.begin, Load: s.load, Look: s.look, Refresh: s.refresh, Opened: s.opened, Own: s.own(), Inert: s.inert, Wake: s.wake, Panels: s.panels}
}

// load is a point of the extension.
func (s *Scripts) load(ctx context.Context) {
	s.begin()
	s.ready(ctx)
}

// look is a point of the extension.
func (s *Scripts) look() { s.room.Refresh() }

// refresh is a point of the extension.
func (s *Scripts) refresh() {
	if s.room.Running() {
		s.room.Refresh()
	}
}

// opened is a point of the extension. Scripts are told about the first conversation once they have loaded.
func (s *Scripts) opened(_ *agent.Conversation, again bool) {
	if again {
		s.began()
	}
}

// inert is a point of the extension.
func (s *Scripts) inert() []tools.TrustItem {
	if waiting := s.room.Untrusted(); len(waiting) > 0 {
		return []tools.TrustItem{s.room.Folder(waiting)}
	}
	return nil
}

// wake is a point of the extension.
func (s *Scripts) wake(items []tools.TrustItem) error {
	if len(core.OfKind(items, tools.TrustLuaTool)) == 0 {
		return nil
	}
	return s.room.Reload("")
}

// panels is a point of the extension.
func (s *Scripts) panels() []command.Panel {
	return []command.Panel{actions{s.room, s.config, s.allow}.panel()}
}

// own is a point of the extension.
func (s *Scripts) own() agent.Extension {
	return agent.Extension{
		Ready: s.ready, Before: s.before,
		TurnStarted: func(ev event.TurnStart) { s.room.Prompt(ev.Prompt) },
		TurnEnded:   func(ev event.TurnEnd) { s.room.TurnEnd(ev.Turn, string(ev.Reason)) },
	}
}

// begin is a point of the extension. Scripts begin to run once: after the first frame, or earlier if a role needs to
// know their tools.
func (s *Scripts) begin() { s.begun.Do(s.run) }

func (s *Scripts) run() {
	if err := s.room.Start(s.ctx); err != nil {
		s.board.Say(event.LevelWarn, "%v", err)
		return
	}
	s.work.Go(s.follow)
}

// follow tells scripts that the session began and how MCP servers change state, and tells the person which
// Lua tools change.
func (s *Scripts) follow() {
	if s.room.WaitReady(s.ctx) != nil {
		return
	}
	s.began()
	changed, unwatch := s.servers.Watch()
	defer unwatch()
	var tooling <-chan struct{} // nil in a single run
	var news *toolNews
	if !s.once {
		var unwatch func()
		tooling, unwatch = s.registry.Watch()
		defer unwatch()
		news = newToolNews(s.registry, s.board)
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
func (s *Scripts) began() {
	id := s.board.Session()
	s.room.SessionStart(id, s.cwd, id != "")
}

// ready waits for the startup script and the plugins.
func (s *Scripts) ready(ctx context.Context) {
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
func (s *Scripts) before(ctx context.Context, _ string) agent.Announcement {
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
func (s *Scripts) Notice(level, text string) { s.board.Say(event.Level(level), "%s", text) }

// standing returns the caller for scripts that run by themselves.
func (s *Scripts) standing() tools.Caller {
	c := tools.Caller{Origin: tools.OriginScript, Mode: s.mode, Asker: s.person()}
	if conv := s.board.Open(); conv != nil {
		c.Session, c.Mode, c.Scope = conv.ID(), conv.Mode, conv.Scope()
	}
	return c
}

// person returns the asker that answers a script's questions, nil if there is no person.
func (s *Scripts) person() tools.Asker {
	if asker := s.asker(); asker != nil {
		return asker
	}
	if conv := s.board.Open(); conv != nil && !s.once {
		return conv.Person()
	}
	return nil
}

// untrusted asks the person about Lua of the project, in the background.
func (s *Scripts) untrusted(items []tools.TrustItem) {
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
func (s *Scripts) ask(ctx context.Context, items []tools.TrustItem) {
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
func (s *Scripts) report(err error) {
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
func (s *Scripts) approve(ctx context.Context, owner string, plan tools.Plan) error {
	caller := s.standing()
	caller.Label, caller.Owner = owner, owner
	d := s.dispatcher.Judge(ctx, caller, tools.Spec{Name: "mcp_connect", Needs: tools.CapMCP, Trusted: true}, plan)
	if d.Allow {
		return nil
	}
	s.board.Say(event.LevelWarn, "%s: %s: refused: %s", owner, plan.Summary, d.Reason)
	return errors.New(d.Reason)
}

// Check starts a host and reports what protects it.
func Check(ctx context.Context, d *health.Report) {
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
