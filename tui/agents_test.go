//go:build linux || darwin

package tui

import (
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/agent/roster"
	"jcode/internal/cells"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/look"
	"jcode/tui/tuitest"
)

// The strip above the input shows only the agents that work, wait for the person, or have changes to merge.
func TestStripShowsAgentsBesideTheConversation(t *testing.T) {
	p, _ := still(t, 80, 24, nil)
	for _, s := range []roster.State{
		{Name: "dan", Status: roster.Done, Changed: true, Files: 1, Added: 2, Started: clock.Add(-time.Minute), Ended: clock.Add(-8 * time.Second), Tokens: 52},
		{Name: "cat", Status: roster.Done, Started: clock.Add(-70 * time.Second)},
		{Name: "benjamin", Status: roster.Waiting, Started: clock.Add(-80 * time.Second), Tokens: 12_600},
		{Name: "ann", Status: roster.Working, Call: "exec", Doing: "go test ./...", Tokens: 1200, Started: clock.Add(-90 * time.Second)},
	} {
		feed(p, event.AgentChanged{Agent: s})
	}
	s := tuitest.Stripped(p.frameText())
	// In the order in which they were started, in columns.
	want := strings.Join([]string{
		" ⠋ ann       go test ./...                    1m30s    1.2k  (ctrl+t shows them)",
		" ? benjamin  waits for your answer            1m20s   12.6k",
		" ● dan       done, +2 -0 in 1 file              52s      52",
	}, "\n")
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	if !strings.Contains(strings.Join(lines, "\n"), want) {
		t.Errorf("no\n%s\nin\n%s", want, s)
	}
	if strings.Contains(s, "cat") {
		t.Errorf("an agent that is through shows:\n%s", s)
	}
	if !p.animated() {
		t.Error("the strip does not move")
	}
	for _, name := range []string{"ann", "benjamin", "dan"} {
		feed(p, event.AgentChanged{Agent: roster.State{Name: name, Status: roster.Done}})
	}
	if s := tuitest.Stripped(p.frameText()); strings.Contains(s, "ann") || p.animated() {
		t.Errorf("it stays:\n%s", s)
	}
	for range 9 {
		feed(p, event.AgentChanged{Agent: roster.State{Name: strings.Repeat("x", len(p.agents)+1), Status: roster.Working}})
	}
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "… 5 more agents") {
		t.Errorf("many agents:\n%s", s)
	}
}

// The detail of an agent follows the end of its output, says how much there is above, and scrolls back.
func TestTheDetailOfAnAgentFollowsTheEnd(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	var output []string
	for i := range 40 {
		output = append(output, "line "+strconv.Itoa(i))
	}
	rows := func() []command.Row {
		return []command.Row{{ID: "ann", Name: "ann", Info: "go test ./...", State: "12s    9.4k", Head: "coder fast, session 1234", Detail: strings.Join(output, "\n"), Tail: true}}
	}
	pk := dialog.NewPicker("Agents", rows(), nil)
	p.Open(pk)
	see := func(wants ...string) {
		t.Helper()
		s := tuitest.Stripped(p.frameText())
		for _, want := range wants {
			if !strings.Contains(s, want) {
				t.Errorf("no %q:\n%s", want, s)
			}
		}
	}
	see("coder fast, session 1234", "line 39", "more lines (shift+up)")
	output = append(output, "the newest")
	pk.Set(rows())
	see("the newest")
	settleCmd(p, p.route(tea.KeyPressMsg{Code: tea.KeyUp, Mod: tea.ModShift}))
	see("2 more lines (shift+down)", "line 38")
	settleCmd(p, p.route(tea.KeyPressMsg{Code: tea.KeyDown, Mod: tea.ModShift}))
	see("the newest")
}

// The panel shows agents with the marks of the strip, in words that are as loud as those of other lists, and ~ for home.
func TestThePanelOfAgentsLooksLikeTheStrip(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	var rows []command.Row
	for _, status := range []roster.Status{roster.Working, roster.Waiting, roster.Done, roster.Failed} {
		rows = append(rows, command.Row{ID: string(status), Name: string(status), Mark: string(status), Current: status == roster.Working, Info: "edit /home/u/x.go", Head: "coder fast, session 1234, worktree /home/u/.jcode/worktrees/x, " + strings.Repeat("and more ", 9) + "end", Detail: "in /home/u/project"})
	}
	p.Open(dialog.NewPicker("Agents", rows, nil))
	s := tuitest.Stripped(p.frameText())
	for _, want := range []string{"⠋ working ", "? waiting ", "● done ", "● failed ", "edit ~/x.go", "worktree ~/.jcode/worktrees/x,", "more end", "in ~/project"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	if strings.Contains(s, "/home/u") || !p.animated() {
		t.Errorf("home is spelt out, or the mark does not move:\n%s", s)
	}
	if frame := p.frameText(); strings.Contains(frame, cells.Paint(p.look.Theme.Strong, " coder fast")) {
		t.Error("what an agent is is louder than what it does")
	}
}

// Above an open question the strip says how many agents it does not show, and what an agent asks.
func TestTheStripNamesWhatItLeavesOut(t *testing.T) {
	p, _ := still(t, 80, 24, nil)
	for i, s := range []roster.State{
		{Name: "one", Status: roster.Waiting, Call: "write", Doing: "write w.txt"}, {Name: "two", Status: roster.Working}, {Name: "three", Status: roster.Working},
	} {
		s.Started = time.Now().Add(time.Duration(i) * time.Second)
		p.agents = append(p.agents, s)
	}
	if got := tuitest.Stripped(strings.Join(p.compose.stripAbove(look.StripRoom+8), "\n")); !strings.Contains(got, "one  asks: write w.txt") || !strings.Contains(got, "… 2 more agents") || strings.Contains(got, "two") {
		t.Errorf("two rows:\n%s", got)
	}
	if got := tuitest.Stripped(strings.Join(p.compose.stripAbove(look.StripRoom+12), "\n")); !strings.Contains(got, "three") || strings.Contains(got, "more") {
		t.Errorf("three rows:\n%s", got)
	}
	if got := tuitest.Stripped(strings.Join(p.compose.stripAbove(look.StripRoom+4), "\n")); !strings.Contains(got, "… 3 agents") {
		t.Errorf("one row:\n%s", got)
	}
	if got := p.compose.stripAbove(look.StripRoom); got != nil {
		t.Errorf("no room: %q", got)
	}
}
