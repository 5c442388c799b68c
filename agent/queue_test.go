package agent_test

import (
	"context"
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
	b.Prompt(agent.Prompt{Text: "first"})
	if got := b.unsent(2); got[0].Text != "second" || got[1].Text != "third" {
		t.Errorf("given back: %+v", got)
	}
	if end, _ := b.turnEnd(); end.Reason != agent.StopError {
		t.Errorf("the turn ended with %+v", end)
	}
	if end, _ := b.turn("fourth"); end.Reason != agent.StopError {
		t.Errorf("the turn ended with %+v", end)
	}
	if got := b.unsent(1); got[0].Text != "fourth" {
		t.Errorf("given back: %+v", got)
	}
}
