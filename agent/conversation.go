package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"jcode/internal/toolcard"

	"jcode/agent/crew"
	"jcode/agent/event"
	"jcode/agent/history"
	"jcode/agent/model"
	"jcode/session"
	"jcode/tools"
)

// DefaultMaxSteps is the step cap of a turn.
const DefaultMaxSteps = 200

// finalWrites bounds the writes that must happen after a turn was interrupted.
const finalWrites = 5 * time.Second

// Conversation is one active session. All its methods are safe for concurrent use. What it knows is in values that
// know no conversation (inbox, settings, record); it locks, stores and tells.
type Conversation struct {
	opt     Options
	broker  *event.Broker
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}
	closing sync.Once
	wake    bell

	mu         sync.Mutex
	inbox      inbox
	settings   settings
	record     record
	lease      func() // of the MCP servers of the role
	jobs       []job
	state      event.State
	todo       []tools.TodoItem
	background sync.WaitGroup // title requests, the search for a window
	roles      roleFinder
	spent      *spending
	counted    struct { // what the last step said, guarded by mu
		context int
		priced  bool
	}
	parent   *Conversation // the conversation that this one works for; nil for a person's own
	agents   *crew.Crew
	unpriced bool // the person was told that a cost cap cannot apply

	person *Person

	out outgoing // owned by the goroutine in loop
}

// outgoing is what the requests of a conversation are made of.
type outgoing struct {
	history  history.Transcript
	measured history.Measure
	// compacted is the expected size after the last compaction, 0 before the first.
	compacted int
	system    string
	prompted  bool          // system is built
	rebuilt   bool          // the beginning of requests has changed since the last one
	asked     model.Request // the last one, without its messages
	order     tools.Order
	listing   listing
	offered   map[string]bool // names offered in the last request, nil before the first
	dropped   map[refused]bool
}

// refused is a tool, by wire name, that a model's provider rejected.
type refused struct{ model, wire string }

// job is work for the conversation's goroutine besides prompts.
type job struct {
	run  func(ctx context.Context) error
	done chan error
}

// New starts a conversation for a new session. No row is written before its first message.
func New(opt Options) (*Conversation, error) { return begin(opt, nil) }

// begin starts a conversation, for a sub-agent with the one that it works for.
func begin(opt Options, parent *Conversation) (*Conversation, error) {
	c, err := newConversation(opt, parent)
	if err != nil {
		return nil, err
	}
	c.state.Private = opt.Private
	c.record.row = session.Session{Cwd: opt.Cwd, ProjectID: opt.Project, Model: c.settings.model.Name, Mode: string(c.settings.mode), ParentID: opt.Parent, Kind: opt.Kind}
	if opt.Parent != "" {
		c.record.row.Kind = session.KindTask
	}
	go c.loop()
	return c, nil
}

// Resume starts a conversation that continues a stored session. Calls that a crash left open are closed as
// interrupted. When another live process holds the session, the conversation is read-only: it can be viewed
// and forked, and refuses prompts.
func Resume(ctx context.Context, opt Options, id string) (*Conversation, error) {
	return resume(ctx, opt, id, nil)
}

func resume(ctx context.Context, opt Options, id string, parent *Conversation) (*Conversation, error) {
	row, err := opt.Store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if opt.Model == "" {
		opt.Model = row.Model
	}
	c, err := newConversation(opt, parent)
	if err != nil {
		return nil, err
	}
	c.record.row, c.record.saved, c.settings.values = row, true, row.RoleValues
	c.state.Session, c.state.Title, c.state.Private = row.ID, row.Title, row.Private
	var held *session.HeldError
	if c.record.hold, err = opt.Store.Hold(id); errors.As(err, &held) {
		c.state.ReadOnly = true
	} else if err != nil {
		c.cancel()
		return nil, err
	}
	if err := c.load(ctx); err != nil {
		c.cancel()
		return nil, errors.Join(err, c.record.hold.Release())
	}
	if err := c.agents.Restore(ctx); err != nil {
		c.Notify(event.LevelWarn, "%v", err)
	}
	go c.loop()
	return c, nil
}

func newConversation(opt Options, parent *Conversation) (*Conversation, error) {
	if opt.MaxSteps <= 0 {
		opt.MaxSteps = DefaultMaxSteps
	}
	if opt.CompactAt <= 0 {
		opt.CompactAt = defaultCompactAt
	}
	if opt.Mode == "" {
		opt.Mode = tools.ModeAsk
	}
	opt.Mode = opt.Mode.Under(opt.MaxMode)
	m, err := opt.Resolve(opt.Model)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &Conversation{
		opt: opt, parent: parent, broker: event.NewBroker(), ctx: ctx, cancel: cancel,
		done: make(chan struct{}), wake: make(bell, 1), out: outgoing{dropped: map[refused]bool{}},
	}
	life, leave := context.WithCancelCause(ctx)
	c.person = &Person{asker: opt.Asker, label: opt.Label, headless: opt.Headless, of: c, emit: c.broker.Emit, life: life, leave: leave}
	c.roles = roleFinder{find: opt.Roles, headless: opt.Headless, watched: c.broker.Watched, person: c.person}
	c.spent = &spending{most: opt.MaxCost}
	if parent != nil {
		c.spent.within = parent.spent
	}
	c.settings = settings{mode: opt.Mode, most: opt.MaxMode, model: m}
	c.agents = newCrew(c)
	c.state = event.State{Model: m.Name, Cwd: opt.Cwd}
	return c, nil
}

