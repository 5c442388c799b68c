//go:build linux || darwin

package plain

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"jcode/agent/event"
	"jcode/internal/testkit/eventually"
	"jcode/tools"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// lockedBuffer is output that a test can read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestPlainModeTalksInLines(t *testing.T) {
	t.Parallel()
	f := tuitest.New()
	r, w := io.Pipe()
	var out lockedBuffer
	done := make(chan error, 1)
	go func() {
		done <- Run(context.Background(), front.Options{Session: &front.Session{Conversation: f, Events: f}, Version: "1.0"}, r, &out)
	}()
	see := func(want string) {
		t.Helper()
		eventually.Within(t, tuitest.Limit, want, func() bool { return strings.Contains(out.String(), want) }, out.String)
	}
	write := func(s string) {
		if _, err := io.WriteString(w, s); err != nil {
			t.Error(err)
		}
	}
	see("> ")
	f.OnPrompt = func(event.Prompt) {
		f.Emit(event.TextDelta{Text: "one\ntw"}, event.TextDelta{Text: "o \x1b[31mred"}, event.AssistantMessage{Text: "one\ntwo red"},
			event.CallStart{ID: "c", Name: "exec", Arguments: tuitest.JSON("cmd", "ls")},
			event.ApprovalAsked{ID: "q", Question: tuitest.Question()})
	}
	write("hello\n")
	see("You: hello\none\ntwo red\nTool exec: ls\nQuestion: Run a command\n  go test ./...")
	see("Answer (number; words to the model may follow a no): ")
	write("maybe\n")
	see("Answer with a number from 1 to 4")
	write("4\n")
	eventually.Within(t, tuitest.Limit, "an answer", func() bool { _, ok := f.Answered("q"); return ok })
	if a, _ := f.Answered("q"); a.Scope != tools.AnswerNo {
		t.Errorf("answer %+v", a)
	}
	f.Emit(event.TurnEnd{Reason: event.StopDone})
	write("/nope\n")
	see("Unknown command /nope")
	write("/quit\n")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil { // ends the reader
		t.Error(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\r\x07") {
		t.Errorf("control characters in\n%q", out.String())
	}
}
