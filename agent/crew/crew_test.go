package crew

import (
	"context"
	"strings"
	"sync"
	"testing"

	"jcode/agent/event"
	"jcode/agent/roster"
	"jcode/session"
	"jcode/tools"
)

// host is a conversation that only records what its agents do.
type host struct {
	child *child
	mu    sync.Mutex
	said  []string // questions and notices
}

func (h *host) say(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, what)
}

func (h *host) ID() string    { return "main" }
func (h *host) Label() string { return "" }

func (h *host) Emit(ev event.Event) {
	if n, ok := ev.(event.Notice); ok {
		h.say(n.Text)
	}
}

func (h *host) Write(_ string, f func(ctx context.Context) error) bool {
	return f(context.Background()) == nil
}

func (h *host) Ask(_ context.Context, q tools.Question) (tools.Answer, error) {
	h.say(q.Label + " asks: " + strings.Join(q.Details, "; "))
	return tools.Answer{Scope: tools.AnswerOnce}, nil
}

func (h *host) AskPerson(_ context.Context, _, question string, _ []string) (string, error) {
	h.say(question)
	return "yes", nil
}

func (h *host) AskForm(_ context.Context, form tools.Form) (tools.FormAnswer, error) {
	h.say(form.From)
	return tools.FormAnswer{}, nil
}

func (h *host) Open(_ context.Context, _ tools.Task, asks Person) (Opened, error) {
	h.child.asks = asks
	return Opened{Child: h.child, Session: "child", Label: "ann"}, nil
}

func (h *host) Reopen(context.Context, roster.State, Site, Person) (Child, error) {
	return h.child, nil
}

// child answers each prompt at once, after a question.
type child struct {
	asks   Person
	broker *event.Broker
}

func (c *child) ID() string                     { return "child" }
func (c *child) State() event.State             { return event.State{Session: "child", Cwd: "/project"} }
func (c *child) Subscribe() *event.Subscription { return c.broker.Subscribe(false) }
func (c *child) Interrupt() bool                { return false }
func (c *child) Close()                         { c.broker.Close() }
func (c *child) Agents() *Crew                  { return nil }

func (c *child) Prompt(p event.Prompt) string {
	_, _ = c.asks.Ask(context.Background(), tools.Question{}) // the host answers
	c.broker.Emit(event.TurnEnd{Reason: event.StopDone, Text: "done: " + p.Text})
	return "1"
}

func newTestCrew(t *testing.T) (*Crew, *host) {
	t.Helper()
	store, err := session.Open(t.Context(), t.TempDir()+"/x.db", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	h := &host{child: &child{broker: event.NewBroker()}}
	return New(t.Context(), h, Options{Store: store, Cwd: "/project"}, nil), h
}

// A crew needs no conversation: whoever can open one is its host.
func TestAgentsWorkForAnyHost(t *testing.T) {
	for name, tc := range map[string]struct {
		task tools.Task
		text string // of the result
		asks string // what the question of the agent says of it
		told string // to the model later
	}{
		"in its call":       {tools.Task{Prompt: "count"}, "done: count", " asks: the agent ann, in /project", ""},
		"in the background": {tools.Task{Prompt: "count", Name: "ben", Background: true}, "The agent ben works in the background", "ben asks: the agent ben, in /project", "The agent ben ended (done). Its answer:\ndone: count"},
	} {
		t.Run(name, func(t *testing.T) {
			c, h := newTestCrew(t)
			res, err := c.Run(t.Context(), tools.Call{ID: "c"}, tc.task)
			if err != nil || !strings.HasPrefix(res.Text, tc.text) {
				t.Fatalf("result %+v, %v", res, err)
			}
			c.Wait(t.Context(), "", false)
			if got := c.News(); got != tc.told {
				t.Errorf("told %q, want %q", got, tc.told)
			}
			c.Close()
			h.mu.Lock()
			defer h.mu.Unlock()
			if len(h.said) == 0 || h.said[0] != tc.asks {
				t.Errorf("asked %q, want %q first", h.said, tc.asks)
			}
		})
	}
}
