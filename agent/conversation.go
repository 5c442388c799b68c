package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"jcode/agent/model"
	"jcode/session"
	"jcode/tools"
)

// DefaultMaxSteps is the step cap of a turn.
const DefaultMaxSteps = 200

// finalWrites bounds the writes that must happen after a turn was interrupted.
const finalWrites = 5 * time.Second

// Model is a model as a conversation uses it.
type Model struct {
	// Name is how the person names it ("openai/gpt-5.2", "replay:demo.jsonl").
	Name string
	// ID is how the endpoint names it.
	ID     string
	Client model.Client
	// Window is the context window in tokens, 0 when unknown.
	Window int
	// FindWindow asks the endpoint for the window where it is unknown, 0 when it does not
	// say either; may be nil. It is called in the background.
	FindWindow func(ctx context.Context) int
	// Sees says that the model takes images.
	Sees bool
	// Cost gives the price of a usage in US dollars; nil when unknown.
	Cost func(model.Usage) float64
	// Untitled models are never asked for titles (replay, headless runs).
	Untitled bool
	// Settings that a role or the person set; nil means the provider's default.
	Temperature     *float64
	TopP            *float64
	ReasoningEffort string
	MaxOutputTokens int
}

// Options are what a conversation is made of. All fields but those marked optional are
// required.
type Options struct {
	Store      *session.Store
	Registry   *tools.Registry
	Dispatcher *tools.Dispatcher
	Gate       tools.Gate
	// Resolve finds a model by the person's name for it.
	Resolve func(name string) (Model, error)
	// System builds the system prompt of a session for its role and scope. It is called once
	// per session, and after a compaction or a switch of roles.
	System func(sessionID string, role Role, scope *tools.Scope) string
	// Cwd is the working folder, resolved; Project its project.
	Cwd     string
	Project string

	// Model is the name of the model to begin with.
	Model string
	// Mode is the approval mode to begin with.
	Mode tools.Mode
	// MaxSteps caps a turn; 0 means DefaultMaxSteps.
	MaxSteps int
	// LoopRepeats equal calls with equal results are enough, LoopAlerts end a turn; 0 means 4
	// and 2.
	LoopRepeats, LoopAlerts int
	// MaxCost caps the conversation's cost in US dollars; 0 means no cap.
	MaxCost float64
	// CompactAt is the filled share of the window at which history is compacted; 0 means 0.85.
	CompactAt float64
	// Headless conversations have nobody to ask.
	Headless bool

	// Optional.

	// Parent is the session that this one works for, as a sub-agent.
	Parent string
	// Without are canonical names of tools that are not offered.
	Without []string
	// Label names a sub-agent in questions.
	Label string
	// Asker answers approvals instead of a person at this conversation's subscribers: a
	// sub-agent's go to its parent.
	Asker tools.Asker
	// Roles finds a role by name.
	Roles func(name string) (Role, error)
	// Leases acquires MCP servers for a scope.
	Leases Leaser
	// ChildLeases acquires them for sub-agents, whose leases replace nobody's; nil: Leases.
	ChildLeases Leaser
	// Attach gives what a prompt mentions and the model shall read with it, "" for nothing.
	Attach func(ctx context.Context, prompt string) string
	// Allow puts approved rules in force for a session until release is called.
	Allow func(sessionID string, rules []string) (release func(), err error)
	// Before runs before each step and may tell the model something ("skill x changed").
	Before []func(ctx context.Context, sessionID string) Announcement
	// Scoped is told which scope is in force, at each switch.
	Scoped func(scope *tools.Scope)
	// Ready waits until what a first prompt needs is there (startup scripts); it obeys ctx.
	Ready func(ctx context.Context)
	// TurnStarted is told when a prompt was committed.
	TurnStarted func(TurnStart)
	// Loaded is told that the history was read from the store: after a resume, and after a
	// rewind took messages out of it.
	Loaded func(ctx context.Context, sessionID string)
	// Compacted is told that a summary took the place of a part of the history.
	Compacted func(ctx context.Context, sessionID string)
	// TurnEnded is told when a turn ends.
	TurnEnded func(TurnEnd)
}

// Announcement is what the model is told between two steps. The zero value is nothing.
type Announcement struct {
	// Text goes to the model.
	Text string
	// Shown is what the person sees of it; empty means Text.
	Shown string
	// Silent announcements are for the model alone: the person was told another way.
	Silent bool
}

// Prompt is what a person sends.
type Prompt struct {
	// Text goes to the model.
	Text string
	// Shown is how it appears in the transcript; empty means Text.
	Shown string
	// Images are shown to the model.
	Images []model.Image
	// Model and Role, when set, hold for this one message.
	Model string
	Role  string
	// Allow are rules that hold while this message is worked on.
	Allow []string
}

