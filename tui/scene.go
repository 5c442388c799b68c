package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/agent/roster"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/editor"
	"jcode/tui/front"
	"jcode/tui/keyboard"
	"jcode/tui/look"
	"jcode/tui/screen"
	"jcode/tui/transcript"
)

// What the parts of the program share, by idea. None of these values knows a part: each part names those that it needs.
type (
	// loop is how work gets out of the program's loop and back, and what the program was begun with.
	loop struct {
		opt  front.Options // never written
		ctx  context.Context
		send func(tea.Msg)
	}
	// scene is what is on the screen, and what is being written.
	scene struct {
		width, height int
		look          look.Look
		keys          look.Keymap
		dark          bool

		tr     *transcript.View
		told   transcript.Item // the last answer of a command
		record record

		stack  dialog.Stack // what is open in place of the input
		menu   menu
		hint   hint
		status string // what the program waits for ("starting"), shown above the input

		in     *editor.Editor
		vi     editor.Vi
		typing typing
		hist   recall
		drafts drafts
		stash  stash

		failing sync.Map // what could not be stored last time, by what the warning says of it
	}
	// talk is the conversation, as far as its events say.
	talk struct {
		conv  front.Conversation
		turn  turn
		state event.State
		usage event.Usage
		queue []event.Queued
		todo  []tools.TodoItem
		// agents are the sub-agents of the conversation, in start order.
		agents     []roster.State
		answeredIn string // the role of the last answer
		around     around
		live       []front.LiveSession // in the background, in the order in which they began
	}
	// device is the terminal.
	device struct {
		painter  *screen.Painter  // nil if Bubble Tea draws
		keyboard *keyboard.Reader // nil if Bubble Tea reads
		began    time.Time
		blurred  bool
	}
)

// Background runs work outside the loop; the func that it returns runs inside.
func (l *loop) Background(work func(ctx context.Context) dialog.Do) tea.Cmd {
	ctx := l.ctx
	return func() tea.Msg { return work(ctx) }
}

// Open puts a dialog in front.
func (s *scene) Open(d dialog.Dialog) {
	s.menu.close()
	s.stack.Dialogs = append(s.stack.Dialogs, d)
}

// Close removes a dialog.
func (s *scene) Close(d dialog.Dialog) {
	s.stack.Remove(d)
	s.stack.ShowFront(s.typing.last)
}

// Aside puts a question away until the person asks for it.
func (s *scene) Aside(d dialog.Dialog) {
	s.stack.PutAside(d)
	s.stack.ShowFront(s.typing.last)
}

// ask queues a question that opened by itself.
func (s *scene) ask(d dialog.Dialog) {
	s.stack.Asks = append(s.stack.Asks, d)
	s.stack.ShowFront(s.typing.last)
}

// options offers a few choices, without a search.
func (s *scene) options(title string, rows []command.Row, choose func(r command.Row) tea.Cmd) {
	pk := dialog.NewPicker(title, rows, choose)
	pk.NoSearch = true
	s.Open(pk)
}

// SwitchDiffs switches between the two ways of drawing this diff.
func (s *scene) SwitchDiffs(src string, width int) {
	transcript.SwitchDiffs(&s.look, src, width)
	s.restyle()
}

func (s *scene) resize(w, h int) {
	s.width, s.height = max(w, 1), max(h, 1)
	if width := max(s.width-1, 1); width != s.look.Width {
		s.look.Width = width
		s.restyle()
	}
}

// restyle makes everything cached under the current look stale.
func (s *scene) restyle() { s.look.Stamp++ }

// inputWidth is how wide the input is.
func (s *scene) inputWidth() int {
	if s.width < 8 {
		return max(s.width-1, 1)
	}
	return s.width - 3
}

// Insert writes text that was typed into the input.
func (s *scene) Insert(typed string) { s.in.Insert(dialog.Typed(typed)) }

// Say shows the person a line in the transcript.
func (s *scene) Say(level event.Level, msg string) {
	s.tr.Add(transcript.Notice(level, msg))
	s.record.Note(transcript.KindNotice, transcript.KeptNotice{Level: level, Text: text.Cut(msg, transcript.KeptBytes)})
}

// Flash shows a few words for a moment.
func (s *scene) Flash(text string) {
	s.hint = hint{text: text, until: time.Now().Add(2 * time.Second)}
}

// warnedOnce is warned for what is tried again without the person: it warns once, until that works again.
func (s *scene) warnedOnce(ctx context.Context, what string, err error) tea.Msg {
	if err == nil {
		s.failing.Delete(what)
	} else if _, told := s.failing.LoadOrStore(what, nil); told {
		return nil
	}
	return s.warned(ctx, what, err)
}

// warned turns an error into a warning, nil into nothing. Once ctx has ended, nobody reads it.
func (s *scene) warned(ctx context.Context, what string, err error) tea.Msg {
	if err == nil {
		return nil
	}
	return dialog.Do(func() tea.Cmd {
		if ctx.Err() == nil {
			s.Say(event.LevelWarn, what+": "+err.Error())
		}
		return nil
	})
}

// Busy reports whether a turn runs.
func (t *talk) Busy() bool { return t.turn.busy }

// Interrupt stops the running turn.
func (t *talk) Interrupt() {
	if t.conv != nil && t.conv.Interrupt() {
		t.turn.doing = "stopping"
	}
}
