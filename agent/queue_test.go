package agent_test

import (
	"context"
	"errors"
	"testing"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/tools"
)

func TestPromptThatIsRefusedDuringAFinalAnswerAsksTheModelNothing(t *testing.T) {
	t.Parallel()
	var b *bench
	b = startWith(t, []reply{{text: "one", act: func(context.Context) { b.Prompt(event.Prompt{Text: "two?"}) }}}, func(o *agent.Options) {
		o.Extensions = append(o.Extensions, agent.Extension{Admit: func(_ context.Context, _, prompt string) (string, error) {
			if prompt == "two?" {
				return "", errors.New("refused")
			}
			return "", nil
		}})
	})
	b.Prompt(event.Prompt{Text: "one?"})
	if got := b.unsent(1); got[0].Text != "two?" {
		t.Errorf("given back: %+v", got)
	}
	if end, _ := b.turnEnd(); end.Reason != event.StopDone || end.Text != "one" || end.Steps != 1 {
		t.Errorf("the turn ended with %+v", end)
	}
}

func TestPromptDuringTheLastAnswerThatTheLimitAllowsBeginsTheNextTurn(t *testing.T) {
	t.Parallel()
	var b *bench
	b = startWith(t, []reply{{text: "one", act: func(context.Context) { b.Prompt(event.Prompt{Text: "two?"}) }}, {text: "two"}},
		func(o *agent.Options) { o.MaxSteps = 1 })
	b.Prompt(event.Prompt{Text: "one?"})
	for _, text := range []string{"one", "two"} {
		if end, _ := b.turnEnd(); end.Reason != event.StopDone || end.Text != text {
			t.Errorf("the turn of %q ended with %+v", text, end)
		}
	}
}

func TestPromptsThatCouldNotBeStoredAreGivenBack(t *testing.T) {
	t.Parallel()
	var b *bench
	read := reader("read", func(context.Context, tools.Call) (tools.Result, error) {
		b.Prompt(event.Prompt{Text: "second"})
		b.Prompt(event.Prompt{Text: "third"})
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
	b.Prompt(event.Prompt{Text: "first"})
	if got := b.unsent(2); got[0].Text != "second" || got[1].Text != "third" {
		t.Errorf("given back: %+v", got)
	}
	if end, _ := b.turnEnd(); end.Reason != event.StopError {
		t.Errorf("the turn ended with %+v", end)
	}
	if end, _ := b.turn("fourth"); end.Reason != event.StopError {
		t.Errorf("the turn ended with %+v", end)
	}
	if got := b.unsent(1); got[0].Text != "fourth" {
		t.Errorf("given back: %+v", got)
	}
}
