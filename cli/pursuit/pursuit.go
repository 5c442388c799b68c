package pursuit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"jcode/agent/event"
	"jcode/internal/text"
)

// MinEvery is the shortest time between two turns of a loop.
const MinEvery = time.Minute

// Conversation is what goes on. *agent.Conversation implements it.
type Conversation interface {
	ID() string
	Private() bool
	State() event.State
	Queue() []event.Queued
	Prompt(p event.Prompt) string
	Usage() event.Usage
	Notify(level event.Level, format string, args ...any)
	Observe() *event.Subscription
}

// Options are what a Pursuit needs.
type Options struct {
	// Dir is the folder in which loops and goals are kept for a resume.
	Dir string
	// Expand turns what a loop repeats into a prompt; it may be a slash command.
	Expand func(ctx context.Context, said string) (event.Prompt, error)
	// Holds judges a goal; said is why it holds or does not.
	Holds func(ctx context.Context, t Target) (holds bool, said string, err error)
	// Passing reports whether an error of a turn ends by waiting.
	Passing func(err error) bool
}

// Pursuit goes on with the conversation that is open. Its methods are safe for concurrent use.
type Pursuit struct {
	opt Options

	mu    sync.Mutex
	conv  Conversation
	state state
	wake  chan struct{}
	stop  context.CancelFunc // ends the goroutine that goes on with conv, nil while there is none
	began event.Usage        // when the last turn was counted
}

// New returns a Pursuit of nothing yet.
func New(opt Options) *Pursuit { return &Pursuit{opt: opt, wake: make(chan struct{}, 1)} }

// Open makes a conversation the current one, with what was going on in it. The goroutines for it end with it, or when
// another one is opened.
func (p *Pursuit) Open(conv Conversation) {
	s, err := state{}, error(nil)
	if !conv.Private() && !conv.State().ReadOnly {
		s, err = load(p.opt.Dir, conv.ID())
	}
	p.mu.Lock()
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
	p.conv, p.state = conv, s
	if l := s.Loop; l != nil && time.Until(l.Next) <= 0 {
		l.Next = time.Now().Add(l.Every)
	}
	if s.Loop != nil || s.Goal != nil {
		p.follow()
	}
	p.mu.Unlock()
	switch {
	case err != nil:
		conv.Notify(event.LevelWarn, "%v", err)
	case s.Goal != nil && s.Goal.Paused != "":
		conv.Notify(event.LevelInfo, "The goal of this session is paused: %s. /goal shows it, /goal continue goes on.", s.Goal.name())
	case s.Goal != nil:
		conv.Notify(event.LevelInfo, "The goal of this session is in force again: %s. It is checked after the next turn; /goal stop ends it.", s.Goal.name())
	}
	if s.Loop != nil {
		conv.Notify(event.LevelInfo, "The loop of this session goes on: next at %s. /loop stop ends it.", s.Loop.Next.Format("15:04"))
	}
}

// Close leaves the conversation: what happens to it from now on, such as the end of its turn, changes nothing that goes
// on when it is resumed.
func (p *Pursuit) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.stop()
	}
	p.conv, p.stop, p.state = nil, nil, state{}
}

// Status is the part of the status line; "" for nothing.
func (p *Pursuit) Status() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.status()
}

// errNone says that no conversation is open.
var errNone = errors.New("no session is open yet")

// Loop repeats a prompt, the first time at once.
func (p *Pursuit) Loop(every time.Duration, prompt string) (said string, err error) {
	if every < MinEvery {
		return "", fmt.Errorf("a loop waits %s at least, not %s", MinEvery, every)
	}
	err = p.change(func(s *state) { s.Loop = &loop{Every: every, Prompt: prompt, Next: time.Now()} })
	return fmt.Sprintf("This prompt is sent every %s, the first time now: %s. It ends with esc, with /loop stop and with the session.", every, text.Truncate(text.Headline(prompt), 60, "…")), err
}

// Goal sends the model on until a goal holds; the caller sends its first prompt.
func (p *Pursuit) Goal(t Target) error {
	return p.change(func(s *state) { s.Goal = &goal{Target: t} })
}

// GoOn continues a goal that is paused; the caller sends the prompt.
func (p *Pursuit) GoOn() (prompt string, err error) {
	fault := errors.New("there is no goal: /goal TEXT sets one")
	err = p.change(func(s *state) {
		g := s.Goal
		switch {
		case g == nil:
			return
		case g.Paused == "":
			fault = errors.New("the goal is not paused")
			return
		case g.over() != "":
			fault = fmt.Errorf("%s: /goal --max-turns N TEXT sets it anew", g.over())
			return
		}
		fault, prompt = nil, g.onward(g.Said)
		g.Paused, g.errors = "", 0
	})
	return prompt, cmp.Or(err, fault)
}

// StopLoop and StopGoal end what goes on, and report whether there was anything.
func (p *Pursuit) StopLoop() (was bool, err error) {
	err = p.change(func(s *state) { was, s.Loop = s.Loop != nil, nil })
	return was, err
}

// StopGoal ends the goal.
func (p *Pursuit) StopGoal() (was bool, err error) {
	err = p.change(func(s *state) { was, s.Goal = s.Goal != nil, nil })
	return was, err
}

// Pages show the loop and the goal; "" for none.
func (p *Pursuit) Pages() (ofLoop, ofGoal string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.state.Loop; l != nil {
		ofLoop = l.page()
	}
	if g := p.state.Goal; g != nil {
		ofGoal = g.page()
	}
	return ofLoop, ofGoal
}

// change changes what goes on, and keeps it.
func (p *Pursuit) change(f func(s *state)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conv == nil {
		return errNone
	}
	if p.conv.State().ReadOnly {
		return errors.New("this session is open in another jcode and read-only here")
	}
	was := p.state.Goal
	f(&p.state)
	if was != nil && was != p.state.Goal && was.judging != nil {
		was.judging()
	}
	if p.stop == nil && (p.state.Loop != nil || p.state.Goal != nil) {
		p.follow()
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return p.save()
}

// save keeps what goes on; mu is held. A conversation without a message has no session yet: its first turn saves it.
func (p *Pursuit) save() error {
	if p.conv == nil || p.conv.Private() {
		return nil
	}
	return p.state.save(p.opt.Dir, p.conv.ID())
}

// follow starts to go on with the conversation; mu is held.
func (p *Pursuit) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	p.stop, p.began = cancel, p.conv.Usage()
	conv, sub, turns := p.conv, p.conv.Observe(), make(chan event.Event)
	go func() { // it ends with the conversation
		defer cancel()
		defer sub.Close()
		for {
			ev, ok := sub.Next(ctx)
			if !ok {
				return
			}
			switch ev.(type) {
			case event.TurnStart, event.TurnEnd:
				select {
				case turns <- ev:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	go p.pursue(ctx, conv, turns)
}
