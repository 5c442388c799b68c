//go:build linux || darwin

package tui

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/internal/cells"
	"jcode/internal/testkit/terminal"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

var update = flag.Bool("update", false, "rewrite the golden screens")

var clock = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// still returns a program that is not running: the test passes it messages and asks it for frames.
func still(t testing.TB, cols, rows int, change func(o *front.Options)) (*program, *tuitest.Conversation) {
	f := tuitest.New()
	opt := front.Options{Session: &front.Session{Conversation: f, Events: nil}, Version: "1.0", Cwd: "/home/u/project", Home: "/home/u", Theme: "dark"}
	if change != nil {
		change(&opt)
	}
	p := newProgram(context.Background(), opt)
	p.look.Now = clock
	p.route(tea.WindowSizeMsg{Width: cols, Height: rows})
	if opt.Session != nil {
		p.enter(*opt.Session)
	}
	return p, f
}

func (p *program) frameText() string { return p.compose.build().Content }

// do runs the commands that a message returned, and the commands that those returned, in order.
func settleCmd(p *program, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			settleCmd(p, c)
		}
	case dialog.Do:
		settleCmd(p, p.route(msg))
	}
}

func feed(p *program, events ...event.Event) {
	for _, ev := range events {
		p.listen.event(ev)
	}
}

const sampleAnswer = "The test fails because `total` starts at **1**.\n\n1. Fix the start value\n2. Run the tests again\n\n```go\ntotal := 0 // not 1\n```\n\n| file | change |\n|---|---|\n| sum.go | start value |\n| 漢字.md | 中文 👩‍👩‍👧 |\n"

// conversation emits a turn that contains most kinds of items.
func conversation(p *program) {
	feed(p,
		event.TurnStart{Turn: 1, Seq: 1, Prompt: "Why does TestSum fail? Please mend it.", At: clock},
		event.ReasoningDelta{Text: "Let me look at the code."},
		event.TextDelta{Text: "I look at the code first."},
		event.AssistantMessage{Text: "I look at the code first.", Reasoning: "Let me look at the code.", Calls: 2},
		event.CallStart{ID: "1", Name: "read", Arguments: tuitest.JSON("path", "calc/sum.go"), At: clock},
		event.CallEnd{ID: "1", Name: "read", Status: "done", Result: tools.Result{Text: "…", Display: tools.Display{Summary: "9 lines"}}, Duration: 3 * time.Millisecond},
		event.CallStart{ID: "2", Name: "edit", Arguments: tuitest.JSON("path", "calc/sum.go"), At: clock},
		event.CallEnd{ID: "2", Name: "edit", Status: "done", Result: tools.Result{Text: "ok", Display: tools.Display{Diff: tuitest.Diff, Added: 3, Removed: 2, Path: "calc/sum.go"}}, Duration: 120 * time.Millisecond},
		event.CallStart{ID: "3", Name: "exec", Arguments: tuitest.JSON("cmd", "go test ./..."), At: clock},
		event.CallEnd{ID: "3", Name: "exec", Status: "failed", Result: tools.Result{Text: "--- FAIL: TestSum\n    sum_test.go:9: got 7, want 6\nFAIL", Failed: true, Display: tools.Display{Summary: "exit 1"}}, Duration: 1300 * time.Millisecond},
		event.TextDelta{Text: sampleAnswer},
		event.AssistantMessage{Text: sampleAnswer},
		event.Usage{Total: model.Usage{Input: 12000, Output: 800}, Context: 12800, Window: 128000, Cost: 0.0312, Priced: true},
		event.TurnEnd{Reason: event.StopDone},
	)
}

