package agent_test

import (
	"context"
	"slices"
	"testing"

	"jcode/agent"
	"jcode/agent/model"
	"jcode/tools"
)

// A provider's cache holds the tools as they stood: those that came in the middle stay at the end when the session is
// resumed in another process.
func TestToolsThatCameLaterStandAtTheEndAfterAResume(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{
		{calls: []model.Call{call("1", "read", "{}")}}, {calls: []model.Call{call("2", "read", "{}")}}, {text: "done"}, {text: "again"},
	}, reader("read", says("x")), reader("zebra", says("x")))
	late := func(name string) func(context.Context) {
		return func(context.Context) {
			if err := b.reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, reader(name, says("x"))); err != nil {
				t.Error(err)
			}
		}
	}
	b.model.replies[0].act, b.model.replies[1].act = late("late"), late("early")
	b.turn("go")
	before := toolNames(b.model.request(t, 2))
	b.Close()
	other := tools.NewRegistry() // another process has them all from the start, in another order
	for _, name := range []string{"early", "late", "read", "zebra"} {
		if err := other.Register(tools.OwnerBuiltin, tools.RankBuiltin, reader(name, says("x"))); err != nil {
			t.Fatal(err)
		}
	}
	opt := b.opt
	opt.Registry, opt.Dispatcher = other, &tools.Dispatcher{Registry: other, Gate: opt.Gate}
	again, err := agent.Resume(t.Context(), opt, b.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	b.Conversation, b.sub = again, again.Subscribe()
	b.turn("more")
	if got := toolNames(b.model.request(t, 3)); !slices.Equal(got, before) || !slices.Equal(got, []string{"read", "zebra", "late", "early"}) {
		t.Errorf("after a resume: %v, before: %v", got, before)
	}
}
