package agent

import (
	"context"
	"encoding/json"

	"jcode/agent/crew"
	"jcode/agent/event"
	"jcode/tools"
)

// desk is what the tools todo, ask, task and agent need of a conversation. It implements tools.Desk.
type desk struct{ c *Conversation }

// SetTodo replaces the plan, stores it with the session and shows it.
func (d desk) SetTodo(ctx context.Context, items []tools.TodoItem) error {
	raw, err := json.Marshal(items)
	if err != nil {
		return err
	}
	if err := d.c.opt.Store.Todos().Set(ctx, d.c.ID(), raw); err != nil {
		return err
	}
	d.c.mu.Lock()
	d.c.todo = items
	d.c.mu.Unlock()
	d.c.emit(event.TodoChanged{Items: items})
	return nil
}

// AskPerson puts a question of the ask tool to the person.
func (d desk) AskPerson(ctx context.Context, label, text string, options []string) (string, error) {
	return d.c.person.AskPerson(ctx, label, text, options)
}

// RunTask has a sub-agent work on a prompt.
func (d desk) RunTask(ctx context.Context, call tools.Call, task tools.Task) (tools.Result, error) {
	return d.c.agents.Run(ctx, call, task)
}

// PlanAgents plans what an order to sub-agents would change.
func (d desk) PlanAgents(ctx context.Context, order tools.AgentOrder) (tools.Plan, error) {
	return d.c.agents.Plan(ctx, order)
}

// OrderAgents carries out an order to the sub-agents of the conversation.
func (d desk) OrderAgents(ctx context.Context, call tools.Call, order tools.AgentOrder) (tools.Result, error) {
	return d.c.agents.Order(ctx, call, order)
}

// Todo returns the current plan.
func (c *Conversation) Todo() []tools.TodoItem {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.todo
}

// Agents are the sub-agents of the conversation.
func (c *Conversation) Agents() *crew.Crew { return c.agents }

// Scope is the scope in force; nil means everything.
func (c *Conversation) Scope() *tools.Scope {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings.scope
}
