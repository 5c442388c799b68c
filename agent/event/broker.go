package event

import (
	"context"
	"sync"
	"time"
)

// Deltas that follow one another within a lull are collected and sent as one event, at most for a frame. What is followed
// by nothing, such as the last words of an answer, does not wait for the end of a frame.
const (
	frame = 33 * time.Millisecond
	lull  = 10 * time.Millisecond
)

// maxEarly bounds the notices that are kept until the first subscription.
const maxEarly = 100

// Numbered is an event with its number in the conversation. Deltas that were merged for a slow reader have the range
// of numbers from First to Last.
type Numbered struct {
	First, Last uint64
	Event       Event
}

// Subscription is one reader of a conversation's events.
type Subscription struct {
	mu     sync.Mutex
	queue  []Numbered
	wake   chan struct{}
	closed bool
	drop   func()

	observer bool
}

// Next waits for the next event. It returns false when ctx ends, or when the conversation or the subscription
// is closed and all events have been read.
func (s *Subscription) Next(ctx context.Context) (Event, bool) {
	ev, ok := s.NextNumbered(ctx)
	return ev.Event, ok
}

// NextNumbered is Next for a reader that must know whether it has read all events.
func (s *Subscription) NextNumbered(ctx context.Context) (Numbered, bool) {
	for {
		s.mu.Lock()
		if len(s.queue) > 0 {
			ev := s.queue[0]
			s.queue[0] = Numbered{}
			s.queue = s.queue[1:]
			s.mu.Unlock()
			return ev, true
		}
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return Numbered{}, false
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return Numbered{}, false
		}
	}
}

// Drain returns all pending events without waiting.
func (s *Subscription) Drain() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Event, 0, len(s.queue))
	for _, ev := range s.queue {
		out = append(out, ev.Event)
	}
	s.queue = nil
	return out
}

// Close ends the subscription.
func (s *Subscription) Close() {
	if s.drop != nil {
		s.drop()
	}
	s.close()
}

func (s *Subscription) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.signal()
}

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// push appends an event. A delta that follows one of the same type is merged into it, so a slow reader holds
// one delta, not thousands.
func (s *Subscription) push(ev Numbered) {
	s.mu.Lock()
	if n := len(s.queue); n > 0 {
		if merged, ok := merge(s.queue[n-1].Event, ev.Event); ok {
			s.queue[n-1].Event, s.queue[n-1].Last = merged, ev.Last
			s.mu.Unlock()
			return
		}
	}
	s.queue = append(s.queue, ev)
	s.mu.Unlock()
	s.signal()
}

// merge joins two deltas of the same type.
func merge(a, b Event) (Event, bool) {
	switch b := b.(type) {
	case TextDelta:
		if a, ok := a.(TextDelta); ok {
			return TextDelta{a.Text + b.Text}, true
		}
	case ReasoningDelta:
		if a, ok := a.(ReasoningDelta); ok {
			return ReasoningDelta{a.Text + b.Text}, true
		}
	case CallWriting:
		if a, ok := a.(CallWriting); ok && a.Index == b.Index {
			return b, true
		}
	case AgentChanged:
		if a, ok := a.(AgentChanged); ok && a.Agent.Name == b.Agent.Name {
			return b, true
		}
	case CallProgress:
		if a, ok := a.(CallProgress); ok && a.ID == b.ID && len(a.Output)+len(b.Output) < 64<<10 {
			if b.Text == "" {
				b.Text = a.Text
			}
			b.Output = a.Output + b.Output
			return b, true
		}
	}
	return nil, false
}

// Broker hands events to subscribers. Deltas that come fast go out at most once a frame.
type Broker struct {
	mu    sync.Mutex
	subs  map[*Subscription]struct{}
	early []Numbered // notices from before the first subscription, which gets them; observers don't
	n     uint64     // the number of the last event
	seq   int64      // the sequence number of the last message that an event was of
	now   present
	held  Event // the delta that is being collected
	last  time.Time
	timer *time.Timer
	done  bool
}

