//go:build linux || darwin

package tui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/testkit/terminal"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

func TestEmptyAndFailedPanelsSayItInFull(t *testing.T) {
	t.Parallel()
	const empty = "No servers. Add one with `jcode mcp add NAME -- command`, or ask the agent to connect one."
	const failed = "reading the configuration in /home/u/project/.jcode/mcp.json: line 3: no such key is known here, sorry"
	r := run(t, 40, 14, func(o *front.Options) {
		o.Panels = []command.Panel{
			{Name: "servers", Help: "servers", Empty: empty, Rows: func(context.Context) ([]command.Row, error) { return nil, nil }},
			{Name: "broken", Help: "broken", Rows: func(context.Context) ([]command.Row, error) { return nil, errors.New(failed) }},
		}
	}).ready()
	for name, want := range map[string]string{"servers": empty, "broken": failed} {
		r.Type("/" + name)
		r.see("/" + name)
		r.Press("enter")
		if _, err := r.Wait(tuitest.Limit, func(s terminal.Screen) bool {
			return strings.Contains(squeezed(s.Text()), squeezed(want))
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r.Press("esc")
		r.see("ask for something")
	}
}

// Keys that do not fit on one line continue on the next if there is room for it.
func TestKeysOfAPanelWrapWhereTheScreenIsNarrow(t *testing.T) {
	t.Parallel()
	do := func(context.Context, command.Row) (string, error) { return "", nil }
	r := run(t, 40, 20, func(o *front.Options) {
		o.Panels = []command.Panel{{
			Name: "things", Help: "things", Rows: func(context.Context) ([]command.Row, error) { return []command.Row{{ID: "a", Name: "a thing"}}, nil },
			Actions: []command.Action{
				{Label: "resume", Run: do},
				{Key: "ctrl+d", Label: "stop", Run: do},
				{Key: "ctrl+e", Label: "merge", Run: do},
				{Key: "ctrl+x", Label: "discard", Run: do},
				{Key: "ctrl+o", Label: "edit", Run: do},
			},
		}}
	}).ready()
	r.Type("/things")
	r.see("/things")
	r.Press("enter")
	r.see("a thing")
	r.see("enter resume · esc close · ctrl+d stop")
	r.see("ctrl+e merge · ctrl+x discard")
	r.see("ctrl+o edit")
	r.Press("esc")
	r.see("ask for something")
}

// livePanel returns a panel of servers whose states the test sets.
type livePanel struct {
	mu      sync.Mutex
	rows    []command.Row
	changed chan struct{}
	ran     []string
}

func (l *livePanel) set(rows ...command.Row) {
	l.mu.Lock()
	l.rows = rows
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *livePanel) options(o *front.Options) {
	o.Changed = func(ctx context.Context) bool {
		select {
		case <-l.changed:
			return true
		case <-ctx.Done():
			return false
		}
	}
	o.Health = func() string {
		l.mu.Lock()
		defer l.mu.Unlock()
		return "health " + l.rows[0].State
	}
	o.Panels = []command.Panel{{
		Name: "servers", Help: "servers", Live: true,
		Rows: func(context.Context) ([]command.Row, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.rows, nil
		},
		Actions: []command.Action{{Label: "restart", Run: func(context.Context, command.Row) (string, error) { return "", nil }}, {
			Key: "ctrl+d", Label: "stop", Confirm: true, Run: func(_ context.Context, r command.Row) (string, error) {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.ran = append(l.ran, r.ID)
				return "stopped", nil
			},
		}},
	}}
}

func TestLivePanelFollowsWhatItShows(t *testing.T) {
	t.Parallel()
	row := func(name, state string) command.Row { return command.Row{ID: name, Name: name, State: state} }
	l := &livePanel{changed: make(chan struct{}, 1), rows: []command.Row{row("a", "connecting"), row("b", "up")}}
	r := run(t, 80, 24, l.options).ready()
	l.set(row("a", "lost"), row("b", "up"))
	r.see("health lost") // no key was pressed
	r.Type("/servers")
	r.see("/servers")
	r.Press("enter")
	r.see("›   a", "up")
	r.Press("down")
	r.see("›   b")
	l.set(row("0 new", "failed"), row("a", "connected"), row("b", "gone"))
	r.see("0 new", "connected", "gone", "›   b")
	r.Press("ctrl+d")
	r.see("press ctrl+d again to stop")
	l.set(row("a", "x"), row("b", "still here"))
	r.see("still here", "press ctrl+d again to stop")
	r.Press("ctrl+d")
	r.see("stopped")
	l.mu.Lock()
	if len(l.ran) != 1 || l.ran[0] != "b" {
		t.Errorf("stopped %v; the cursor was on b", l.ran)
	}
	l.rows = []command.Row{row("a", "nobody told")} // read again nevertheless
	l.mu.Unlock()
	r.see("›   a", "nobody told") // the status line may show it before the list does
	r.Press("ctrl+d")
	r.see("press ctrl+d again to stop")
	l.set(row("c", "another")) // not the intended row
	if _, err := r.Wait(tuitest.Limit, func(s terminal.Screen) bool { return s.Contains("another") && !s.Contains("press ctrl+d again") }); err != nil {
		t.Error(err)
	}
}

func TestSlowCompletionHoldsNoKeyUp(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	r := run(t, 80, 24, func(o *front.Options) {
		o.Panels = []command.Panel{{
			Name: "servers", Help: "servers", Rows: func(context.Context) ([]command.Row, error) { return nil, nil },
			Other: command.Verb{Complete: func(ctx context.Context, args string) []string {
				if strings.HasPrefix(args, "slow") {
					select {
					case <-release:
					case <-ctx.Done():
					}
				}
				return []string{args + "-completed"}
			}},
		}}
	}).ready()
	r.Type("/servers fast")
	r.see("› fast-completed")
	r.Press("ctrl+u")
	r.Type("/servers slow and on")
	r.see("/servers slow and on") // typing works although no completion arrives
	close(release)
	r.see("› slow and on-completed") // for the current line, not for earlier ones
	r.Press("tab")
	r.see("/servers slow and on-completed")
}

// squeezed removes all white space: words may be on any line.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

func TestShellLineSaysItsCommandOnce(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, func(o *front.Options) {
		o.Shell = func(_ context.Context, _ string, out func(string)) error {
			out("a.txt\nb.txt\n")
			return nil
		}
	}).ready()
	r.Type("!ls here")
	r.see("$ !ls here")
	r.Press("enter")
	s := r.see("✓ ! ls here", "│ a.txt", "│ b.txt")
	if n := strings.Count(s.Text(), "ls here"); n != 1 {
		t.Errorf("the command shows %d times:\n%s", n, s.Text())
	}
}

func TestUpTakesQueuedMessagesBack(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.fake.Busy(true)
	r.fake.Emit(event.TurnStart{Prompt: "x"})
	r.see("stops")
	r.Type("one more thing")
	r.see("› one more thing")
	r.Press("enter")
	r.see("⧗ one more thing")
	r.Press("up")
	r.see("› one more thing")
	r.gone("⧗")
	r.fake.Mu.Lock()
	left := len(r.fake.Queued)
	r.fake.Mu.Unlock()
	if left != 0 {
		t.Errorf("%d messages are still queued: they would be sent twice", left)
	}
}

func TestAnsweredCallRunsAndItsTimeIsItsOwn(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.fake.Emit(event.TurnStart{Prompt: "x"}, event.CallStart{ID: "c", Name: "exec", Arguments: tuitest.JSON("cmd", "make"), At: time.Now()},
		event.ApprovalAsked{ID: "a", Question: tools.Question{CallID: "c", Tool: "exec", Title: "Run a command", Command: "make"}})
	r.see("? exec make", "waits for you", "esc aside")
	r.Press("y")
	r.until("it is answered", func() bool { _, ok := r.fake.Answered("a"); return ok })
	s := r.gone("waits for you")
	if strings.Contains(lineWith(s, "exec make"), "?") {
		t.Errorf("it still seems to wait:\n%s", s.Text())
	}
	r.fake.Emit(event.CallEnd{ID: "c", Name: "exec", Status: "done", Duration: 200 * time.Millisecond})
	s = r.see("✓ exec make")
	if line := lineWith(s, "exec make"); strings.Contains(line, "ms") || strings.Contains(line, " s") {
		t.Errorf("the wait is counted as the call's: %q", line)
	}
}

func TestCommandShowsItsAnswerWhereverTheWindowIs(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 12, nil).ready()
	for i := range 30 {
		r.fake.Emit(event.Notice{Text: "notice " + strconv.Itoa(i)})
	}
	r.see("notice 29")
	r.Press("pgup", "pgup")
	r.see("below")
	r.Type("/cost")
	r.see("› /cost")
	r.Press("enter")
	r.see("Used so far")
}

func TestPathsAreCompletedAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, f := range []string{"here/sub/a.txt", "here/sub/deep/b.txt", "here/.hidden", "other/x y.txt", "home/notes/n.md", "here/two\nlines.txt"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for typed, want := range map[string][]string{
		"@./su":            {"@./sub/"},
		"@./sub/":          {"@./sub/a.txt ", "@./sub/deep/"},
		"@../o":            {"@../other/"},
		"@../other/x":      {`@"../other/x y.txt" `},
		"@~/n":             {"@~/notes/"},
		"@..":              {"@../here/", "@../home/", "@../other/"},
		"@" + root + "/ho": {"@" + root + "/home/"},
		"@./.h":            {"@./.hidden "},
		"@./t":             {`@"./two\nlines.txt" `},
		"@./nothing/here":  nil,
		"see @./SU":        {"@./sub/"},
		`@"../other/x`:     {`@"../other/x y.txt" `},
	} {
		p, f := still(t, 80, 24, func(o *front.Options) {
			o.Home = filepath.Join(root, "home")
			o.Files = func(context.Context) ([]string, error) { return []string{"sub/a.txt"}, nil }
		})
		f.Now.Cwd = filepath.Join(root, "here")
		p.state = f.Now
		p.in.Insert(typed)
		settleCmd(p, p.complete.menuUpdate())
		var got []string
		for _, c := range p.complete.menu.choices {
			got = append(got, c.insert)
			if strings.ContainsAny(c.name, "\n\t") {
				t.Errorf("%q breaks the line", c.name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
}

func TestANameWithALineEndIsOneLineEverywhere(t *testing.T) {
	t.Parallel()
	const name = "two\nlines\x1b[2J.txt"
	p, _ := still(t, 60, 12, func(o *front.Options) {
		o.Files = func(context.Context) ([]string, error) { return []string{name, "b.txt"}, nil }
	})
	p.state.Title, p.state.Cwd = name, "/x/"+name
	p.in.Insert("@")
	settleCmd(p, p.complete.menuUpdate())
	lines := strings.Split(p.frameText(), "\n")
	if len(lines) != 12 || !strings.Contains(tuitest.Stripped(p.frameText()), `two\nlines␛[2J.txt`) || !strings.Contains(lines[11], "test/model") {
		t.Errorf("%d lines:\n%s", len(lines), tuitest.Stripped(p.frameText()))
	}
	p.complete.menu.close()
	p.in.SetText("")
	p.Open(dialog.NewPicker("Rows", []command.Row{{ID: "1", Name: name, Info: name, State: name, Detail: name}, {ID: "2", Name: "second"}}, nil))
	if lines := strings.Split(p.frameText(), "\n"); len(lines) != 12 || !strings.Contains(lines[11], "test/model") {
		t.Errorf("a picker has %d lines:\n%s", len(lines), tuitest.Stripped(p.frameText()))
	}
	p.stack.Dialogs = nil
	p.Open(dialog.NewChanges([]command.FileChange{{Path: name, Diff: tuitest.Diff}}))
	if lines := strings.Split(p.frameText(), "\n"); len(lines) != 12 {
		t.Errorf("changes have %d lines:\n%s", len(lines), tuitest.Stripped(p.frameText()))
	}
}

func TestACallIsShownAsItRan(t *testing.T) {
	t.Parallel()
	p, f, a := asked(t, 80, 24, tools.Question{CallID: "c1", Tool: "exec", Title: "Run a command", Command: "ls old", Editable: "cmd", Arguments: tuitest.JSON("cmd", "ls old")})
	feed(p, event.CallStart{ID: "c1", Name: "exec", Arguments: tuitest.JSON("cmd", "ls old"), At: clock})
	press(p, "e")
	a.Edit.SetText("ls new")
	p.route(tea.KeyPressMsg{Code: tea.KeyEnter})
	press(p, "y")
	if ans, _ := f.Answered("q"); string(ans.Arguments) != `{"cmd":"ls new"}` {
		t.Fatalf("answered %s", ans.Arguments)
	}
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "exec ls new") || strings.Contains(s, "ls old") {
		t.Errorf("the row names what did not run:\n%s", s)
	}
}

// A person who sees that an action is done and immediately acts again acts on the new row.
func TestPanelsShowAnOutcomeTogetherWithTheNewRows(t *testing.T) {
	t.Parallel()
	state := "on"
	p, _ := still(t, 80, 24, func(o *front.Options) {
		o.Panels = []command.Panel{{
			Name: "switches", Title: "Switches",
			Rows: func(context.Context) ([]command.Row, error) {
				return []command.Row{{ID: "a", Name: "lamp", State: state}}, nil
			},
			Actions: []command.Action{{Label: "switch", Run: func(_ context.Context, r command.Row) (string, error) {
				state = map[string]string{"on": "off", "off": "on"}[r.State]
				return "lamp is now " + state, nil
			}}},
		}}
	})
	p.in.Insert("/switches")
	press(p, "enter")
	pk, ok := p.stack.Front().(*dialog.Picker)
	if !ok {
		t.Fatalf("no panel: %s", tuitest.Stripped(p.frameText()))
	}
	for _, want := range []string{"off", "on"} {
		for cmd := pk.Choose(command.Row{}); cmd != nil; { // one frame at a time
			next, ok := cmd().(dialog.Do)
			if !ok {
				break
			}
			cmd = p.route(next)
			if r, _ := pk.Current(); strings.Contains(pk.Note, "lamp is now") && !strings.HasSuffix(pk.Note, r.State) {
				t.Errorf("%q shows while the row is %q", pk.Note, r.State)
			}
		}
		if r, _ := pk.Current(); r.State != want || pk.Note != "lamp is now "+want {
			t.Errorf("the row is %q, the note %q, want %q", r.State, pk.Note, want)
		}
	}
}
