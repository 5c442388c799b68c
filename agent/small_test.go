package agent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/agent/model/chat"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/modeltest"
	"jcode/session"
)

// withSmall is a conversation with a large and a small model of one server.
func withSmall(t *testing.T, replies ...modeltest.Reply) (*bench, *modeltest.Server) {
	t.Helper()
	srv := modeltest.New(t, replies...)
	client, err := chat.New(provider.Config{Name: "test", BaseURL: srv.URL(), Limits: provider.Limits{Attempts: 1, Idle: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	price := func(usd float64) func(string, model.Usage) (float64, bool) {
		return func(_ string, u model.Usage) (float64, bool) { return usd * float64(u.Input+u.Output), true }
	}
	small := &agent.Small{Name: "test/small", ID: "small", Client: client, Cost: price(1)}
	return startWith(t, nil, func(o *agent.Options) {
		o.Resolve = func(string) (agent.Model, error) {
			return agent.Model{Name: "test/large", ID: "large", Client: client, Cost: price(1000), Small: small}, nil
		}
	}), srv
}

// asked returns the models that requests asked, in order.
func asked(list []modeltest.Request) (models []string) {
	for _, r := range list {
		models = append(models, r.Model)
	}
	return models
}

func TestSmallModelIsAskedForTitlesAndWhatIsAskedAside(t *testing.T) {
	t.Parallel()
	used := modeltest.Usage{Input: 10, Output: 1}
	b, srv := withSmall(t, modeltest.Text("done").Usage(used), modeltest.Text("A title").Usage(used), modeltest.Text("[]").Usage(used), modeltest.Text("so"))
	b.turn("go")
	var beside []event.Usage // said at once, not with the next answer
	titled := func(ev event.Event) bool {
		if u, ok := ev.(event.Usage); ok && u.Beside {
			beside = append(beside, u)
		}
		s, ok := ev.(event.StateChanged)
		return ok && s.State.Title == "A title"
	}
	b.until(titled)
	if len(beside) != 1 || !beside[0].Priced || beside[0].Cost != 11*1001 || beside[0].Total.Input != 20 || beside[0].Context == 0 {
		t.Errorf("what the title cost is said as %+v", beside)
	}
	if _, err := agent.AskAside(t.Context(), b.Conversation, "Propose notes.", "what was said"); err != nil {
		t.Fatal(err)
	}
	if got := asked(srv.Requests()); !slices.Equal(got, []string{"large", "small", "small"}) {
		t.Errorf("asked: %v", got)
	}
	if got := b.Usage(); got.Total.Input != 30 || got.Cost != 11*1002 {
		t.Errorf("used: %+v", got)
	}
	spent, err := b.store.Spending(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]session.Spent{}
	for _, s := range spent {
		by[s.Model] = s
	}
	if s := by["small"]; s.Requests != 2 || s.Usage.Cost != 22 || len(by) != 2 {
		t.Errorf("what was stored: %+v", spent)
	}
	row, err := b.store.Get(t.Context(), b.ID())
	if err != nil || row.Messages != 2 || row.Cost != 11*1002 {
		t.Errorf("the session: %d messages, cost %v, %v", row.Messages, row.Cost, err)
	}
	b.Close()
	again, err := agent.Resume(t.Context(), b.opt, b.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := again.Usage().Cost; got != 11*1002 {
		t.Errorf("after a resume: %v", got)
	}
	again.Prompt(event.Prompt{Text: "and now?"})
	if r, ok := srv.Wait(4, time.Minute); !ok || r.Model != "large" || strings.Contains(string(r.Raw), "title") || len(r.Messages) != 4 {
		t.Errorf("what was asked aside is sent: %s", r.Raw)
	}
}

func TestRefusedSmallModelIsReplacedAndSaidOnce(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]modeltest.Reply{
		"unknown":     modeltest.Error(404, "not_found_error", "no such model"),
		"not allowed": modeltest.Error(401, "authentication_error", "not for this key"),
		"bad request": modeltest.Error(400, "invalid_request_error", "small is not a valid model ID"),
	} {
		t.Run(name, func(t *testing.T) {
			b, srv := withSmall(t, modeltest.Text("done"), refusal, modeltest.Text("A title"), modeltest.Text("[]"))
			b.turn("go")
			var told []string
			b.until(func(ev event.Event) bool {
				if n, ok := ev.(event.Notice); ok && strings.Contains(n.Text, "small") {
					told = append(told, n.Text)
				}
				s, ok := ev.(event.StateChanged)
				return ok && s.State.Title == "A title"
			})
			if answer, err := agent.AskAside(t.Context(), b.Conversation, "Propose notes.", "what was said"); err != nil || answer != "[]" {
				t.Fatal(answer, err)
			}
			if got := asked(srv.Requests()); !slices.Equal(got, []string{"large", "small", "large", "large"}) {
				t.Errorf("asked: %v", got)
			}
			if len(told) != 1 || !strings.Contains(told[0], "test/small") || !strings.Contains(told[0], "small_model") {
				t.Errorf("told: %q", told)
			}
		})
	}
}