// screens are all the screens that have golden files.
var screens = map[string]func(p *program, f *tuitest.Conversation){
	"welcome": func(p *program, _ *tuitest.Conversation) {},
	"chat":    func(p *program, _ *tuitest.Conversation) { conversation(p) },
	"busy": func(p *program, _ *tuitest.Conversation) {
		feed(p,
			event.TurnStart{Turn: 1, Prompt: "do it", At: clock},
			event.TodoChanged{Items: []tools.TodoItem{{Text: "read the code", Status: "done"}, {Text: "write the fix", Status: "in_progress"}, {Text: "run the tests", Status: "pending"}}},
			event.CallStart{ID: "1", Name: "exec", Arguments: tuitest.JSON("cmd", "make all"), At: clock.Add(-5 * time.Second)},
			event.CallProgress{ID: "1", Output: "compiling a\ncompiling b\n漢字 too\n"},
			event.QueueChanged{Queued: []event.Queued{{ID: "a", Text: "and then commit"}}},
		)
		p.in.Insert("next thought")
	},
	"page": func(p *program, _ *tuitest.Conversation) {
		conversation(p)
		p.Open(dialog.NewPage("/agents diff ann", "calc/sum.go: mode 0644 → 0755\n"+tuitest.Diff))
	},
	"context": func(p *program, _ *tuitest.Conversation) {
		use := agent.ContextUse{Total: 12800, Window: 128000, Parts: []agent.ContextPart{{Name: "system prompt", Tokens: 3100}, {Name: "tools", Tokens: 7400}, {Name: "messages", Tokens: 2300}}, Unsent: 2}
		p.Open(dialog.TablePage("What fills the context", func(width int) string { return contextText(use, width) }))
	},
	"approval": func(p *program, _ *tuitest.Conversation) {
		conversation(p)
		feed(p, event.TurnStart{Prompt: "go on", At: clock}, event.ApprovalAsked{ID: "q", Question: tuitest.Question()})
		p.stack.Asks[0].(*dialog.Approval).Open = true
	},
	"approval-diff": func(p *program, _ *tuitest.Conversation) {
		q := tuitest.Question()
		q.Title, q.Command, q.Diff = "Edit calc/sum.go", "", tuitest.Diff
		feed(p, event.TurnStart{Prompt: "go on", At: clock}, event.ApprovalAsked{ID: "q", Question: q})
		p.stack.Asks[0].(*dialog.Approval).Open = true
	},
	"question": func(p *program, _ *tuitest.Conversation) {
		feed(p, event.AskPerson{ID: "a", Text: "Which database should the new service use? The choice decides how the schema is written.", Options: []string{"SQLite", "PostgreSQL", "Neither of them"}})
		p.stack.Asks[0].(*dialog.Question).Open = true
	},
	"form": func(p *program, _ *tuitest.Conversation) {
		conversation(p)
		feed(p, event.TurnStart{Prompt: "book it", At: clock}, event.AskForm{ID: "f", Form: tuitest.Form()})
		f := p.stack.Asks[0].(*dialog.Form)
		f.Open = true
		for range 3 {
			f.Move(1)
		}
		f.Fields[0].Check()
	},
	"menu": func(p *program, _ *tuitest.Conversation) { p.in.Insert("/m"); p.complete.menuUpdate() },
	"help": func(p *program, _ *tuitest.Conversation) { p.showHelp() },
	"models": func(p *program, _ *tuitest.Conversation) {
		settleCmd(p, p.settings.model(""))
	},
	"sessions": func(p *program, _ *tuitest.Conversation) {
		p.Open(dialog.NewPicker("Sessions of this folder", front.SessionRows([]session.Session{
			{ID: "1", Title: "Mend TestSum", Messages: 12, Model: "openai/gpt-5.2", Updated: clock.Add(-3 * time.Minute), FirstPrompt: "Why does TestSum fail?", Cost: 0.03, Cwd: "/home/u/project"},
			{ID: "2", Title: "漢字 in titles", Messages: 1, Updated: clock.Add(-50 * time.Hour), FirstPrompt: "漢字"},
		}, clock, "1"), nil))
	},
	"key": func(p *program, _ *tuitest.Conversation) {
		k := &dialog.Entry{Title: "API key for openai", Secret: true, Field: dialog.NewField(), Hint: "Type or paste it; it is not shown."}
		k.Paste("sk-0123456789")
		p.Open(k)
	},
	"plan": func(p *program, _ *tuitest.Conversation) {
		conversation(p)
		v := &dialog.Plan{Plan: "Do it."}
		p.ask(v)
		v.Open = true
	},
	"history": func(p *program, _ *tuitest.Conversation) {
		p.hist.prompts = []string{"run the tests", "漢字を数える", "explain\nthis\nerror"}
		p.Open(p.panels.historyPicker())
	},
	"files": func(p *program, _ *tuitest.Conversation) {
		p.opt.Files = func(context.Context) ([]string, error) {
			return []string{"calc/sum.go", "calc/sum_test.go", "docs/a summary.md", "漢字/sum.md"}, nil
		}
		p.in.Insert("mend @sum")
		settleCmd(p, p.complete.menuUpdate())
	},
	"vi": func(p *program, _ *tuitest.Conversation) {
		p.opt.Vi = true
		p.in.SetText("one two 漢字 four\nfive")
		p.vi.Key(p.in, "esc")
		for _, key := range []string{"g", "g", "w", "v", "2", "e"} {
			p.vi.Key(p.in, key)
		}
	},
	"themes": func(p *program, _ *tuitest.Conversation) { settleCmd(p, p.settings.theme("")) },
	"modes":  func(p *program, _ *tuitest.Conversation) { settleCmd(p, p.settings.mode("")) },
	"empty":  func(p *program, _ *tuitest.Conversation) { p.Open(dialog.NewPicker("Skills", nil, nil)) },
	"changes": func(p *program, _ *tuitest.Conversation) {
		p.Open(dialog.NewChanges([]command.FileChange{{Path: "calc/sum.go", Diff: tuitest.Diff, Added: 3, Removed: 2}, {Path: "README.md", Diff: "", Added: 0, Removed: 1}}))
	},
	"trust": func(p *program, _ *tuitest.Conversation) {
		p.ask(dialog.NewTrust(command.Trust{Folder: "/home/u/project", Items: []command.Row{{State: "MCP server", Name: "github", Info: "npx -y some-server --token ${TOKEN}"}, {State: "Lua tool", Name: "deploy", Info: "may EXECUTE, HTTP"}}}))
		p.stack.Asks[0].(*dialog.Trust).Open = true
	},
	"find": func(p *program, _ *tuitest.Conversation) { conversation(p); p.tr.Search(&p.look, "test") },
	"first-run": func(p *program, _ *tuitest.Conversation) {
		settleCmd(p, p.panels.firstRun())
	},
}

