package agent_test

import (
	"context"
	"sync"
	"testing"

	"jcode/agent"
	"jcode/agent/model"
	"jcode/tools"
)

// copied is a site that counts how often it is closed, without a lock: whoever closes it
// must not do so twice at once.
type copied struct{ closed int }

func (s *copied) Equip(*agent.Options)      {}
func (s *copied) Begin(*agent.Conversation) {}
func (s *copied) Dir() string               { return "/copy" }
func (s *copied) Row() (dir, branch, base string) {
	return "/copy", "branch", "base"
}

func (s *copied) Diff(context.Context) (string, []string, error) {
	return "diff --git a/x b/x\n", nil, nil
}

func (s *copied) Plan(context.Context) (tools.Plan, error) { return tools.Plan{}, nil }
func (s *copied) Merge(context.Context, tools.Call) (string, []string, error) {
	return "", nil, nil
}

func (s *copied) Close()                       { s.closed++ }
func (s *copied) Remove(context.Context) error { return nil }

// An agent that ends by itself is closed while the program that ends closes all.
func TestAConversationThatIsClosedTwiceAtOnceEndsOnce(t *testing.T) {
	t.Parallel()
	site := &copied{}
	b, _ := startSpeakers(t, map[string][]reply{
		"":    {{calls: []model.Call{call("t", "task", `{"prompt":"work","name":"ann","isolation":"worktree"}`)}}, {text: "started"}},
		"ann": {{text: "worked"}},
	}, func(o *agent.Options) {
		o.Isolate = func(context.Context, string, bool) (agent.Site, error) { return site, nil }
	})
	if end, _ := b.turn("go"); end.Text != "started" {
		t.Fatalf("end is %+v", end)
	}
	var closers sync.WaitGroup
	for range 4 {
		closers.Go(b.Close)
	}
	closers.Wait()
	if site.closed != 1 {
		t.Errorf("the site was closed %d times", site.closed)
	}
}
