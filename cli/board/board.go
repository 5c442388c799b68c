package board

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/tools"
	"jcode/tools/builtin"
)

// Board carries messages from all parts of jcode to the open conversation: lines for the person at once,
// lines for the model at its next step.
type Board struct {
	mu    sync.Mutex
	conv  *agent.Conversation
	early []Notice // said before a conversation was open
	model []string
	// Other receives messages while no conversation is open; nil keeps them for the next conversation.
	Other func(Notice)
	// Opened is called with each conversation that is attached, and whether it replaces another; may be nil.
	Opened func(conv *agent.Conversation, again bool)
}

// Notice is a line for the person.
type Notice struct {
	Level event.Level
	Text  string
}

// Attach makes a conversation the current one.
func (b *Board) Attach(conv *agent.Conversation) {
	b.mu.Lock()
	again := b.conv != nil
	b.conv = conv
	early := b.early
	b.early = nil
	b.mu.Unlock()
	if b.Opened != nil {
		b.Opened(conv, again)
	}
	for _, n := range early {
		conv.Notify(n.Level, "%s", n.Text)
	}
}

// Open returns the current conversation, nil before the first.
func (b *Board) Open() *agent.Conversation {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.conv
}

// Session returns the open conversation's session ID, "" before its first message.
func (b *Board) Session() string {
	if conv := b.Open(); conv != nil {
		return conv.ID()
	}
	return ""
}

// Window returns the context window of the open conversation's model, 0 when unknown.
func (b *Board) Window() int {
	if conv := b.Open(); conv != nil {
		return conv.Window()
	}
	return 0
}

// Sees reports whether the open conversation's model accepts images.
func (b *Board) Sees() bool {
	conv := b.Open()
	return conv == nil || conv.Sees()
}

// Say shows the person a line.
func (b *Board) Say(level event.Level, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	b.mu.Lock()
	conv, other := b.conv, b.Other
	if conv == nil && other == nil {
		b.early = append(b.early, Notice{level, text})
	}
	b.mu.Unlock()
	switch {
	case conv != nil:
		conv.Notify(level, "%s", text)
	case other != nil:
		other(Notice{level, text})
	}
}

// Aside redirects all lines to show, including earlier ones: for commands that open no
// conversation.
func (b *Board) Aside(show func(Notice)) {
	b.mu.Lock()
	b.Other = show
	early := b.early
	b.early = nil
	b.mu.Unlock()
	for _, n := range early {
		show(n)
	}
}

// Tell adds a line for the model, which reads it at its next step.
func (b *Board) Tell(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.model = append(b.model, text)
}

// Take returns what must be told to the model now.
func (b *Board) Take(context.Context, string) agent.Announcement {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := strings.Join(b.model, " ")
	b.model = nil
	return agent.Announcement{Text: text, Silent: true} // the person was told as well
}

// Ran is called by the gate for calls that ran although no person could see them.
func (b *Board) Ran(_ tools.Caller, text string) { b.Say(event.LevelWarn, "%s", text) }

// JobEnded tells the person and the model that a background command ended by itself.
func (b *Board) JobEnded(j builtin.Job) {
	b.Say(event.LevelInfo, "job %d ended: %s (%s)", j.ID, j.State, j.Command)
	told := fmt.Sprintf("Background job %d (%s) ended: %s. Its output: job action=output id=%d.", j.ID, j.Command, j.State, j.ID)
	if j.News != "" {
		b.Say(event.LevelWarn, "job %d: %s", j.ID, j.News)
		told += " In the sandbox " + j.News + "."
	}
	b.Tell(told)
}
