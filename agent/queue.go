package agent

import (
	"context"
	"slices"

	"github.com/google/uuid"
)

type queued struct {
	id     string
	prompt Prompt
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
func (in *inbox) Prompt(p Prompt) string {
	id := uuid.NewString()
	p.queued = id
	in.c.mu.Lock()
	if in.c.state.ReadOnly {
		in.c.mu.Unlock()
		in.c.Notify(LevelError, "this session is open in another jcode and read-only here: /fork continues in a copy")
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
func (in *inbox) Queue() []Queued {
	in.c.mu.Lock()
	defer in.c.mu.Unlock()
	out := make([]Queued, len(in.queue))
	for i, q := range in.queue {
		out[i] = Queued{ID: q.id, Text: shown(q.prompt)}
	}
	return out
}

// Unqueue removes a waiting message from the queue; "" removes all. It returns what was removed.
func (in *inbox) Unqueue(id string) []Prompt {
	in.c.mu.Lock()
	var out []Prompt
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
func (in *inbox) steer() []Prompt {
	in.c.mu.Lock()
	defer in.c.mu.Unlock()
	if in.held {
		return nil
	}
	var out []Prompt
	for len(in.queue) > 0 && in.queue[0].prompt.joins() {
		out = append(out, in.queue[0].prompt)
		in.queue = in.queue[1:]
	}
	return out
}

// joins reports whether a prompt may join a turn that runs under the session's settings.
func (p Prompt) joins() bool { return p.Model == "" && p.Role == "" }

func (in *inbox) emitQueue() { in.c.emit(QueueChanged{Queued: in.Queue()}) }