func goldenOptions(o *front.Options) {
	o.Models = func(context.Context) ([]command.Row, error) {
		return []command.Row{{ID: "openai/gpt-5.2", Name: "openai/gpt-5.2", Info: "400k window", State: "$1.25 / $10", Current: true}, {ID: "ollama/qwen3-coder:30b", Name: "ollama/qwen3-coder:30b", Info: "local", State: "free"}}, nil
	}
	o.First = &front.FirstRun{
		Found: func(context.Context) ([]command.Row, error) {
			return []command.Row{{ID: "ollama", Name: "Ollama on this machine", Info: "qwen3-coder:30b and 3 more", State: "localhost:11434"}, {ID: "tour", Name: "Take the offline tour", Info: "no model needed, a scratch folder"}}, nil
		},
		EnterKey: func(context.Context, string, string) error { return nil },
	}
}

// shownViews are the screens that have golden files in four sizes, dark and light.
var shownViews = []string{"welcome", "chat", "busy", "approval", "approval-diff", "question", "models", "sessions", "help", "changes"}

// Ten views look as they should in small and large terminals, on dark and on light ones.
func TestGoldenViewsInFourSizes(t *testing.T) {
	t.Parallel()
	for _, name := range shownViews {
		for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 36}, {200, 50}} {
			for _, theme := range []string{"dark", "light"} {
				golden := fmt.Sprintf("%s-%dx%d-%s", name, size[0], size[1], theme)
				t.Run(golden, func(t *testing.T) {
					p, f := still(t, size[0], size[1], func(o *front.Options) { goldenOptions(o); o.Theme = theme })
					screens[name](p, f)
					frame := p.frameText()
					for i, line := range strings.Split(frame, "\n") {
						if w := cells.Width(tuitest.Stripped(line)); w > size[0] {
							t.Errorf("line %d is %d cells wide: %q", i, w, tuitest.Stripped(line))
						}
					}
					s := terminal.Draw(frame, size[0], size[1], colorprofile.TrueColor)
					compareGolden(t, golden, s.Text()+"\n\n"+s.Styled())
				})
			}
		}
	}
}

func TestGoldenScreens(t *testing.T) {
	t.Parallel()
	for name, set := range screens {
		for _, size := range [][2]int{{80, 24}, {40, 12}, {120, 40}} {
			for _, variant := range []string{"dark", "nocolor"} {
				golden := fmt.Sprintf("%s-%dx%d-%s", name, size[0], size[1], variant)
				t.Run(golden, func(t *testing.T) {
					p, f := still(t, size[0], size[1], goldenOptions)
					set(p, f)
					profile := colorprofile.TrueColor
					if variant == "nocolor" {
						profile = colorprofile.ASCII
					}
					frame := p.frameText()
					for i, line := range strings.Split(frame, "\n") {
						if w := cells.Width(tuitest.Stripped(line)); w > size[0] {
							t.Errorf("line %d is %d cells wide: %q", i, w, tuitest.Stripped(line))
						}
					}
					s := terminal.Draw(frame, size[0], size[1], profile)
					got := s.Text() + "\n\n" + s.Styled()
					if variant == "nocolor" {
						got = s.Styled()
						if strings.Contains(got, "fg=") || strings.Contains(got, "bg=") {
							t.Error("colours with NO_COLOR")
						}
					}
					compareGolden(t, golden, got)
				})
			}
		}
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (run with -update)", err)
	}
	if got != string(want) {
		t.Errorf("the screen differs from %s (see it with -update and git diff):\n%s", file, got)
	}
}
