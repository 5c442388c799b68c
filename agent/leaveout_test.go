package agent_test

import (
	"context"
	"strings"
	"testing"

	"jcode/agent"
	"jcode/agent/model"
)

// sentTexts is what a request's messages say, in order.
func sentTexts(r model.Request) (out []string) {
	for i := range r.Messages {
		out = append(out, r.Messages[i].Text)
	}
	return out
}

func TestARefusedPromptIsNotSentAgain(t *testing.T) {
	t.Parallel()
	mention := agent.Extension{
		Attach: func(_ context.Context, prompt string) string { return "attached to " + prompt },
		Before: func(context.Context, string) agent.Announcement { return agent.Announcement{Text: "news"} },
	}
	b := startWith(t, []reply{{text: "one"}, {text: "I ca", end: "content_filter"}, {text: "three"}, {text: "four"}}, func(o *agent.Options) {
		o.Extensions = agent.Extensions{mention}
	})
	b.turn("first")
	end, _ := b.turn("poison")
	if end.Finish != "content_filter" {
		t.Fatalf("%+v", end)
	}
	b.turn("third")
	all := strings.Join(sentTexts(b.model.request(t, 2)), "|")
	if strings.Contains(all, "poison") || strings.Contains(all, "I ca") || strings.Count(all, "news") != 3 || !strings.HasPrefix(all, "first|") || !strings.Contains(all, "refused") {
		t.Errorf("sent %s", all)
	}
	b.Close()
	again, err := agent.Resume(t.Context(), b.opt, b.ID())
	if err != nil {
		t.Fatal(err)
	}
	b.Conversation, b.sub = again, again.Subscribe()
	b.turn("fourth")
	if all := strings.Join(sentTexts(b.model.request(t, 3)), "|"); strings.Contains(all, "poison") || strings.Contains(all, "I ca") || !strings.Contains(all, "third") {
		t.Errorf("sent after a resume: %s", all)
	}
}

func TestARefusedStepKeepsThePromptAndWhatCameBefore(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{
		{calls: []model.Call{call("a", "read", `{"n":1}`)}}, {calls: []model.Call{call("b", "read", `{"n":2}`)}}, {end: "content_filter"}, {text: "on"},
	}, reader("read", says("found")))
	b.turn("first")
	b.turn("go on")
	req := b.model.request(t, 3)
	var calls []string
	for i := range req.Messages {
		for _, c := range req.Messages[i].Calls {
			calls = append(calls, c.Arguments)
		}
	}
	if texts := strings.Join(sentTexts(req), "|"); len(calls) != 1 || calls[0] != `{"n":1}` || !strings.HasPrefix(texts, "first|") || !strings.Contains(texts, "look at the files") {
		t.Errorf("calls %q, sent %s", calls, texts)
	}
}
