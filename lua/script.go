package lua

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

// Time limits of a long-lived script.
const (
	initLimit     = 5 * time.Second
	commandLimit  = 10 * time.Second
	eventLimit    = 100 * time.Millisecond
	eventSteps    = 5_000_000
	eventPatience = time.Second // in the mailbox
	shutdownLimit = 500 * time.Millisecond
	maxMailbox    = 64
	maxFailures   = 3
	maxRegistered = 256      // intents, handlers or commands of one script
	cpuPlugin     = 1800_000 // ms after which a plugin's host is replaced between calls
)

// bundle is the text of a long-lived script. It is read once: the same bytes are hashed, shown
// and run.
type bundle struct {
	id      string
	chunk   string // file name in errors
	path    string
	text    string
	modules map[string]string // of a folder plugin
	hash    string
}

// registered holds the registrations of a script.
type registered struct {
	intents  []*intent
	events   map[string]int // number of handlers
	commands []*luaCommand
}

// luaCommand is a slash command of a script.
type luaCommand struct{ name, description, hint string }

// script is the startup script or a plugin: its own host, one goroutine that owns it, and a mailbox.
type script struct {
	around *surroundings
	env    wire.Env
	src    bundle
	id     string
	fqn    string
	owner  string
	scope  string // of its state
	from   string // as in principal

	mail   chan *mail
	quit   chan struct{}
	ended  chan struct{}
	events chan *mail // informational: nothing waits for the result

	mu       sync.Mutex
	perms    manifest.Permissions
	live     registered // the published ones
	stage    *registered
	failures int
	disabled string // why it no longer runs

	conn *pool.Conn // owned by the goroutine
	asks func()     // called before a person is asked; set before the first mail
	// swap replaces a plugin's old version by this one, before its registrations are published. It
	// returns false when a later version has replaced this one.
	swap  func() bool
	ahead <-chan startedHost
	// unseen says that the plugin was loaded in mode yolo: no person has seen its permissions.
	unseen atomic.Bool
}

// mail is one piece of work for a script.
type mail struct {
	ctx      context.Context
	job      pool.Job
	caller   tools.Caller
	progress func(tools.Progress)
	phase    phase
	// patience limits the wait until the script starts on it; 0 = as long as ctx.
	patience time.Duration
	reply    chan mailReply
}

type mailReply struct {
	msg  *wire.Message
	fail *pool.Failure
}

func (r *Room) newScript(env wire.Env, owner, scope string, src bundle) *script {
	s := &script{
		around: r.around, env: env, src: src, id: src.id, fqn: "lua::" + src.id, owner: owner, scope: scope,
		mail: make(chan *mail), quit: make(chan struct{}), ended: make(chan struct{}), events: make(chan *mail, maxMailbox),
	}
	r.wg.Go(s.run)
	return s
}

// run owns the host until the script ends.
func (s *script) run() {
	defer close(s.ended)
	defer func() {
		if s.conn != nil {
			s.conn.Close()
		}
	}()
	for {
		select {
		case m := <-s.mail:
			msg, fail := s.serve(m)
			m.reply <- mailReply{msg, fail}
		case m := <-s.events:
			if _, fail := s.serve(m); fail != nil {
				s.around.notice("warn", fmt.Sprintf("lua %s: %s: %s", s.id, m.job.Msg.Name, fail.Text))
			}
		case <-s.quit:
			s.farewell()
			return
		}
	}
}

// farewell runs shutdown() of a plugin.
func (s *script) farewell() {
	if s.conn == nil || s.env != wire.EnvPlugin {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit+pool.CancelGrace)
	defer cancel()
	_, fail := s.conn.Do(ctx, pool.Job{Msg: wire.Message{Type: wire.TypeShutdown}, Limit: shutdownLimit, Env: s.env, Owner: s.principal(phaseRun, s.around.standing(), nil)})
	if fail != nil && fail.Broken {
		s.conn = nil
	}
}

// stop ends the script and its host.
func (s *script) stop() {
	close(s.quit)
	<-s.ended
}

