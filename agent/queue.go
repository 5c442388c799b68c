package agent

import (
	"context"
	"slices"

	"jcode/agent/event"

	"github.com/google/uuid"
)

type queued struct {
	id     string
	prompt event.Prompt
}

// inbox is the part of a conversation that accepts prompts and holds them until their turn.
type inbox struct {
	c         *Conversation
	queue     []queued
	held      bool // after an interrupt the queue waits for the person
	interrupt context.CancelFunc
	abort     context.CancelFunc // ends the turn even where interrupt only skips a wait
	failed    error              // ends each turn, see Fail
}

// Prompt queues a message and returns its ID in the queue. When nothing runs it starts a turn; during a turn
// the message joins at the next step. A read-only session refuses it with a notice and returns "".
func (in *inbox) Prompt(p event.Prompt) string {
	id := uuid.NewString()
	p.Queued = id
	in.c.mu.Lock()
	if in.c.state.ReadOnly {
		in.c.mu.Unlock()
		in.c.Notify(event.LevelError, "this session is open in another jcode and read-only here: /fork continues in a copy")
		return ""
	}
	in.held = false
	in.queue = append(in.queue, queued{id, p})
	busy := in.c.state.Busy
	in.c.mu.Unlock()
	if busy {
		in.emitQueue()
	}
	in.c.signal()
	return id
}

// Queue lists the messages that wait.
func (in *inbox) Queue() []event.Queued {
	in.c.mu.Lock()
	defer in.c.mu.Unlock()
	out := make([]event.Queued, len(in.queue))
	for i, q := range in.queue {
		out[i] = event.Queued{ID: q.id, Text: shown(q.prompt)}
	}
	return out
}

// Unqueue removes a waiting message from the queue; "" removes all. It returns what was removed.
func (in *inbox) Unqueue(id string) []event.Prompt {
	in.c.mu.Lock()
	var out []event.Prompt
	in.queue = slices.DeleteFunc(in.queue, func(q queued) bool {
		if id == "" || q.id == id {
			out = append(out, q.prompt)
			return true
		}
		return false
	})
	in.c.mu.Unlock()
	in.emitQueue()
	return out
}

// Interrupt ends the running turn, if any, and reports whether there was one. What
// finished stays; waiting messages stay in the queue until the person sends another.
func (in *inbox) Interrupt() bool {
	in.c.mu.Lock()
	defer in.c.mu.Unlock()
	if in.interrupt == nil {
		return false
	}
	in.held = true
	in.interrupt()
	return true
}

// Fail ends the running turn, and every later one, with an error: something the conversation depends on is
// gone.
func (in *inbox) Fail(err error) {
	in.c.mu.Lock()
	defer in.c.mu.Unlock()
	if in.failed == nil {
		in.failed = err
	}
	if in.abort != nil {
		in.abort()
	}
}

// steer takes the waiting prompts for a turn that is about to make its next step. Prompts for another model
// or role wait for a turn of their own.
func (in *inbox) steer() []event.Prompt {
	in.c.mu.Lock()
	defer in.c.mu.Unlock()
	if in.held {
		return nil
	}
	var out []event.Prompt
	for len(in.queue) > 0 && joins(in.queue[0].prompt) {
		out = append(out, in.queue[0].prompt)
		in.queue = in.queue[1:]
	}
	return out
}

// joins reports whether a prompt may join a turn that runs under the session's settings.
func joins(p event.Prompt) bool { return p.Model == "" && p.Role == "" }

func (in *inbox) emitQueue() { in.c.emit(event.QueueChanged{Queued: in.Queue()}) }