// NewBroker returns a broker without subscribers.
func NewBroker() *Broker { return &Broker{subs: map[*Subscription]struct{}{}} }

// Subscribe adds a reader. A mere observer neither takes the early notices nor counts as somebody
// who could answer.
func (b *Broker) Subscribe(observer bool) *Subscription {
	s := b.subscription(observer)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(s)
	if observer || b.done {
		return s
	}
	for _, ev := range b.early {
		s.push(ev)
	}
	b.early = nil
	return s
}

// add makes s a reader, or closes it if the conversation has ended. The caller holds the lock.
func (b *Broker) add(s *Subscription) {
	if b.done {
		s.closed = true
		return
	}
	b.subs[s] = struct{}{}
}

// Moment is where a conversation is between two events.
type Moment struct {
	// Last is the number of the last event.
	Last uint64
	// Seq is the sequence number of the last message that an event was of, 0 before the first. What is stored after it
	// is yet to come as events.
	Seq int64
	// Now are the events that bring somebody who knows what is stored to where the conversation is.
	Now []Event
}

// Join adds an observer in the middle: its first event is the one after the moment that comes with it.
func (b *Broker) Join() (*Subscription, Moment) {
	s := b.subscription(true)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(s)
	return s, Moment{Last: b.n, Seq: b.seq, Now: b.now.events()}
}

func (b *Broker) subscription(observer bool) *Subscription {
	s := &Subscription{wake: make(chan struct{}, 1), observer: observer}
	s.drop = func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.subs, s)
	}
	return s
}

// Watched reports whether anyone reads the events and could answer a question.
func (b *Broker) Watched() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.answerable()
}

// answerable is Watched for a caller that holds the lock.
func (b *Broker) answerable() bool {
	for s := range b.subs {
		if !s.observer {
			return true
		}
	}
	return false
}

// Emit delivers an event after every delta that came before it.
func (b *Broker) Emit(ev Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !isDelta(ev) {
		b.flush()
		b.send(ev)
		return
	}
	if b.held != nil {
		if merged, ok := merge(b.held, ev); ok {
			b.held = merged
			b.timer.Reset(min(frame-time.Since(b.last), lull))
			return
		}
		b.flush()
	}
	if wait := frame - time.Since(b.last); wait > 0 {
		b.held = ev
		wait = min(wait, lull)
		if b.timer == nil {
			b.timer = time.AfterFunc(wait, b.tick)
		} else {
			b.timer.Reset(wait)
		}
		return
	}
	b.last = time.Now()
	b.send(ev)
}

func (b *Broker) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
}

// flush sends the collected delta. The caller holds the lock.
func (b *Broker) flush() {
	if b.held == nil {
		return
	}
	ev := b.held
	b.held = nil
	b.last = time.Now()
	b.send(ev)
}

func (b *Broker) send(ev Event) {
	b.n++
	numbered := Numbered{b.n, b.n, ev}
	if _, ok := ev.(Notice); ok && len(b.early) < maxEarly && !b.answerable() {
		b.early = append(b.early, numbered)
	}
	if seq := Seq(ev); seq > 0 {
		b.seq = seq
	}
	b.now.apply(ev)
	for s := range b.subs {
		s.push(numbered)
	}
}

// Close ends all subscriptions once what they hold is read.
func (b *Broker) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
	b.done = true
	if b.timer != nil {
		b.timer.Stop()
	}
	for s := range b.subs {
		s.close()
	}
	b.subs = nil
}

// Seq returns the sequence number of the message that an event begins, 0 for none.
func Seq(ev Event) int64 {
	switch ev := ev.(type) {
	case TurnStart:
		return ev.Seq
	case AssistantMessage:
		return ev.Seq
	}
	return 0
}

func isDelta(ev Event) bool {
	switch ev.(type) {
	case TextDelta, ReasoningDelta, CallWriting, CallProgress, AgentChanged:
		return true
	}
	return false
}
