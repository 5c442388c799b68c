//go:build linux || darwin

package tui

import (
	"strings"
	"testing"
	"time"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/tools"
	"jcode/tui/tuitest"
)

func TestMoneyThatRestsOnEstimatesIsMarked(t *testing.T) {
	t.Parallel()
	for _, estimated := range []bool{false, true} {
		p, _ := still(t, 100, 24, nil)
		used := event.Usage{Total: model.Usage{Input: 13000, Output: 900, Written: 2000, Estimated: estimated}, Cost: 0.0412, Priced: true}
		feed(p, event.TurnStart{Prompt: "go", At: clock}, event.AssistantMessage{Text: "done"}, used, event.TurnEnd{Reason: event.StopDone, Duration: time.Second})
		p.panels.showCost()
		s := tuitest.Stripped(p.frameText())
		if strings.Count(s, "$0.04") != 3 || (strings.Count(s, "~$0.04") == 3) != estimated || !strings.Contains(s, "2.0k written to the cache") {
			t.Errorf("estimated %v:\n%s", estimated, s)
		}
	}
}

func TestAChangeOfSeveralFilesIsCountedByFile(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 100, 24, nil)
	feed(p, event.TurnStart{Prompt: "change them", At: clock})
	called(p, "1", "apply_patch", []string{"input", "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Add File: b c.txt\n+one\n*** End Patch"}, tools.Result{Display: tools.Display{
		Diff: "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ b/b c.txt\n@@ -0,0 +1 @@\n+one\n", Path: "a.go", Added: 2, Removed: 1, Summary: "2 files, +2 -1",
	}})
	feed(p, event.AssistantMessage{Text: "done"}, event.TurnEnd{Reason: event.StopDone, Duration: 12 * time.Second})
	s := tuitest.Stripped(p.frameText())
	for _, want := range []string{"✓ apply_patch a.go, b c.txt", "12s · a.go +1 -1 · b c.txt +1 -0"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q:\n%s", want, s)
		}
	}
}

func TestACallOfAToolThatIsNotThereIsSaidInWords(t *testing.T) {
	t.Parallel()
	gone := tools.Result{Failed: true, Text: "unknown intent: nope. Nearest of the tools that exist: read"}
	const want = "there is no tool nope. Nearest of the tools that exist: read"
	p, _ := still(t, 100, 24, nil)
	called(p, "1", "nope", nil, gone)
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, want) {
		t.Errorf("in the chat:\n%s", s)
	}
}
