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

// inbox holds the prompts of a conversation until their turn, and knows how to end the turn that runs.
type inbox struct {
	queue     []queued
	held      bool // after an interrupt the queue waits for the person
	interrupt context.CancelFunc
	abort     context.CancelFunc // ends the turn even where interrupt only skips a wait
	failed    error              // ends each turn, see Fail
}

// add queues a prompt.
func (in *inbox) add(p event.Prompt) {
	in.held = false
	in.queue = append(in.queue, queued{p.Queued, p})
}

// list returns the prompts that wait.
func (in *inbox) list() []event.Queued {
	out := make([]event.Queued, len(in.queue))
	for i, q := range in.queue {
		out[i] = event.Queued{ID: q.id, Text: q.prompt.Display()}
	}
	return out
}

// remove takes a prompt out of the queue; "" takes all.
func (in *inbox) remove(id string) (out []event.Prompt) {
	in.queue = slices.DeleteFunc(in.queue, func(q queued) bool {
		if id == "" || q.id == id {
			out = append(out, q.prompt)
			return true
		}
		return false
	})
	return out
}

// next takes the next prompt, unless the queue is held.
func (in *inbox) next() (event.Prompt, bool) {
	if len(in.queue) == 0 || in.held {
		return event.Prompt{}, false
	}
	p := in.queue[0].prompt
	in.queue = in.queue[1:]
	return p, true
}

// steer takes the waiting prompts for a turn that is about to make its next step. Prompts for another model
// or role wait for a turn of their own.
func (in *inbox) steer() (out []event.Prompt) {
	for len(in.queue) > 0 && !in.held && joins(in.queue[0].prompt) {
		out = append(out, in.queue[0].prompt)
		in.queue = in.queue[1:]
	}
	return out
}

// joins reports whether a prompt may join a turn that runs under the session's settings.
func joins(p event.Prompt) bool { return p.Model == "" && p.Role == "" }

// stop ends the running turn, if any, and reports whether there was one.
func (in *inbox) stop() bool {
	if in.interrupt == nil {
		return false
	}
	in.held = true
	in.interrupt()
	return true
}

// fail ends the running turn, and every later one, with the first error.
func (in *inbox) fail(err error) {
	if in.failed == nil {
		in.failed = err
	}
	if in.abort != nil {
		in.abort()
	}
}

// Prompt queues a message and returns its ID in the queue. When nothing runs it starts a turn; during a turn
// the message joins at the next step. A read-only session refuses it with a notice and returns "".
func (c *Conversation) Prompt(p event.Prompt) string {
	p.Queued = uuid.NewString()
	c.mu.Lock()
	if c.state.ReadOnly {
		c.mu.Unlock()
		c.Notify(event.LevelError, "this session is open in another jcode and read-only here: /fork continues in a copy")
		return ""
	}
	c.inbox.add(p)
	busy := c.state.Busy
	c.mu.Unlock()
	if busy {
		c.emitQueue()
	}
	c.wake.ring()
	return p.Queued
}

// Queue lists the messages that wait.
func (c *Conversation) Queue() []event.Queued {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inbox.list()
}

// Unqueue removes a waiting message from the queue; "" removes all. It returns what was removed.
func (c *Conversation) Unqueue(id string) []event.Prompt {
	c.mu.Lock()
	out := c.inbox.remove(id)
	c.mu.Unlock()
	c.emitQueue()
	return out
}

// DropHeld takes the messages out of the queue that wait for the person to send another, after an interrupt.
func DropHeld(c *Conversation) []event.Prompt {
	c.mu.Lock()
	held := c.inbox.held && len(c.inbox.queue) > 0
	c.mu.Unlock()
	if !held {
		return nil
	}
	return c.Unqueue("")
}

// Interrupt ends the running turn, if any, and reports whether there was one. What
// finished stays; waiting messages stay in the queue until the person sends another.
func (c *Conversation) Interrupt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inbox.stop()
}

// Fail ends the running turn, and every later one, with an error: something the conversation depends on is
// gone.
func (c *Conversation) Fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inbox.fail(err)
}

func (c *Conversation) emitQueue() { c.emit(event.QueueChanged{Queued: c.Queue()}) }
