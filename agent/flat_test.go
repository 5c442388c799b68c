package agent_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"jcode/agent"
	"jcode/agent/model"
)

// endlessCaller makes a call at each step, and records how much the program has allocated so far.
type endlessCaller struct {
	steps     int
	allocated []uint64
	messages  int
}

func (e *endlessCaller) Stream(_ context.Context, req model.Request, _ func(model.Event)) (model.Response, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	e.allocated = append(e.allocated, m.TotalAlloc)
	e.messages = len(req.Messages)
	n := len(e.allocated)
	if n >= e.steps {
		return model.Response{Text: "done", Finish: "stop"}, nil
	}
	return model.Response{Finish: "tool_calls", Calls: []model.Call{call(fmt.Sprint("c", n), "read", fmt.Sprintf(`{"n":%d}`, n))}}, nil
}

// The allocations of a step do not grow with the history: no step walks all of it.
func TestStepCostsTheSameHoweverLongTheSession(t *testing.T) { // not beside others: it measures what the process allocates
	const steps, window = 1200, 200
	client := &endlessCaller{steps: steps}
	b := startWith(t, nil, func(o *agent.Options) {
		o.MaxSteps = steps + 1
		o.Resolve = func(string) (agent.Model, error) {
			return agent.Model{Name: "script", ID: "script", Client: client, Untitled: true}, nil
		}
	}, reader("read", says("the same")))
	b.turn("go")
	if client.messages != 2*steps-1 {
		t.Fatalf("the last request has %d messages", client.messages)
	}
	perStep := func(from int) uint64 { return (client.allocated[from+window] - client.allocated[from]) / window }
	early, late := perStep(window), perStep(steps-window-1)
	if late > 2*early {
		t.Errorf("a step allocates %d bytes in the beginning and %d after %d steps", early, late, steps)
	}
}
