package cli

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

// board carries messages from all parts of jcode to the open conversation: lines for the person at once,
// lines for the model at its next step.
type board struct {
	mu    sync.Mutex
	conv  *agent.Conversation
	early []notice // said before a conversation was open
	model []string
	// other receives messages while no conversation is open; nil keeps them for the next conversation.
	other func(notice)
	// opened is called with each conversation that is attached, and whether it replaces another; may be nil.
	opened func(conv *agent.Conversation, again bool)
}

type notice struct {
	level event.Level
	text  string
}

// attach makes a conversation the current one.
func (b *board) attach(conv *agent.Conversation) {
	b.mu.Lock()
	again := b.conv != nil
	b.conv = conv
	early := b.early
	b.early = nil
	b.mu.Unlock()
	if b.opened != nil {
		b.opened(conv, again)
	}
	for _, n := range early {
		conv.Notify(n.level, "%s", n.text)
	}
}

// open returns the current conversation, nil before the first.
func (b *board) open() *agent.Conversation {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.conv
}

// session returns the open conversation's session ID, "" before its first message.
func (b *board) session() string {
	if conv := b.open(); conv != nil {
		return conv.ID()
	}
	return ""
}

// window returns the context window of the open conversation's model, 0 when unknown.
func (b *board) window() int {
	if conv := b.open(); conv != nil {
		return conv.Window()
	}
	return 0
}

// sees reports whether the open conversation's model accepts images.
func (b *board) sees() bool {
	conv := b.open()
	return conv == nil || conv.Sees()
}

// say shows the person a line.
func (b *board) say(level event.Level, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	b.mu.Lock()
	conv, other := b.conv, b.other
	if conv == nil && other == nil {
		b.early = append(b.early, notice{level, text})
	}
	b.mu.Unlock()
	switch {
	case conv != nil:
		conv.Notify(level, "%s", text)
	case other != nil:
		other(notice{level, text})
	}
}

// aside redirects all lines to show, including earlier ones: for commands that open no
// conversation.
func (b *board) aside(show func(notice)) {
	b.mu.Lock()
	b.other = show
	early := b.early
	b.early = nil
	b.mu.Unlock()
	for _, n := range early {
		show(n)
	}
}

// tell adds a line for the model, which reads it at its next step.
func (b *board) tell(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.model = append(b.model, text)
}

// take returns what must be told to the model now.
func (b *board) take(context.Context, string) agent.Announcement {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := strings.Join(b.model, " ")
	b.model = nil
	return agent.Announcement{Text: text, Silent: true} // the person was told as well
}

// ran is called by the gate for calls that ran although no person could see them.
func (b *board) ran(_ tools.Caller, text string) { b.say(event.LevelWarn, "%s", text) }

// jobEnded tells the person and the model that a background command ended by itself.
func (b *board) jobEnded(j builtin.Job) {
	b.say(event.LevelInfo, "job %d ended: %s (%s)", j.ID, j.State, j.Command)
	told := fmt.Sprintf("Background job %d (%s) ended: %s. Its output: job action=output id=%d.", j.ID, j.Command, j.State, j.ID)
	if j.News != "" {
		b.say(event.LevelWarn, "job %d: %s", j.ID, j.News)
		told += " In the sandbox " + j.News + "."
	}
	b.tell(told)
}
