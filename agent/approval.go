package agent

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"

	"jcode/tools"
)

// Ask publishes an approval question to the subscribers and waits for Answer. It makes a conversation a
// tools.Asker, also for the scripts and sub-agents that work for it.
func (c *Conversation) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	if c.opt.Asker != nil {
		return c.opt.Asker.Ask(ctx, q)
	}
	id, ch := uuid.NewString(), make(chan tools.Answer, 1)
	settle := func(a tools.Answer) tools.Answer { return a }
	if c.Private() {
		q, settle = unlasting(q)
	}
	c.mu.Lock()
	c.questions[id] = ch
	c.mu.Unlock()
	c.emit(ApprovalAsked{ID: id, Question: q})
	defer c.emit(ApprovalClosed{ID: id})
	defer func() {
		c.mu.Lock()
		delete(c.questions, id)
		c.mu.Unlock()
	}()
	select {
	case a := <-ch:
		return settle(a), nil
	case <-ctx.Done():
		return tools.Answer{}, ctx.Err()
	case <-c.ctx.Done():
		return tools.Answer{}, c.ctx.Err()
	}
}

// ErrNoPerson is returned when nobody can answer a question.
var ErrNoPerson = errors.New("there is no one to ask")

// AskPerson puts a question of the ask tool to the person and waits for the reply.
func (c *Conversation) AskPerson(ctx context.Context, label, text string, options []string) (string, error) {
	if c.opt.Headless {
		return "", ErrNoPerson
	}
	if parent, ok := c.opt.Asker.(person); ok { // a sub-agent asks the same person
		return parent.AskPerson(ctx, cmp.Or(label, c.opt.Label), text, options)
	}
	reply, err := c.await(ctx, func(id string) Event { return AskPerson{ID: id, Label: label, Text: text, Options: options} })
	said, _ := reply.(string)
	return said, err
}

// person answers a sub-agent's questions.
type person interface {
	AskPerson(ctx context.Context, label, text string, options []string) (string, error)
	AskForm(ctx context.Context, f tools.Form) (tools.FormAnswer, error)
}

// AskForm puts a form to the person and waits until it is filled in, declined or cancelled.
func (c *Conversation) AskForm(ctx context.Context, f tools.Form) (tools.FormAnswer, error) {
	if c.opt.Headless {
		return tools.FormAnswer{}, ErrNoPerson
	}
	if parent, ok := c.opt.Asker.(person); ok {
		return parent.AskForm(ctx, f)
	}
	reply, err := c.await(ctx, func(id string) Event { return AskForm{ID: id, Form: f} })
	answer, _ := reply.(tools.FormAnswer)
	return answer, err
}

// await emits the question under a fresh ID and waits for its reply: a string or a tools.FormAnswer.
func (c *Conversation) await(ctx context.Context, question func(id string) Event) (any, error) {
	id, ch := uuid.NewString(), make(chan any, 1)
	c.mu.Lock()
	c.asks[id] = ch
	c.mu.Unlock()
	c.emit(question(id))
	defer c.emit(AskClosed{ID: id})
	defer func() {
		c.mu.Lock()
		delete(c.asks, id)
		c.mu.Unlock()
	}()
	select {
	case reply := <-ch:
		return reply, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	}
}

// Answer settles an approval question. An unknown ID is an error: the question was settled before.
func (c *Conversation) Answer(id string, a tools.Answer) error {
	c.mu.Lock()
	ch := c.questions[id]
	delete(c.questions, id)
	c.mu.Unlock()
	if ch == nil {
		return errors.New("this question is closed")
	}
	ch <- a
	return nil
}

// Reply settles a question of the ask tool.
func (c *Conversation) Reply(id, text string) error { return c.reply(id, text) }

// Fill settles a form.
func (c *Conversation) Fill(id string, a tools.FormAnswer) error { return c.reply(id, a) }

func (c *Conversation) reply(id string, said any) error {
	c.mu.Lock()
	ch := c.asks[id]
	delete(c.asks, id)
	c.mu.Unlock()
	if ch == nil {
		return errors.New("this question is closed")
	}
	ch <- said
	return nil
}
