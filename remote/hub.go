package remote

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"jcode/agent/event"
	"jcode/agent/event/wire"
	"jcode/tools"
)

// Conversation is what a session lets others do.
type Conversation interface {
	State() event.State
	Join() (*event.Subscription, event.Moment)
	Prompt(event.Prompt) string
	Unqueue(id string) []event.Prompt
	Interrupt() bool
	SetMode(tools.Mode)
	SetModel(name string) error
	Notify(level event.Level, format string, args ...any)
}

// Answers settle questions.
type Answers interface {
	Answer(id string, a tools.Answer) error
	Reply(id, text string) error
	Fill(id string, a tools.FormAnswer) error
}

// Offer is a session that others may see.
type Offer struct {
	Conversation
	// From returns who settles questions in somebody's name.
	From func(name string) Answers
	// History returns what is stored, as events: the last messages before one, by its number; 0 is all of them, and up to
	// the end. first is the number of the first of them if there are earlier ones.
	History func(ctx context.Context, before int64, last int) (events []event.Event, first int64, err error)
	// Where says where the session is shown without others.
	Where Where
	// WatchOnly is set where nobody answers questions: a headless run.
	WatchOnly bool
	// Actions are what its owner does with commands; nil offers none.
	Actions Actions
	// Lasting allows answers that outlast the session.
	Lasting bool
	// Hidden sessions are not listed, and can't be attached: private ones.
	Hidden func() bool
}

// role returns what a client may do that asks for a role.
func (o Offer) role(want Role) Role {
	if want == Control && !o.WatchOnly && !o.State().ReadOnly {
		return Control
	}
	return Watch
}

// hub is one session that is offered. It reads the session's events from the first attachment on.
type hub struct {
	offer Offer

	mu      sync.Mutex
	ring    *ring // nil before the first attachment
	closed  bool
	read    sync.WaitGroup
	sub     *event.Subscription
	ceiling tools.Mode // the owner's own mode
	given   tools.Mode // the mode that a client set last; "" for none
}

// begin makes sure that events are kept.
func (h *hub) begin() *ring {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ring != nil {
		return h.ring
	}
	sub, at := h.offer.Join()
	h.ring, h.sub = newRing(at.Last), sub
	if h.closed {
		sub.Close()
	}
	h.read.Go(func() {
		defer h.ring.close()
		for {
			ev, ok := sub.NextNumbered(context.Background()) // ends when the conversation or the subscription does
			if !ok {
				return
			}
			h.noteMode(ev.Event)
			var line []byte
			if l := wire.Numbered(ev); l != nil {
				line = wire.Encode(l)
			}
			h.ring.add(line)
		}
	})
	return h.ring
}

// end stops the reading of events.
func (h *hub) end() {
	h.mu.Lock()
	h.closed = true
	sub := h.sub
	h.mu.Unlock()
	if sub != nil {
		sub.Close()
	}
	h.read.Wait()
}

// over reports whether nothing more will come of the session, though its owner has not withdrawn it yet.
func (h *hub) over() bool {
	h.mu.Lock()
	ring := h.ring
	h.mu.Unlock()
	return ring != nil && ring.ended()
}

// noteMode learns the owner's mode: each one that no client set.
func (h *hub) noteMode(ev event.Event) {
	if st, ok := ev.(event.StateChanged); ok {
		h.mu.Lock()
		if st.State.Mode != h.given {
			h.ceiling, h.given = st.State.Mode, ""
		}
		h.mu.Unlock()
	}
}

// attach returns where a client begins, and with what.
func (h *hub) attach(ctx context.Context, p Attach) (*Attached, error) {
	ring := h.begin()
	st := h.offer.State()
	out := &Attached{Session: st.Session, Role: h.offer.role(p.Role), State: stateOf(st)}
	if p.After != nil {
		if _, ok, _, _ := ring.after(*p.After); ok {
			out.Resumed, out.Last = true, *p.After
			return out, nil
		}
	}
	sub, at := h.offer.Join()
	sub.Close()
	if err := ring.reach(ctx, at.Last); err != nil { // else the client would be told that what follows is gone
		return nil, err
	}
	history, first, err := h.offer.History(ctx, 0, p.Recent)
	if err != nil {
		return nil, err
	}
	out.Last, out.Before, out.History, out.Now = at.Last, first, encoded(until(history, at.Seq)), encoded(at.Now)
	return out, nil
}

// until leaves out what was stored after a message: it comes as events. Before the first message of this process, 0,
// all of it came before.
func until(history []event.Event, last int64) []event.Event {
	if last == 0 {
		return history
	}
	if i := slices.IndexFunc(history, func(ev event.Event) bool { return event.Seq(ev) > last }); i >= 0 {
		return history[:i]
	}
	return history
}

// waiting returns the questions that wait for an answer, by ID.
func (h *hub) waiting() map[string]event.Event {
	sub, at := h.offer.Join()
	sub.Close()
	out := map[string]event.Event{}
	for _, ev := range at.Now {
		switch q := ev.(type) {
		case event.ApprovalAsked:
			out[q.ID] = q
		case event.AskPerson:
			out[q.ID] = q
		case event.AskForm:
			out[q.ID] = q
		}
	}
	return out
}

// careful are the modes by how much they allow unasked.
var careful = []tools.Mode{tools.ModePlan, tools.ModeAsk, tools.ModeEdits, tools.ModeAuto, tools.ModeYolo}

// setMode sets the mode, up to the owner's.
func (h *hub) setMode(mode tools.Mode) error {
	rank := slices.Index(careful, mode)
	if rank < 0 {
		return invalid("there is no mode %q", mode)
	}
	h.begin()
	h.mu.Lock()
	now := h.offer.State().Mode
	if now != h.given {
		h.ceiling = now
	}
	ceiling := h.ceiling
	if rank <= slices.Index(careful, ceiling) {
		h.given = mode
	}
	h.mu.Unlock()
	if rank > slices.Index(careful, ceiling) {
		return refused("mode %s allows more than the owner's, %s: it is set at the terminal", mode, ceiling)
	}
	h.offer.SetMode(mode)
	return nil
}

// setAnyMode sets a mode for the owner, who is bound to none.
func (h *hub) setAnyMode(mode tools.Mode) error {
	if !slices.Contains(careful, mode) {
		return invalid("there is no mode %q", mode)
	}
	if most := h.offer.State().MaxMode; mode.Under(most) != mode {
		return refused("mode %s is not allowed on this machine: at most %s is", mode, most)
	}
	h.offer.SetMode(mode)
	return nil
}

func encoded(events []event.Event) []json.RawMessage {
	out := make([]json.RawMessage, 0, len(events))
	for _, ev := range events {
		if line := wire.Of(ev); line != nil {
			out = append(out, wire.Encode(line))
		}
	}
	return out
}

func stateOf(st event.State) *wire.State {
	line, _ := wire.Of(event.StateChanged{State: st}).(*wire.State)
	return line
}
