package tuitest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"jcode/agent/event"
	"jcode/session"
	"jcode/tools"
	"jcode/tui/front"
)

// Conversation is a conversation that a test controls.
type Conversation struct {
	Mu       sync.Mutex
	Now      event.State
	Prompts  []event.Prompt
	Queued   []event.Prompt
	Answers  map[string]tools.Answer
	Replies  map[string]string
	Filled   map[string]tools.FormAnswer
	Stopped  int
	Blind    bool // the model does not accept pictures
	events   chan event.Event
	OnPrompt func(p event.Prompt)
	compact  string
	values   []string
	SlowRole chan struct{} // SetRole waits for it
}

func New() *Conversation {
	return &Conversation{
		Now:     event.State{Session: "s1", Model: "test/model", Mode: tools.ModeAsk, Cwd: "/code/project"},
		Answers: map[string]tools.Answer{}, Replies: map[string]string{}, Filled: map[string]tools.FormAnswer{}, events: make(chan event.Event, 10000),
	}
}

func (f *Conversation) Emit(evs ...event.Event) {
	for _, ev := range evs {
		f.events <- ev
	}
}

func (f *Conversation) Next(ctx context.Context) (event.Event, bool) {
	select {
	case ev := <-f.events:
		return ev, true
	case <-ctx.Done():
		return nil, false
	}
}

func (f *Conversation) Drain() []event.Event {
	var out []event.Event
	for {
		select {
		case ev := <-f.events:
			out = append(out, ev)
		default:
			return out
		}
	}
}

func (f *Conversation) Close() {}

func (f *Conversation) Prompt(p event.Prompt) string {
	f.Mu.Lock()
	f.Prompts = append(f.Prompts, p)
	busy := f.Now.Busy
	if busy {
		f.Queued = append(f.Queued, p)
	}
	on := f.OnPrompt
	f.Mu.Unlock()
	if busy {
		f.emitQueue()
		return "q"
	}
	shown := p.Shown
	if shown == "" {
		shown = p.Text
	}
	f.Emit(event.TurnStart{Turn: 1, Prompt: shown, At: time.Now()})
	if on != nil {
		on(p)
	}
	return "q"
}

func (f *Conversation) emitQueue() {
	f.Mu.Lock()
	ev := event.QueueChanged{}
	for _, q := range f.Queued {
		ev.Queued = append(ev.Queued, event.Queued{ID: q.Text, Text: q.Text})
	}
	f.Mu.Unlock()
	f.Emit(ev)
}

func (f *Conversation) Unqueue(string) []event.Prompt {
	f.Mu.Lock()
	out := f.Queued
	f.Queued = nil
	f.Mu.Unlock()
	f.emitQueue()
	return out
}

func (f *Conversation) Busy(on bool) {
	f.Mu.Lock()
	f.Now.Busy = on
	f.Mu.Unlock()
}

func (f *Conversation) Interrupt() bool {
	f.Mu.Lock()
	f.Stopped++
	was := f.Now.Busy
	f.Now.Busy = false
	f.Mu.Unlock()
	if was {
		f.Emit(event.TurnEnd{Reason: event.StopInterrupted})
	}
	return was
}

func (f *Conversation) Answer(id string, a tools.Answer) error {
	f.Mu.Lock()
	f.Answers[id] = a
	f.Mu.Unlock()
	f.Emit(event.ApprovalClosed{ID: id})
	return nil
}

func (f *Conversation) Answered(id string) (tools.Answer, bool) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	a, ok := f.Answers[id]
	return a, ok
}

func (f *Conversation) Reply(id, text string) error {
	f.Mu.Lock()
	f.Replies[id] = text
	f.Mu.Unlock()
	f.Emit(event.AskClosed{ID: id})
	return nil
}

func (f *Conversation) Fill(id string, a tools.FormAnswer) error {
	f.Mu.Lock()
	f.Filled[id] = a
	f.Mu.Unlock()
	f.Emit(event.AskClosed{ID: id})
	return nil
}

func (f *Conversation) Sent() []string {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	var out []string
	for _, p := range f.Prompts {
		out = append(out, p.Text)
	}
	return out
}

func (f *Conversation) State() event.State { f.Mu.Lock(); defer f.Mu.Unlock(); return f.Now }

func (f *Conversation) Sees() bool { f.Mu.Lock(); defer f.Mu.Unlock(); return !f.Blind }

func (f *Conversation) set(change func(s *event.State)) {
	f.Mu.Lock()
	change(&f.Now)
	s := f.Now
	f.Mu.Unlock()
	f.Emit(event.StateChanged{State: s})
}

func (f *Conversation) SetMode(m tools.Mode) { f.set(func(s *event.State) { s.Mode = m }) }

