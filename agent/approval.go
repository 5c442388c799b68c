package agent

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"

	"jcode/agent/crew"
	"jcode/agent/event"
	"jcode/tools"
)

// Person is whom a conversation asks: the one who is subscribed to it, or for a sub-agent the person of the
// conversation that it works for.
type Person struct {
	asker    tools.Asker // of the conversation that this one works for; nil for a person's own
	label    string      // names who asks
	headless bool        // nobody is subscribed
	of       interface{ Private() bool }
	emit     func(event.Event)
	life     context.Context // ends with the conversation, or when the person leaves
	leave    context.CancelCauseFunc

	questions replies[tools.Answer]
	asks      replies[any] // a string or a tools.FormAnswer
}

// Person is whom the conversation asks.
func (c *Conversation) Person() *Person { return c.person }

// Leave says that nobody answers from now on: questions that wait and those to come end as in a run without a person.
func (p *Person) Leave() { p.leave(ErrNoPerson) }

// gone reports whether the person has left.
func (p *Person) gone() bool { return errors.Is(context.Cause(p.life), ErrNoPerson) }

// Ask publishes an approval question to the subscribers and waits for Answer. It makes a person a
// tools.Asker, also for the scripts and sub-agents that work for the conversation.
func (p *Person) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	if p.asker != nil {
		return p.asker.Ask(ctx, q)
	}
	if p.gone() {
		return tools.Answer{}, ErrNoPerson
	}
	settle := func(a tools.Answer) tools.Answer { return a }
	if p.of.Private() {
		q, settle = unlasting(q)
	}
	a, err := p.questions.await(ctx, p.life, p.emit,
		func(id string) event.Event { return event.ApprovalAsked{ID: id, Question: q} },
		func(id, by string) event.Event { return event.ApprovalClosed{ID: id, By: by} })
	if err != nil {
		return tools.Answer{}, err
	}
	return settle(a), nil
}

// ErrNoPerson is returned when nobody can answer a question.
var ErrNoPerson = errors.New("there is no one to ask")

// AskPerson puts a question of the ask tool to the person and waits for the reply.
func (p *Person) AskPerson(ctx context.Context, label, text string, options []string) (string, error) {
	if parent, ok := p.asker.(crew.Person); ok { // a sub-agent asks the same person
		return parent.AskPerson(ctx, cmp.Or(label, p.label), text, options)
	}
	if p.headless || p.gone() {
		return "", ErrNoPerson
	}
	reply, err := p.await(ctx, func(id string) event.Event {
		return event.AskPerson{ID: id, Label: label, Text: text, Options: options}
	})
	said, _ := reply.(string)
	return said, err
}

// AskForm puts a form to the person and waits until it is filled in, declined or cancelled.
func (p *Person) AskForm(ctx context.Context, f tools.Form) (tools.FormAnswer, error) {
	if parent, ok := p.asker.(crew.Person); ok {
		return parent.AskForm(ctx, f)
	}
	if p.headless || p.gone() {
		return tools.FormAnswer{}, ErrNoPerson
	}
	reply, err := p.await(ctx, func(id string) event.Event { return event.AskForm{ID: id, Form: f} })
	answer, _ := reply.(tools.FormAnswer)
	return answer, err
}

// await puts a question to the person and waits for its reply: a string or a tools.FormAnswer.
func (p *Person) await(ctx context.Context, question func(id string) event.Event) (any, error) {
	return p.asks.await(ctx, p.life, p.emit, question, func(id, by string) event.Event { return event.AskClosed{ID: id, By: by} })
}

// Answer settles an approval question. An unknown ID is an error: the question was settled before.
func (c *Conversation) Answer(id string, a tools.Answer) error { return c.From("").Answer(id, a) }

// Reply settles a question of the ask tool.
func (c *Conversation) Reply(id, text string) error { return c.From("").Reply(id, text) }

// Fill settles a form.
func (c *Conversation) Fill(id string, a tools.FormAnswer) error { return c.From("").Fill(id, a) }

// From returns who may settle questions under a name that all readers see; "" is the person at the terminal. The first
// answer counts.
func (c *Conversation) From(name string) Answers {
	return Answers{&c.person.questions, &c.person.asks, name}
}

// Answers settle the questions of a conversation on behalf of somebody.
type Answers struct {
	questions *replies[tools.Answer]
	asks      *replies[any]
	name      string
}

// Answer settles an approval question. An unknown ID is an error: the question was settled before.
func (a Answers) Answer(id string, answer tools.Answer) error {
	return a.questions.settle(id, a.name, answer)
}

// Reply settles a question of the ask tool.
func (a Answers) Reply(id, text string) error { return a.asks.settle(id, a.name, text) }

// Fill settles a form.
func (a Answers) Fill(id string, answer tools.FormAnswer) error {
	return a.asks.settle(id, a.name, answer)
}

// replies are the questions that wait for a reply of type T, by ID. The zero value is ready to use.
type replies[T any] struct {
	mu      sync.Mutex
	waiting map[string]chan given[T]
}

// given is a reply, and who gave it.
type given[T any] struct {
	reply T
	by    string
}

// await emits a question under a fresh ID, and waits for its reply until ctx or the conversation's life ends.
func (r *replies[T]) await(ctx, life context.Context, emit func(event.Event), asked func(id string) event.Event, closed func(id, by string) event.Event) (reply T, err error) {
	id, ch := uuid.NewString(), make(chan given[T], 1)
	r.mu.Lock()
	if r.waiting == nil {
		r.waiting = map[string]chan given[T]{}
	}
	r.waiting[id] = ch
	r.mu.Unlock()
	emit(asked(id))
	var got given[T]
	defer func() { emit(closed(id, got.by)) }()
	defer r.take(id)
	defer tools.Asking(ctx)()
	select {
	case got = <-ch:
		return got.reply, nil
	case <-ctx.Done():
		return reply, ctx.Err()
	case <-life.Done():
		return reply, context.Cause(life)
	}
}

// take removes a question. It returns nil for one that was settled before.
func (r *replies[T]) take(id string) chan<- given[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	ch := r.waiting[id]
	delete(r.waiting, id)
	return ch
}

func (r *replies[T]) settle(id, by string, reply T) error {
	ch := r.take(id)
	if ch == nil {
		return errors.New("this question is closed")
	}
	ch <- given[T]{reply, by}
	return nil
}
