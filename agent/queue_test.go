package agent_test

import (
	"context"
	"slices"
	"testing"

	"jcode/agent"
	"jcode/agent/model"
	"jcode/tools"
)

func TestPromptsThatCouldNotBeStoredAreGivenBack(t *testing.T) {
	var b *bench
	read := reader("read", func(context.Context, tools.Call) (tools.Result, error) {
		b.Prompt(agent.Prompt{Text: "second"})
		b.Prompt(agent.Prompt{Text: "third"})
		return tools.Result{Text: "r"}, nil
	})
	b = startWith(t, []reply{{calls: []model.Call{call("a", "read", "{}")}}}, func(o *agent.Options) {
		store := o.Store
		o.Extensions = append(o.Extensions, agent.Extension{Admit: func(_ context.Context, _, prompt string) (string, error) {
			if prompt == "second" {
				return "", store.Close()
			}
			return "", nil
		}})
	}, read)
	unsent := func(events []agent.Event) (list []string) {
		for _, ev := range events {
			if ev, ok := ev.(agent.Unsent); ok && ev.Err != nil {
				list = append(list, ev.Prompt.Text)
			}
		}
		return list
	}
	end, events := b.turn("first")
	if got := unsent(events); end.Reason != agent.StopError || !slices.Equal(got, []string{"second", "third"}) {
		t.Errorf("a turn that ended with %q (%s) gave back %q", end.Reason, end.Error, got)
	}
	end, events = b.turn("fourth")
	if got := unsent(events); end.Reason != agent.StopError || !slices.Equal(got, []string{"fourth"}) {
		t.Errorf("a turn that ended with %q (%s) gave back %q", end.Reason, end.Error, got)
	}
}