// Conversation is one session at work. All its methods are safe for concurrent use.
type Conversation struct {
	opt    Options
	broker *broker
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	wake   chan struct{}

	mu         sync.Mutex
	jobs       []job
	queue      []queued
	held       bool // after an interrupt the queue waits for the person
	interrupt  context.CancelFunc
	state      State
	hold       *session.Hold
	row        session.Session
	saved      bool
	mode       tools.Mode
	model      Model
	scope      *tools.Scope
	role       Role
	own        Role // the session's own settings, in force without a role
	lease      func()
	rows       []session.Message // as read by load, until they are taken
	entered    *Role             // a switch that the model was not told of yet
	questions  map[string]chan tools.Answer
	asks       map[string]chan string
	todo       []tools.TodoItem
	total      model.Usage
	cost       float64
	background sync.WaitGroup  // title requests, the search for a window
	sought     map[string]bool // models whose window was looked for
	turns      int

	// Owned by the goroutine in loop.
	history  []model.Message
	seqs     []int64 // the stored message that each entry of history comes from
	ids      map[string]bool
	system   string
	prompted bool // system is built
	order    tools.Order
	offered  map[string]bool // names offered in the last request, nil before the first
	measured measure
	dropped  map[refused]bool
}

// refused is a tool, by wire name, that the provider of a model would not take.
type refused struct{ model, wire string }

type queued struct {
	id     string
	prompt Prompt
}

// job is work for the conversation's goroutine besides prompts.
type job struct {
	run  func(ctx context.Context) error
	done chan error
}

// New starts a conversation for a new session. No row is written before its first message.
func New(opt Options) (*Conversation, error) {
	c, err := newConversation(opt)
	if err != nil {
		return nil, err
	}
	c.row = session.Session{Cwd: opt.Cwd, ProjectID: opt.Project, Model: c.model.Name, Mode: string(c.mode), ParentID: opt.Parent}
	if opt.Parent != "" {
		c.row.Kind = session.KindTask
	}
	go c.loop()
	return c, nil
}

// Resume starts a conversation that goes on with a stored session. Calls that were left
// open by a crash are closed as interrupted. When another live process holds the session,
// it is read-only: it can be looked at and forked, and refuses prompts.
func Resume(ctx context.Context, opt Options, id string) (*Conversation, error) {
	row, err := opt.Store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if opt.Model == "" {
		opt.Model = row.Model
	}
	c, err := newConversation(opt)
	if err != nil {
		return nil, err
	}
	c.row, c.saved = row, true
	c.state.Session, c.state.Title = row.ID, row.Title
	var held *session.HeldError
	if c.hold, err = opt.Store.Hold(id); errors.As(err, &held) {
		c.state.ReadOnly = true
	} else if err != nil {
		return nil, err
	}
	if err := c.load(ctx); err != nil {
		return nil, errors.Join(err, c.hold.Release())
	}
	go c.loop()
	return c, nil
}

func newConversation(opt Options) (*Conversation, error) {
	if opt.MaxSteps <= 0 {
		opt.MaxSteps = DefaultMaxSteps
	}
	if opt.CompactAt <= 0 {
		opt.CompactAt = defaultCompactAt
	}
	if opt.Mode == "" {
		opt.Mode = tools.ModeAsk
	}
	m, err := opt.Resolve(opt.Model)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &Conversation{
		opt: opt, broker: newBroker(), ctx: ctx, cancel: cancel,
		done: make(chan struct{}), wake: make(chan struct{}, 1),
		mode: opt.Mode, model: m,
		questions: map[string]chan tools.Answer{}, asks: map[string]chan string{}, ids: map[string]bool{},
		dropped: map[refused]bool{}, sought: map[string]bool{},
	}
	c.state = State{Model: m.Name, Mode: opt.Mode, Cwd: opt.Cwd}
	return c, nil
}

// Close interrupts what runs, waits for it to be written down, and ends the conversation.
func (c *Conversation) Close() {
	c.cancel()
	<-c.done
	c.background.Wait()
	c.mu.Lock()
	release := c.lease
	c.lease = nil
	c.mu.Unlock()
	if release != nil {
		release()
	}
	if err := c.hold.Release(); err != nil {
		c.Notify(LevelWarn, "%v", err)
	}
	c.broker.close()
}

// Subscribe gives a reader of all events from now on.
func (c *Conversation) Subscribe() *Subscription { return c.broker.subscribe() }

// State is what the status line shows.
func (c *Conversation) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// ID is the session's ID; empty before its first message.
func (c *Conversation) ID() string { return c.State().Session }

// Prompt queues a message and returns its ID in the queue. When nothing runs it starts a
// turn; during one it joins at the next step. A read-only session refuses it with a notice
// and returns "".
func (c *Conversation) Prompt(p Prompt) string {
	id := uuid.NewString()
	c.mu.Lock()
	if c.state.ReadOnly {
		c.mu.Unlock()
		c.Notify(LevelError, "this session is open in another jcode and read-only here: /fork goes on in a copy")
		return ""
	}
	c.held = false
	c.queue = append(c.queue, queued{id, p})
	busy := c.state.Busy
	c.mu.Unlock()
	if busy {
		c.emitQueue()
	}
	c.signal()
	return id
}

// Queue lists the messages that wait.
func (c *Conversation) Queue() []Queued {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Queued, len(c.queue))
	for i, q := range c.queue {
		out[i] = Queued{ID: q.id, Text: shown(q.prompt)}
	}
	return out
}

