package agent

import (
	"slices"

	"github.com/google/uuid"
)

type queued struct {
	id     string
	prompt Prompt
}

// Prompt queues a message and returns its ID in the queue. When nothing runs it starts a
// turn; during one it joins at the next step. A read-only session refuses it with a notice
// and returns "".
func (c *Conversation) Prompt(p Prompt) string {
	id := uuid.NewString()
	p.queued = id
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

// requeue puts a message back whose turn was interrupted before it began.
func (c *Conversation) requeue(p Prompt) {
	c.mu.Lock()
	c.held = true
	c.queue = slices.Insert(c.queue, 0, queued{uuid.NewString(), p})
	c.mu.Unlock()
	c.emitQueue()
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

// steer takes the prompts that wait, for a turn that is about to make its next step.
// Those that want another model or role wait for a turn of their own.
func (c *Conversation) steer() []Prompt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held {
		return nil
	}
	var out []Prompt
	for len(c.queue) > 0 && c.queue[0].prompt.joins() {
		out = append(out, c.queue[0].prompt)
		c.queue = c.queue[1:]
	}
	return out
}

// joining says whether steer has a prompt to give.
func (c *Conversation) joining() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.held && len(c.queue) > 0 && c.queue[0].prompt.joins()
}

// joins says whether a prompt may join a turn that runs under the session's settings.
func (p Prompt) joins() bool { return p.Model == "" && p.Role == "" }

func (c *Conversation) emitQueue() { c.emit(QueueChanged{Queued: c.Queue()}) }
