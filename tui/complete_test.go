//go:build linux || darwin

package tui

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"jcode/agent/event"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

func TestAtCompletesMentionsAndWhatIsNew(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	files := []string{"src/a.go"}
	release := make(chan struct{})
	defer close(release)
	slow := false
	r := run(t, 80, 24, func(o *front.Options) {
		o.Files = func(context.Context) ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(files), nil
		}
		o.Mentions = func(ctx context.Context) ([]command.Row, error) {
			mu.Lock()
			hang := slow
			mu.Unlock()
			if hang {
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return []command.Row{{ID: "good:mem://day/notes", Info: "Notes of the day"}, {ID: "good:mem://day/{date}"}}, nil
		}
	}).ready()
	r.Type("see @goodnotes")
	s := r.see("› good:mem://day/notes", "Notes of the day")
	if s.Contains("good:mem:/ ") || s.Contains("mem://day/ ") {
		t.Errorf("an address has no folders:\n%s", s.Text())
	}
	r.Press("tab")
	r.see("see @good:mem://day/notes")
	r.Type("@{date")
	r.see("› good:mem://day/{date}")
	r.Press("tab")
	r.see("@good:mem://day/{date}") // the cursor is after it, to fill it in
	mu.Lock()
	files, slow = append(files, "src/made_since.go"), true
	mu.Unlock()
	r.Press("ctrl+u")
	r.Type("@since")
	r.see("› src/made_since.go") // a list that never arrives does not block anything
}

func TestPastedAtSignsSearchNothing(t *testing.T) {
	t.Parallel()
	var searches atomic.Int32
	r := run(t, 80, 24, func(o *front.Options) {
		o.Files = func(context.Context) ([]string, error) {
			searches.Add(1)
			return []string{"src/a.go", "src/deep/b c.go", "README.md"}, nil
		}
	}).ready()
	log := `error in @scope/pkg from a@b.c: @{"json":1} @"`
	r.Paste(log)
	r.see(`@scope/pkg`)
	r.Press("enter")
	r.until("prompt", func() bool { return len(r.fake.Sent()) == 1 })
	if r.fake.Sent()[0] != log {
		t.Errorf("sent %q", r.fake.Sent()[0])
	}
	if n := searches.Load(); n != 0 {
		t.Errorf("%d searches for a paste", n)
	}
	r.Type("look at @bgo")
	r.see("› look at @bgo", "› src/deep/b c.go")
	r.Press("tab")
	r.see(`look at @"src/deep/b c.go"`)
	r.Type("and @READ")
	r.see("and @READ", "› README.md")
	r.Press("enter") // takes the choice
	r.see("and @README.md")
	r.Press("enter")
	r.until("prompt", func() bool { return len(r.fake.Sent()) == 2 })
	if got := r.fake.Sent()[1]; got != `look at @"src/deep/b c.go" and @README.md` {
		t.Errorf("sent %q", got)
	}
	if n := searches.Load(); n != 2 { // once per word, so that new files are found
		t.Errorf("files were listed %d times", n)
	}
}

func TestExactCommandWins(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	r := run(t, 80, 24, func(o *front.Options) {
		o.Commands = command.Set{Sources: []command.Source{commands{{Name: "quick", Description: "a skill", Run: func(context.Context, string) (command.Outcome, error) {
			ran.Add(1)
			return command.Outcome{Prompt: "be quick"}, nil
		}}}}}
	}).ready()
	r.Type("/quick")
	r.see("› /quick", "a skill")
	r.Press("enter")
	r.until("prompt", func() bool { return len(r.fake.Sent()) == 1 })
	r.see("› /quick") // shown as it was typed
	r.Type("/quit")
	r.see("› /quit", "leave")
	r.Press("enter")
	select {
	case err := <-r.done:
		r.done <- err
	case <-time.After(tuitest.Limit):
		t.Fatalf("does not quit:\n%s", r.Screen().Text())
	}
	if ran.Load() != 1 {
		t.Errorf("the skill ran %d times", ran.Load())
	}
}

// commands is a command.Source with fixed commands.
type commands []command.Command

func (c commands) List() []command.Command { return c }

func TestPickersSurviveNothingFound(t *testing.T) {
	t.Parallel()
	rows := func(context.Context) ([]command.Row, error) {
		return []command.Row{{ID: "a", Name: "alpha"}, {ID: "b", Name: "beta"}}, nil
	}
	var acted atomic.Int32
	r := run(t, 80, 24, func(o *front.Options) {
		o.Models, o.Roles = rows, rows
		o.Changes = func(context.Context) ([]command.FileChange, error) {
			return []command.FileChange{{Path: "x.go", Diff: tuitest.Diff}}, nil
		}
		o.Panels = []command.Panel{{Name: "mcp", Title: "MCP servers", Rows: rows, Actions: []command.Action{{Label: "connect", Run: func(context.Context, command.Row) (string, error) {
			acted.Add(1)
			return "", nil
		}}}}}
	}).ready()
	for _, cmd := range []string{"/model", "/role", "/theme", "/mode", "/help", "/mcp", "/diff"} {
		r.Type(cmd + " ")
		r.Press("enter")
		r.see("search:")
		r.Type("zzzqqq")
		r.see("search: zzzqqq", "nothing matches")
		r.Press("enter")
		if cmd != "/help" { // only the help closes on Enter
			r.see("nothing matches")
			r.Press("esc")
		}
		r.gone("search:")
	}
	if st := r.fake.State(); st.Model != "test/model" || st.Role != "" || st.Mode != tools.ModeAsk {
		t.Errorf("something was chosen: %+v", st)
	}
	if acted.Load() != 0 {
		t.Error("an action ran on nothing")
	}
}

// What is chosen by its number says what it is: a code block by its language and first line, a prompt by its words.
func TestNumbersInTheMenuSayWhatTheyMean(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	answer := "Try this:\n\n```go\nfunc main() {}\n```\n\nor\n\n~~~\nmake all\n~~~\n"
	feed(p, event.TurnStart{Turn: 1, Seq: 1, Prompt: "How do I start it?", At: clock}, event.AssistantMessage{Text: answer}, event.TurnEnd{Reason: event.StopDone})
	for line, wants := range map[string][]string{"/copy ": {"1  go  func main() {}", "2  make all"}, "/fork ": {"1  How do I start it?"}} {
		p.in.SetText(line)
		settleCmd(p, p.complete.menuUpdate())
		s := tuitest.Stripped(p.frameText())
		for _, want := range wants {
			if !strings.Contains(s, want) {
				t.Errorf("%s offers no %q:\n%s", line, want, s)
			}
		}
	}
}

// The names of the commands are known without a conversation: editors and scripts ask for them.
func TestTheCommandsAreKnownWithoutAConversation(t *testing.T) {
	t.Parallel()
	if names := OwnCommands(); len(names) == 0 {
		t.Error("there are none")
	}
}
