//go:build linux || darwin

package tui

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/diff"
	"jcode/tools"
	"jcode/tui/tuitest"
)

// threeHunks is a question about an edit with three hunks.
func threeHunks() tools.Question {
	var old, now strings.Builder
	for i := range 40 {
		line := "line " + strconv.Itoa(i) + "\n"
		old.WriteString(line)
		if i%15 == 3 {
			line = "changed " + strconv.Itoa(i) + "\n"
		}
		now.WriteString(line)
	}
	before, after := old.String(), now.String()
	q := tuitest.Question()
	q.Tool, q.Title, q.Command, q.Diff, q.Details = "edit", "Edit client.go", "", diff.Files("client.go", &before, &after).Text, nil
	for i := range q.Options {
		if q.Options[i].Words != "" {
			q.Options[i].Words = "any edit"
		}
	}
	return q
}

// The answers of a question take two rows, which say what each lasting one covers.
func TestAQuestionHasTwoRowsOfAnswers(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80, 120} {
		p, _, _ := asked(t, width, 24, threeHunks())
		rows := screenRows(p)
		i := slices.IndexFunc(rows, func(s string) bool { return strings.Contains(s, "y once   s until I leave   a always here   n no") })
		if i < 0 {
			t.Fatalf("no row of answers at %d columns:\n%s", width, strings.Join(rows, "\n"))
		}
		if strings.TrimSpace(rows[i-1]) != "" {
			t.Errorf("no air above the answers: %q", rows[i-1])
		}
		below := rows[i] + rows[i+1]
		for _, want := range []string{"s and a: any edit", "h hunks", "esc aside", "w no, because …"} {
			if !strings.Contains(below, want) {
				t.Errorf("no %q at %d columns: %q", want, width, below)
			}
		}
		if strings.Contains(below, "t columns") != (width >= 120) {
			t.Errorf("at %d columns: %q", width, below)
		}
	}
	q := threeHunks()
	q.Options[1].Words = "edits of " + strings.Repeat("a/long/path/", 10)
	q.Options[1].Label = "until I leave: " + q.Options[1].Words
	p, _, _ := asked(t, 80, 24, q)
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "s  until I leave: ") {
		t.Errorf("what an answer covers is not said, and there is no list:\n%s", s)
	}
}

// h takes single hunks: the answer names them, and lasts no longer than the call.
func TestSingleHunksAreTaken(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.fake.Emit(event.ApprovalAsked{ID: "q1", Question: threeHunks()})
	r.see("y once", "h hunks")
	r.Press("h")
	s := r.see("[x] client.go:4", "[x] client.go:19", "take 3 of 3 hunks")
	if strings.Contains(s.Text(), "until I leave") {
		t.Errorf("answers beside the hunks:\n%s", s.Text())
	}
	r.Press("y", "n")
	r.see("[ ] client.go:19", "left out", "take 2 of 3 hunks")
	r.Press("enter")
	s = r.see("2 of 3 hunks, as you chose them", "y once", "n no", "changed 33")
	if s.Contains("changed 18") || s.Contains("until I leave") {
		t.Errorf("what is left out shows, or an answer that lasts:\n%s", s.Text())
	}
	r.Press("y")
	r.until("answer", func() bool { _, ok := r.fake.Answered("q1"); return ok })
	if a, _ := r.fake.Answered("q1"); a.Scope != tools.AnswerOnce || !slices.Equal(a.Hunks, []int{0, 2}) {
		t.Errorf("answer %+v", a)
	}
}

// Esc leaves the choice as it was, no hunk at all is no answer, and all of them are an ordinary yes.
func TestAChoiceOfHunksCanBeLeft(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.fake.Emit(event.ApprovalAsked{ID: "q1", Question: threeHunks()})
	r.see("y once")
	r.Press("h")
	r.see("take 3 of 3 hunks")
	r.Press("n", "n", "n")
	r.see("take 0 of 3 hunks")
	r.Press("enter")
	r.see("no hunk is taken")
	r.Press("esc")
	r.see("s until I leave")
	r.Press("h")
	r.see("take 3 of 3 hunks")
	r.Press("enter")
	r.see("s until I leave")
	r.Press("y")
	r.until("answer", func() bool { _, ok := r.fake.Answered("q1"); return ok })
	if a, _ := r.fake.Answered("q1"); a.Scope != tools.AnswerOnce || a.Hunks != nil {
		t.Errorf("answer %+v", a)
	}
}

// A list of answers looks and reads as the two rows do: an empty row above, the same words, a margin at the right, and
// below what of the other keys has room, esc always.
func TestAListOfAnswersReadsLikeTheTwoRows(t *testing.T) {
	t.Parallel()
	q := threeHunks()
	q.Editable = "new_string"
	long := "edits of " + strings.Repeat("a/long/path/", 20) + "end.go"
	for i, how := range []string{"", "until I leave: ", "always here: "} {
		if how != "" {
			q.Options[i].Words, q.Options[i].Label = long, how+long
		}
	}
	for width, want := range map[int]string{
		60:  " w no, because … · r whole answer · e edit · esc aside",
		80:  " w no, because … · r whole answer · e edit · h hunks · esc aside",
		120: " w no, because … · r whole answer · e edit · h hunks · t columns · esc aside · ↑↓ enter choose",
	} {
		p, _, _ := asked(t, width, 36, q)
		rows := screenRows(p)
		i := slices.IndexFunc(rows, func(s string) bool { return strings.HasPrefix(s, "   y  ") })
		if i < 0 || strings.TrimSpace(rows[i-1]) != "" {
			t.Fatalf("no list with air above at %d columns:\n%s", width, strings.Join(rows, "\n"))
		}
		for j, begins := range []string{"   s  until I leave: edits of a/", "   a  always here: edits of a/", "   n  no"} {
			row := strings.TrimRight(rows[i+1+j], " ")
			if !strings.HasPrefix(row, begins) || cells.Width(row) >= width || j < 2 && !strings.HasSuffix(row, "end.go") {
				t.Errorf("at %d columns: %q", width, row)
			}
		}
		if row := strings.TrimRight(rows[i+4], " "); row != want {
			t.Errorf("at %d columns the keys are\n%q, not\n%q", width, row, want)
		}
	}
}