func (f *Conversation) SetModel(name string) error {
	f.set(func(s *event.State) { s.Model = name })
	return nil
}

func (f *Conversation) SetRoleValue(_ context.Context, key, value string) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.values = append(f.values, key+"="+value)
	return nil
}

func (f *Conversation) SetRole(ctx context.Context, name string) error {
	if f.SlowRole != nil {
		select {
		case <-f.SlowRole:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f.set(func(s *event.State) { s.Role = name })
	return nil
}

func (f *Conversation) Rename(title string) error {
	f.set(func(s *event.State) { s.Title = title })
	return nil
}

func (f *Conversation) Compact(_ context.Context, keep string) error {
	f.Mu.Lock()
	f.compact = keep
	f.Mu.Unlock()
	return nil
}

// Until waits for a condition.
func (f *Conversation) Until(t *testing.T, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Limit); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not in time")
		}
	}
}

func JSON(pairs ...string) json.RawMessage {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

// Limit is how long a test waits for the screen. Only a failing test waits that long.
const Limit = time.Minute

func Question() tools.Question {
	return tools.Question{
		CallID: "c1", Tool: "exec", Title: "Run a command", Command: "go test ./...", Details: []string{"in /code/project"},
		Options: []tools.AnswerOption{
			{Scope: tools.AnswerOnce, Label: "yes, once"},
			{Scope: tools.AnswerSession, Label: "until I leave: this command", Words: "this command"},
			{Scope: tools.AnswerProject, Label: "always here: this command", Words: "this command"},
			{Scope: tools.AnswerNo, Label: "no"},
		},
	}
}

// Sessions returns sessions that a test inspects.
type Sessions struct {
	Carried []bool
	Opened  []string
	Forked  []int64
	Unknown bool // no session has the requested name
	Renamed map[string]string
}

func (f *Sessions) List(_ context.Context, query string, _ bool) ([]session.Session, error) {
	if query != "" {
		if query != "zebra" {
			return nil, nil
		}
		return []session.Session{{ID: "a", Title: "alpha", Updated: time.Now()}}, nil // found by its messages
	}
	return []session.Session{{ID: "a", Title: cmp.Or(f.Renamed["a"], "alpha"), Updated: time.Now()}, {ID: "b", Title: cmp.Or(f.Renamed["b"], "beta"), Updated: time.Now()}}, nil
}

func (f *Sessions) session(name string, rows ...session.Message) (front.Session, error) {
	c := New()
	c.Now.Title = name
	return front.Session{Conversation: c, History: rows}, nil
}

func (f *Sessions) New(_ context.Context, carry bool) (front.Session, error) {
	f.Carried = append(f.Carried, carry)
	return f.session("new")
}

func (f *Sessions) Open(_ context.Context, id string) (front.Session, error) {
	f.Opened = append(f.Opened, id)
	if f.Unknown {
		return front.Session{}, session.ErrNotFound
	}
	return f.session(id, session.Message{Seq: 1, Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: "an old prompt"}}},
		session.Message{
			Seq: 2, Role: session.RoleAssistant, Parts: []session.Part{{Kind: session.PartText, Text: "an **old** answer"}},
			Calls: []session.Call{{ID: "c", Name: "read", Arguments: `{"path":"x"}`, Status: session.StatusDone, Result: "text"}},
		},
		session.Message{Seq: 3, Role: session.RoleUser, Broken: "cut JSON"})
}

func (f *Sessions) Fork(_ context.Context, _ string, upTo int64) (front.Session, error) {
	f.Forked = append(f.Forked, upTo)
	return f.session("fork")
}

func (f *Sessions) Delete(context.Context, string) error { return nil }

func (f *Sessions) Rename(_ context.Context, id, title string) error {
	if title == "taken away" {
		return session.ErrNotFound
	}
	if f.Renamed == nil {
		f.Renamed = map[string]string{}
	}
	f.Renamed[id] = title
	return nil
}

func ExitCode(n int) *int { return &n }

const Diff = `--- a/calc/sum.go
+++ b/calc/sum.go
@@ -1,8 +1,9 @@
 package calc
 
-func Sum(xs []int) int {
-	total := 1
+// Sum adds numbers.
+func Sum(numbers []int) int {
+	total := 0
 	for _, x := range xs {
 		total += x
 	}
`

// AnsweredBy reports whether a question was answered in any way.
func AnsweredBy(f *Conversation) bool {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return len(f.Answers)+len(f.Replies)+len(f.Filled) > 0 || slices.ContainsFunc(f.Prompts, func(m event.Prompt) bool { return strings.HasPrefix(m.Shown, "Plan accepted") })
}

func Stripped(s string) string { return ansi.Strip(s) }