// send sends work to the script and waits for the answer.
func (s *script) send(m *mail) (*wire.Message, *pool.Failure) {
	m.reply = make(chan mailReply, 1)
	var late <-chan time.Time
	if m.patience > 0 {
		timer := time.NewTimer(m.patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case s.mail <- m:
	case <-late:
		return nil, &pool.Failure{Kind: tools.KindBusy, Text: "component " + s.fqn + " is busy"}
	case <-m.ctx.Done():
		return nil, pool.Cancelled(m.ctx)
	case <-s.ended:
		return nil, &pool.Failure{Kind: tools.KindUnknown, Text: "the script " + s.id + " is gone"}
	}
	select {
	case r := <-m.reply:
		return r.msg, r.fail
	case <-s.ended:
		return nil, &pool.Failure{Kind: tools.KindKilled, Text: "the script " + s.id + " was stopped"}
	}
}

// serve does one piece of work. It starts a host if there is none.
func (s *script) serve(m *mail) (*wire.Message, *pool.Failure) {
	s.mu.Lock()
	why := s.disabled
	s.mu.Unlock()
	if why != "" {
		return nil, &pool.Failure{Kind: tools.KindLoad, Text: why}
	}
	if s.wantsPerson() {
		return nil, &pool.Failure{Kind: tools.KindDenied, Text: "needs approval: plugin " + s.id + " was loaded in yolo, where nobody saw its permissions; they are asked about before the next step"}
	}
	if s.conn != nil && s.conn.Spent.CPU > cpuPlugin {
		s.conn.Close()
		s.conn = nil
	}
	if s.conn == nil {
		if fail := s.boot(m.ctx); fail != nil {
			s.failed(fail)
			return nil, fail
		}
		if m.job.Msg.Type == wire.TypeStart {
			return &wire.Message{Type: wire.TypeResult}, nil
		}
	}
	j := m.job
	j.Env, j.Owner = s.env, s.principal(m.phase, m.caller, m.progress)
	ctx := withChain(m.ctx, s.fqn)
	msg, fail := s.conn.Do(ctx, j)
	if fail != nil && fail.Broken {
		s.conn = nil
	}
	s.failed(fail)
	if fail != nil {
		f := *fail
		f.Text = s.prefix(f)
		return nil, &f
	}
	return msg, nil
}

// prefix prepends the script's name to errors about limits and dead hosts; a script's own errors
// name their file already.
func (s *script) prefix(f pool.Failure) string {
	if f.Kind == tools.KindScript || f.Kind == tools.KindLoad || f.Kind == tools.KindCancelled {
		return f.Text
	}
	return "lua " + s.owner + ": " + f.Text
}

// failed counts failures by a limit or a dead host; three in a row disable the script.
func (s *script) failed(f *pool.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f == nil || !f.Limit {
		s.failures = 0
		return
	}
	if s.failures++; s.failures >= maxFailures {
		s.disabled = fmt.Sprintf("%s is disabled after %d failures in a row (last: %s); change its file or use /lua reload %s", s.id, maxFailures, f.Text, s.id)
	}
}

// wantsPerson reports whether a person must see the permissions before the script continues: it was loaded in
// yolo, and the current mode is stricter. A nil script never does.
func (s *script) wantsPerson() bool {
	if s == nil || !s.unseen.Load() {
		return false
	}
	mode := s.around.standing().Mode
	return mode != nil && mode() != tools.ModeYolo
}

// principal returns the identity and rights of the script for one piece of work.
func (s *script) principal(p phase, caller tools.Caller, progress func(tools.Progress)) *principal {
	s.mu.Lock()
	perms := s.perms
	s.mu.Unlock()
	return &principal{
		around: s.around, env: s.env, owner: s.owner, name: s.id, scope: s.scope, from: s.from, perms: &perms, all: s.env == wire.EnvStartup,
		declare: "the plugin's table", caller: caller, phase: p, progress: progress, script: s,
	}
}

// boot starts a host, loads the text and runs init() or startup(). Registrations are published at
// the end; those of the startup script at once.
func (s *script) boot(ctx context.Context) *pool.Failure {
	about, c, fail := s.load(ctx)
	if fail != nil {
		return fail
	}
	perms, err := s.accept(about)
	if err == nil && s.env == wire.EnvPlugin {
		err = s.around.pin(ctx, s, &perms)
	}
	if err != nil {
		c.Close()
		return &pool.Failure{Kind: tools.KindOf(err), Text: err.Error()}
	}
	s.mu.Lock()
	s.perms = perms
	if s.stage == nil {
		s.stage = &registered{}
	}
	s.mu.Unlock()
	_, fail = c.Do(withChain(ctx, s.fqn), pool.Job{Msg: wire.Message{Type: wire.TypeStart}, Limit: initLimit, Env: s.env, Owner: s.principal(phaseInit, s.around.standing(), nil)})
	if fail != nil && s.env == wire.EnvPlugin {
		s.mu.Lock()
		s.stage = nil
		s.mu.Unlock()
		if !fail.Broken {
			c.Close()
		}
		return fail
	}
	// Swap before publishing: a call of a new intent must not reach the old version.
	if s.swap != nil {
		if !s.swap() {
			c.Close()
			return pool.Cancelled(ctx)
		}
		s.swap = nil // a later restart of the host must not swap again
	}
	s.publish()
	if fail != nil && fail.Broken {
		return fail
	}
	s.conn = c
	return fail
}

// host returns a fresh host; the first time it is the one that was started ahead.
func (s *script) host(ctx context.Context) (*pool.Conn, error) {
	ahead := s.ahead
	s.ahead = nil
	if ahead != nil {
		select {
		case h := <-ahead:
			return h.conn, h.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.around.opts.start(ctx, true)
}

// load starts a host and runs the body of the file. A plugin's body has no rights; that of the
// startup script has the same rights as startup().
func (s *script) load(ctx context.Context) (*wire.Object, *pool.Conn, *pool.Failure) {
	c, err := s.host(ctx)
	if err != nil {
		return nil, nil, &pool.Failure{Kind: tools.KindKilled, Text: err.Error(), Limit: true}
	}
	init := &wire.Message{Type: wire.TypeInit, Name: s.env.String(), Value: wire.NewObject("pwd", s.around.opts.startDir(), "owner", s.id)}
	if err := c.Send(init); err != nil {
		c.Kill()
		return nil, nil, &pool.Failure{Kind: tools.KindKilled, Text: err.Error(), Limit: true}
	}
	p := phaseBody
	if s.env == wire.EnvStartup {
		p = phaseInit
		s.around.opts.Registry.UnregisterOwner(s.owner)
		s.mu.Lock()
		s.stage = &registered{}
		s.mu.Unlock()
	}
	modules := &wire.Object{}
	for _, name := range slices.Sorted(maps.Keys(s.src.modules)) {
		modules.Set(name, s.src.modules[name])
	}
	msg, fail := c.Do(withChain(ctx, s.fqn), pool.Job{
		Msg:   wire.Message{Type: wire.TypeLoad, Name: s.src.chunk, Text: s.src.text, Value: modules},
		Limit: initLimit, Env: s.env, Owner: s.principal(p, s.around.standing(), nil),
	})
	if fail != nil {
		s.publish() // keep what the startup script registered before its error
		if !fail.Broken {
			c.Close()
		}
		return nil, nil, fail
	}
	about, _ := msg.Value.(*wire.Object)
	return about, c, nil
}

// accept checks a plugin's description of itself.
func (s *script) accept(about *wire.Object) (manifest.Permissions, error) {
	if s.env != wire.EnvPlugin {
		return manifest.Permissions{}, nil
	}
	if id := about.String("id"); id != s.id {
		return manifest.Permissions{}, tools.Errorf(tools.KindLoad, "%s: id is %q, but the file is named %q: they must be equal", s.src.chunk, id, s.id)
	}
	declared, ok := about.Get("permissions").(*wire.Object)
	if !ok && about.Get("permissions") != nil {
		return manifest.Permissions{}, tools.Errorf(tools.KindLoad, "%s: permissions must be a table", s.src.chunk)
	}
	if declared == nil {
		declared = &wire.Object{}
	}
	p, err := manifest.PluginPermissions(declared)
	if err != nil {
		return p, tools.Errorf(tools.KindLoad, "%s: %v", s.src.chunk, err)
	}
	return p, nil
}
