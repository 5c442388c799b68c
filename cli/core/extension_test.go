package core

import (
	"context"
	"errors"
	"slices"
	"testing"

	"jcode/agent"
	"jcode/tools"
)

// Each extension is asked at the points that it has, in the order of the list; one that has none is passed over.
func TestExtensionsAreAskedInTheirOrder(t *testing.T) {
	var said []string
	say := func(s string) func() { return func() { said = append(said, s) } }
	broken := errors.New("broken")
	l := Extensions{
		{Begin: say("one begins"), Look: say("one looks"), Status: func() string { return "one" }},
		{},
		{
			Begin: say("two begins"), Status: func() string { return "" }, Inert: func() []tools.TrustItem { return []tools.TrustItem{{Name: "x"}} },
			Wake: func([]tools.TrustItem) error { return broken },
		},
		{
			Status: func() string { return "three" }, Own: agent.Extension{Ready: func(context.Context) { say("three is ready")() }},
			Sections: func(id string, _ *tools.Scope) []string { return []string{"section of " + id} },
		},
	}
	l.Begin()
	l.Look()
	l.Refresh()
	l.Load(t.Context())
	l.Ready(t.Context())
	l.Opened(nil, true)
	if want := []string{"one begins", "two begins", "one looks", "three is ready"}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
	if got := l.Status(); got != "one · three" {
		t.Errorf("status %q", got)
	}
	if items, err := l.Inert(), l.Wake(nil); len(items) != 1 || !errors.Is(err, broken) {
		t.Errorf("inert %v, wake %v", items, err)
	}
	if got := l.Sections("s", nil); len(got) != 1 || got[0] != "section of s" || l.Panels() != nil {
		t.Errorf("sections %q", got)
	}
	if own, agents := l.Conversations(); len(own) != len(l) || len(agents) != len(l) {
		t.Errorf("%d and %d points of conversations, want %d", len(own), len(agents), len(l))
	}
}
