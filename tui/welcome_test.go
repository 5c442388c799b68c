//go:build linux || darwin

package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	"jcode/agent/event"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// The start shows the project as soon as it is known; the first frame does not wait for that.
func TestTheStartShowsTheProject(t *testing.T) {
	t.Parallel()
	known := make(chan struct{})
	r := run(t, 80, 24, func(o *front.Options) {
		o.Home = "/code"
		o.Project = func(context.Context) front.Project {
			<-known
			return front.Project{Branch: "main*", Instructions: "AGENTS.md", Last: "Retry in the client", LastAt: time.Now().Add(-2*time.Hour - time.Minute)}
		}
	}).ready()
	r.see("~/project", "f1 help")
	close(known)
	r.see("~/project  (main*)  AGENTS.md", "2 h ago: Retry in the client  jcode -c", "f1 help")
}

func TestTheStartSaysThatThereAreNoInstructions(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, func(o *front.Options) {
		o.Project = func(context.Context) front.Project { return front.Project{} }
	}).ready()
	if s := r.see("no AGENTS.md: /init writes one"); s.Contains("jcode -c") {
		t.Errorf("a last session shows:\n%s", s.Text())
	}
}

// While a call runs, only its row moves; how to stop it is in the status line.
func TestOnlyOneThingMoves(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	feed(p, event.TurnStart{Prompt: "go", At: clock})
	moving := func() int { return strings.Count(tuitest.Stripped(p.frameText()), p.look.Spinner()) }
	if moving() != 1 {
		t.Errorf("%d spinners while the model thinks:\n%s", moving(), p.frameText())
	}
	feed(p, event.CallStart{ID: "1", Name: "exec", Arguments: tuitest.JSON("cmd", "make"), At: clock})
	s := tuitest.Stripped(p.frameText())
	if moving() != 1 || strings.Count(s, "esc stops") != 1 {
		t.Errorf("%d spinners while a command runs:\n%s", moving(), s)
	}
	rows := strings.Split(s, "\n")
	if last := rows[len(rows)-1]; !strings.HasSuffix(strings.TrimRight(last, " "), "esc stops") {
		t.Errorf("the status line: %q", last)
	}
}

// What was read and searched is a sentence; many names are counted, with the first and the last.
func TestARowOfReadsIsASentence(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	feed(p, event.TurnStart{Prompt: "go", At: clock})
	call := func(id, tool, arg, value string) {
		feed(p, event.CallStart{ID: id, Name: tool, Arguments: tuitest.JSON(arg, value), At: clock}, event.CallEnd{ID: id, Name: tool, Status: "done"})
	}
	call("1", "read", "path", "client.go")
	call("2", "grep", "pattern", "Fetch")
	call("3", "ls", "path", "cmd")
	see := func(want string) {
		t.Helper()
		if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, want) {
			t.Errorf("no %q:\n%s", want, s)
		}
	}
	see("✓ read client.go · grep Fetch · ls cmd")
	feed(p, event.TextDelta{Text: "Now all."}, event.AssistantMessage{Text: "Now all.", Calls: 50})
	for i := range 50 {
		call("f"+string(rune('a'+i)), "read", "path", "src/file_"+string(rune('0'+i/10))+string(rune('0'+i%10)))
	}
	see("✓ read 50 files in src  file_00 … file_49  (ctrl+o)")
}
