//go:build linux || darwin

package plain

import (
	"reflect"
	"strings"
	"testing"

	"jcode/agent/event"
	"jcode/internal/diff"
	"jcode/tools"
	"jcode/tui/tuitest"
)

// Single hunks are taken by `h` and their numbers, and by no other line.
func TestThePlainFormTakesSingleHunks(t *testing.T) {
	t.Parallel()
	old := "one\n" + strings.Repeat("same\n", 20) + "two\n"
	now := strings.NewReplacer("one", "uno", "two", "dos").Replace(old)
	q := tuitest.Question()
	q.Tool, q.Title, q.Command = "edit", "Edit list.txt", ""
	q.Diff = diff.Files("list.txt", &old, &now).Text
	l := talk(t, nil)
	l.fake.Emit(event.ApprovalAsked{ID: "q", Question: q})
	l.see("Hunk 1: list.txt line 1, +1 -1\n  Hunk 2: list.txt line 22, +1 -1\n")
	l.see("h 1 2 says yes to hunks 1 and 2 alone): ")
	for _, line := range []string{"h", "h 3", "h 0", "h one", "h 1 more", "hunk 1", "H 1", "h 01"} {
		l.write(line)
		l.see("Answer with a number from 1 to 4: ")
	}
	l.write("h 2")
	l.fake.Until(t, func() bool {
		a, ok := l.fake.Answered("q")
		return ok && reflect.DeepEqual(a, tools.Answer{Scope: tools.AnswerOnce, Option: 0, Hunks: []int{1}})
	})
	q.Tool = "exec"
	l.fake.Emit(event.ApprovalAsked{ID: "whole", Question: q})
	l.see("may follow a no): ")
	l.write("h 2")
	l.see("Answer with a number from 1 to 4: ")
	l.write("1")
	l.fake.Until(t, func() bool { a, ok := l.fake.Answered("whole"); return ok && a.Hunks == nil })
	l.quit()
}