// Close interrupts the running turn, waits until it is stored, and ends the conversation. It may be called
// more than once, and returns once the conversation has ended.
func (c *Conversation) Close() { c.closing.Do(c.close) }

func (c *Conversation) close() {
	c.cancel()
	<-c.done
	c.agents.Close()
	c.background.Wait()
	c.mu.Lock()
	release := c.lease
	c.lease = nil
	c.mu.Unlock()
	if release != nil {
		release()
	}
	if err := c.record.hold.Release(); err != nil {
		c.Notify(event.LevelWarn, "%v", err)
	}
	c.broker.Close()
}

// Subscribe returns a reader of all events from now on.
func (c *Conversation) Subscribe() *event.Subscription { return c.broker.Subscribe(false) }

// Observe returns a reader of all events from now on for a log or a hook. The notices from
// before the first subscription are left for one that shows them.
func (c *Conversation) Observe() *event.Subscription { return c.broker.Subscribe(true) }

// Join adds an observer in the middle, see event.Broker.
func (c *Conversation) Join() (*event.Subscription, event.Moment) {
	return c.broker.Join()
}

// State is what the status line shows.
func (c *Conversation) State() event.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.state
	st.MaxMode = c.settings.most
	st.Mode, st.Role = c.settings.allowed(), c.settings.role.Name
	st.Effort = c.settings.model.ReasoningEffort
	st.Planning = st.Mode == tools.ModePlan && changesFiles(c.opt.Registry.Snapshot(c.settings.scope))
	return st
}

// changesFiles reports whether a tool that changes files can be called.
func changesFiles(snap tools.Snapshot) bool {
	return slices.ContainsFunc(toolcard.OfKind(toolcard.Edit), func(name string) bool {
		_, ok, why := snap.Lookup(name)
		return ok && why == ""
	})
}

// ID is the session's ID; empty before its first message.
func (c *Conversation) ID() string { return c.State().Session }

// Notify shows the person a one-line notice.
func (c *Conversation) Notify(level event.Level, format string, args ...any) {
	c.emit(event.Notice{Level: level, Text: fmt.Sprintf(format, args...)})
}

// do runs f on the conversation's goroutine between turns and waits for it.
func (c *Conversation) do(ctx context.Context, f func(ctx context.Context) error) error {
	j := job{run: f, done: make(chan error, 1)}
	c.mu.Lock()
	c.jobs = append(c.jobs, j)
	c.mu.Unlock()
	c.wake.ring()
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		c.mu.Lock()
		i := slices.IndexFunc(c.jobs, func(o job) bool { return o.done == j.done })
		if i >= 0 {
			c.jobs = slices.Delete(c.jobs, i, i+1) // it must not happen unexpectedly later
		}
		c.mu.Unlock()
		if i < 0 { // it runs now, and its outcome counts
			return <-j.done
		}
		return ctx.Err()
	case <-c.done:
		return context.Canceled
	}
}

// bell wakes a goroutine; one ring is kept while it is busy.
type bell chan struct{}

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// loop is the conversation's goroutine: it alone touches the history.
func (c *Conversation) loop() {
	defer close(c.done)
	for {
		j, p, ok := c.next()
		switch {
		case j != nil:
			j.done <- j.run(c.ctx)
		case ok:
			c.runTurn(p)
		default:
			select {
			case <-c.wake:
			case <-c.ctx.Done():
				return
			}
		}
		if c.ctx.Err() != nil {
			return
		}
	}
}

// next takes the next job or, unless the queue is held, the next prompt.
func (c *Conversation) next() (*job, event.Prompt, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.jobs) > 0 {
		j := c.jobs[0]
		c.jobs = c.jobs[1:]
		return &j, event.Prompt{}, false
	}
	p, ok := c.inbox.next()
	return nil, p, ok
}

func (c *Conversation) emit(ev event.Event) { c.broker.Emit(ev) }

func (c *Conversation) emitState() { c.emit(event.StateChanged{State: c.State()}) }

// write stores something that must not be lost when a context is cancelled. It reports a failure to the
// subscribers.
func (c *Conversation) write(what string, f func(ctx context.Context) error) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), finalWrites)
	defer cancel()
	if err := f(ctx); err != nil {
		c.Notify(event.LevelError, "%s: %v", what, err)
		return false
	}
	return true
}