// Unqueue takes a waiting message back; "" takes back all. It returns what was taken.
func (c *Conversation) Unqueue(id string) []Prompt {
	c.mu.Lock()
	var out []Prompt
	c.queue = slices.DeleteFunc(c.queue, func(q queued) bool {
		if id == "" || q.id == id {
			out = append(out, q.prompt)
			return true
		}
		return false
	})
	c.mu.Unlock()
	c.emitQueue()
	return out
}

// Interrupt ends the running turn, if any, and reports whether there was one. What
// finished stays; waiting messages stay in the queue until the person sends another.
func (c *Conversation) Interrupt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupt == nil {
		return false
	}
	c.held = true
	c.interrupt()
	return true
}

// Answer settles an approval question. An unknown ID is an error: it was settled before.
func (c *Conversation) Answer(id string, a tools.Answer) error {
	c.mu.Lock()
	ch := c.questions[id]
	delete(c.questions, id)
	c.mu.Unlock()
	if ch == nil {
		return errors.New("this question is closed")
	}
	ch <- a
	return nil
}

// Reply settles a question of the ask tool.
func (c *Conversation) Reply(id, text string) error {
	c.mu.Lock()
	ch := c.asks[id]
	delete(c.asks, id)
	c.mu.Unlock()
	if ch == nil {
		return errors.New("this question is closed")
	}
	ch <- text
	return nil
}

// SetMode changes the approval mode, also for calls that are still to come in this turn.
func (c *Conversation) SetMode(m tools.Mode) {
	c.mu.Lock()
	c.mode = m
	c.state.Mode = m
	saved, id := c.saved, c.row.ID
	c.mu.Unlock()
	if saved {
		mode := string(m)
		c.write("store mode", func(ctx context.Context) error {
			return c.opt.Store.Update(ctx, id, session.Change{Mode: &mode})
		})
	}
	c.emitState()
}

// Window is the context window of the current model in tokens, 0 when unknown.
func (c *Conversation) Window() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.model.Window
}

// Mode is the approval mode in force.
func (c *Conversation) Mode() tools.Mode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mode
}

// SetModel changes the model from the next request on.
func (c *Conversation) SetModel(name string) error {
	m, err := c.opt.Resolve(name)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.model = m
	c.state.Model = m.Name
	saved, id := c.saved, c.row.ID
	c.mu.Unlock()
	if saved {
		c.write("store model", func(ctx context.Context) error {
			return c.opt.Store.Update(ctx, id, session.Change{Model: &m.Name})
		})
	}
	c.emitState()
	return nil
}

// Rename sets the title that the person chose.
func (c *Conversation) Rename(title string) error {
	c.mu.Lock()
	saved, id := c.saved, c.row.ID
	c.row.Title, c.row.TitleSource = title, "user"
	c.state.Title = title
	c.mu.Unlock()
	if saved {
		if err := c.opt.Store.Rename(c.ctx, id, title); err != nil {
			return err
		}
	}
	c.emitState()
	return nil
}

// Notify shows the person a line.
func (c *Conversation) Notify(level Level, format string, args ...any) {
	c.emit(Notice{Level: level, Text: fmt.Sprintf(format, args...)})
}

// do runs f on the conversation's goroutine between turns and waits for it.
func (c *Conversation) do(ctx context.Context, f func(ctx context.Context) error) error {
	j := job{run: f, done: make(chan error, 1)}
	c.mu.Lock()
	c.jobs = append(c.jobs, j)
	c.mu.Unlock()
	c.signal()
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return context.Canceled
	}
}

func (c *Conversation) signal() {
	select {
	case c.wake <- struct{}{}:
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
func (c *Conversation) next() (*job, Prompt, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.jobs) > 0 {
		j := c.jobs[0]
		c.jobs = c.jobs[1:]
		return &j, Prompt{}, false
	}
	if len(c.queue) > 0 && !c.held {
		p := c.queue[0].prompt
		c.queue = c.queue[1:]
		return nil, p, true
	}
	return nil, Prompt{}, false
}

// steer takes the prompts that wait, for a turn that is about to make its next step.
// Those that want another model or role wait for a turn of their own.
func (c *Conversation) steer() []Prompt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held {
		return nil
	}
	var out []Prompt
	for len(c.queue) > 0 && c.queue[0].prompt.Model == "" && c.queue[0].prompt.Role == "" {
		out = append(out, c.queue[0].prompt)
		c.queue = c.queue[1:]
	}
	return out
}

func (c *Conversation) emit(ev Event) { c.broker.emit(ev) }

func (c *Conversation) emitState() { c.emit(StateChanged{State: c.State()}) }

func (c *Conversation) emitQueue() { c.emit(QueueChanged{Queued: c.Queue()}) }

// write stores something that must not be lost to a cancelled context. A failure is said.
func (c *Conversation) write(what string, f func(ctx context.Context) error) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), finalWrites)
	defer cancel()
	if err := f(ctx); err != nil {
		c.Notify(LevelError, "%s: %v", what, err)
		return false
	}
	return true
}

func shown(p Prompt) string {
	if p.Shown != "" {
		return p.Shown
	}
	return p.Text
}
