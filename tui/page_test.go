//go:build linux || darwin

package tui

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/look"
	"jcode/tui/transcript"
	"jcode/tui/tuitest"
)

// answering is a source of one command.
type answering struct {
	name string
	out  command.Outcome
	err  error
}

func (a answering) List() []command.Command {
	return []command.Command{{Name: a.name, Run: func(context.Context, string) (command.Outcome, error) { return a.out, a.err }}}
}

// What answers a question about the state is a page: it is laid out for its width, leaves nothing in the transcript and
// takes no key from what is written on.
func TestTheAnswerOfACommandIsAPageThatLeavesNothing(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 60, 15, func(o *front.Options) {
		o.Commands.Sources = []command.Source{answering{name: "usage", out: command.Outcome{Page: "Usage", Notice: "narrow", Wide: func(width int) string { return "laid out for " + strconv.Itoa(width) + strings.Repeat("\nrow", 30) }}}}
	})
	feed(p, event.TurnStart{Prompt: "go", Seq: 1, At: clock}, event.TurnEnd{Reason: event.StopDone, Duration: time.Second})
	settleCmd(p, p.slashes.run("/usage"))
	for _, want := range []string{"─ Usage ─", "laid out for 58", "esc close", "more lines"} {
		if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, want) {
			t.Errorf("no %q:\n%s", want, s)
		}
	}
	settleCmd(p, p.route(tea.KeyPressMsg{Code: tea.KeyPgDown}))
	if s := tuitest.Stripped(p.frameText()); strings.Contains(s, "laid out") {
		t.Errorf("it does not scroll:\n%s", s)
	}
	settleCmd(p, p.route(tea.KeyPressMsg{Code: 'n', Text: "n"}))
	if s := tuitest.Stripped(p.frameText()); strings.Contains(s, "Usage") || !strings.Contains(s, "› n") {
		t.Errorf("what is typed does not go on:\n%s", s)
	}
	for _, show := range []func() tea.Cmd{p.panels.showCost} {
		settleCmd(p, show())
		if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "Used so far") {
			t.Errorf("not shown:\n%s", s)
		}
		settleCmd(p, p.route(tea.KeyPressMsg{Code: tea.KeyEsc}))
		if s := tuitest.Stripped(p.frameText()); strings.Contains(s, "Used so far") {
			t.Errorf("it stays:\n%s", s)
		}
	}
	for _, kept := range p.record.Pending {
		if kept.Kind == transcript.KindNotice {
			t.Errorf("a resume brings it back: %s", kept.Data)
		}
	}
}

// Diffs that a command answers with, or fails with, are drawn as everywhere.
func TestADiffInAnAnswerIsDrawn(t *testing.T) {
	t.Parallel()
	conflict := errors.New("1 file changed here and in the worktree of ann, so nothing was merged. Change one side so that they agree:\n\ncalc/sum.go:\n--- here\n" + tuitest.Diff + "--- in the worktree\n" + tuitest.Diff)
	for name, c := range map[string]struct {
		a    answering
		want []string
	}{
		"diff": {answering{name: "x", out: command.Outcome{Notice: tuitest.Diff}}, []string{"─ /x ─", " calc/sum.go", "3 - func Sum(xs []int) int {"}},
		"git": {answering{name: "x", out: command.Outcome{Notice: "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\ndiff --git a/calc/sum.go b/calc/sum.go\nindex 4cb29ea..ddc897f 100644\n" + tuitest.Diff}}, []string{
			" run.sh\n old mode 100644", "new mode 100755\n calc/sum.go\n", "3 - func Sum(xs []int) int {",
		}},
		"conflict": {answering{name: "x", err: conflict}, []string{"─ /x failed ─", "--- here", "--- in the worktree", "3 - func Sum(xs []int) int {", "✗ /x: 1 file changed here"}},
	} {
		p, _ := still(t, 80, 44, func(o *front.Options) { o.Commands.Sources = []command.Source{c.a} })
		settleCmd(p, p.slashes.run("/x"))
		s := tuitest.Stripped(p.frameText())
		for _, want := range c.want {
			if !strings.Contains(s, want) {
				t.Errorf("%s: no %q:\n%s", name, want, s)
			}
		}
		for _, raw := range []string{"@@ -1", "+++ b/", "diff --git", "index "} {
			if strings.Contains(s, raw) {
				t.Errorf("%s: raw text of git, %q:\n%s", name, raw, s)
			}
		}
	}
}

// Prose is at most 100 columns wide, whatever the terminal is, and breaks between words; code keeps the whole width.
func TestProseIsNotWiderThanItCanBeRead(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("several words of prose ", 30)
	code := strings.Repeat("x", 150)
	p, _ := still(t, 200, 50, nil)
	feed(p, event.TurnStart{Prompt: words, Seq: 1, At: clock}, event.AssistantMessage{Text: words + "\n\n- " + words + "\n\n```\n" + code + "\n```\n"},
		event.Notice{Text: words}, event.TurnEnd{Reason: event.StopDone})
	p.Say(event.LevelWarn, words)
	s := tuitest.Stripped(p.frameText())
	if !strings.Contains(s, code) {
		t.Errorf("code is folded:\n%s", s)
	}
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \n")
		if !strings.Contains(line, "prose") {
			continue
		}
		if w := cells.Width(line); w > look.ProseCells {
			t.Errorf("%d cells: %s", w, line)
		}
		for _, word := range strings.Fields(line) {
			if !strings.Contains(" several words of prose › • - · ! ", " "+word+" ") {
				t.Errorf("cut within a word: %q in %s", word, line)
			}
		}
	}
}
