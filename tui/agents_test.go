//go:build linux || darwin

package tui

import (
	"strings"
	"testing"

	"jcode/agent/event"
	"jcode/agent/roster"
)

// The strip above the input shows only the agents that work, wait for the person, or have changes to merge.
func TestStripShowsAgentsBesideTheConversation(t *testing.T) {
	p, _ := still(t, 80, 24, nil)
	for _, s := range []roster.State{
		{Name: "ann", Status: roster.Working, Call: "exec", Tokens: 1200},
		{Name: "ben", Status: roster.Waiting},
		{Name: "cat", Status: roster.Done},
		{Name: "dan", Status: roster.Done, Changed: true},
	} {
		feed(p, event.AgentChanged{Agent: s})
	}
	s := stripped(p.frameText())
	for _, want := range []string{"ann  working · exec · 1200 tokens", "ctrl+t shows them", "ben  waiting", "dan  done · changes to merge"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q:\n%s", want, s)
		}
	}
	if strings.Contains(s, "cat") {
		t.Errorf("an agent that is through shows:\n%s", s)
	}
	if !p.animated() {
		t.Error("the strip does not move")
	}
	for _, name := range []string{"ann", "ben", "dan"} {
		feed(p, event.AgentChanged{Agent: roster.State{Name: name, Status: roster.Done}})
	}
	if s := stripped(p.frameText()); strings.Contains(s, "ann") || p.animated() {
		t.Errorf("it stays:\n%s", s)
	}
	for range 9 {
		feed(p, event.AgentChanged{Agent: roster.State{Name: strings.Repeat("x", len(p.agents)+1), Status: roster.Working}})
	}
	if s := stripped(p.frameText()); !strings.Contains(s, "… 5 more agents") {
		t.Errorf("many agents:\n%s", s)
	}
}
