//go:build linux || darwin

package tui

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"jcode/agent/event"
	"jcode/internal/testkit/terminal"
	"jcode/tools"
	"jcode/tui/tuitest"
)

// mouse sends the report of a terminal: a button (0 left, 32 dragged, 64 and 65 the wheel) at a cell, counted from
// 0; up releases it.
func (r *running) mouse(button, x, y int, up bool) {
	end := "M"
	if up {
		end = "m"
	}
	r.Type(fmt.Sprintf("\x1b[<%d;%d;%d%s", button, x+1, y+1, end))
}

// copied reports whether a text was sent to the terminal's clipboard.
func (r *running) copied(text string) bool {
	return slices.Contains(r.OSC(), "52;c;"+base64.StdEncoding.EncodeToString([]byte(text)))
}

func TestDraggingSelectsAndCopies(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.fake.Emit(event.TurnStart{Prompt: "x"}, event.AssistantMessage{Text: "first words 漢字 here\n\nsecond line of it\n"}, event.TurnEnd{Reason: event.StopDone})
	s := r.see("first words 漢字 here", "second line")
	x, y, _ := s.Find("words")
	x2, y2, _ := s.Find("line of")
	r.mouse(0, x, y, false)
	r.mouse(32, x2+3, y2, false)
	if _, err := r.Wait(tuitest.Limit, func(s terminal.Screen) bool {
		return s.Cell(x, y).Reverse && s.Cell(x2, y2).Reverse && !s.Cell(x-2, y).Reverse && !s.Cell(x2+5, y2).Reverse
	}); err != nil {
		t.Errorf("not just what was dragged over is marked: %v", err)
	}
	r.mouse(0, x2+3, y2, true)
	r.see("sent 3 lines to the terminal's clipboard")
	r.until("the selection is on the clipboard", func() bool { return r.copied("words 漢字 here\n\nsecond line") })
	r.Press("esc")
	if _, err := r.Wait(tuitest.Limit, func(s terminal.Screen) bool { return !s.Cell(x, y).Reverse }); err != nil {
		t.Errorf("the mark stays: %v", err)
	}
}

func TestClickUnfoldsAndTheWheelScrolls(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 20, nil).ready()
	var out []string
	for i := range 60 {
		out = append(out, "output "+strconv.Itoa(i))
	}
	r.fake.Emit(event.TurnStart{Prompt: "x"}, event.CallStart{ID: "c", Name: "exec", Arguments: tuitest.JSON("cmd", "make")},
		event.CallEnd{ID: "c", Name: "exec", Status: "done", Result: tools.Result{Text: strings.Join(out, "\n")}}, event.TurnEnd{Reason: event.StopDone})
	s := r.see("✓ exec make", "output 59")
	if s.Contains("output 40") {
		t.Fatalf("it is not folded:\n%s", s.Text())
	}
	x, y, _ := s.Find("exec make")
	r.mouse(0, x, y, false)
	r.mouse(0, x, y, true)
	r.see("output 50")
	r.mouse(64, 5, 5, false)
	r.see("more below")
	for range 30 {
		r.mouse(64, 5, 5, false)
	}
	r.see("✓ exec make", "output 0")
	for range 40 {
		r.mouse(65, 5, 5, false)
	}
	r.see("output 59")
	r.gone("more below")
}

func TestTheWheelScrollsTheDialogUnderThePointer(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 20, nil).ready()
	var command []string
	for i := range 60 {
		command = append(command, "echo "+strconv.Itoa(i)+" of them")
	}
	r.fake.Emit(event.TurnStart{Prompt: "x"}, event.ApprovalAsked{ID: "a", Question: tools.Question{Tool: "exec", Title: "Run a command", Command: strings.Join(command, "\n")}})
	r.see("echo 0 of", "esc aside")
	for range 40 {
		r.mouse(65, 5, 12, false)
	}
	r.see("echo 59 of")
	r.mouse(64, 5, 12, false)
	r.gone("echo 59 of")
	if _, ok := r.fake.Answered("a"); ok {
		t.Error("the wheel answered")
	}
	r.Press("esc")
}
