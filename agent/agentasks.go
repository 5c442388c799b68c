package agent

import (
	"context"
	"slices"

	"jcode/agent/roster"
	"jcode/tools"
)

// top returns the conversation that the person is in.
func (c *Conversation) top() *Conversation {
	for c.parent != nil {
		c = c.parent
	}
	return c
}

// asksFor forwards an agent's questions to the person of the conversation that it works for.
type asksFor struct {
	a *agents
	m *member
}

func (f *asksFor) name() string {
	state, _ := f.a.all.Get(f.m)
	return state.Name
}

// place names the agent that asks and the files it works in.
func (f *asksFor) place() string {
	state, w := f.a.all.Get(f.m)
	switch {
	case state.Dir != "":
		return "the agent " + state.Name + ", in its worktree " + state.Dir
	case w.child != nil:
		return "the agent " + state.Name + ", in " + w.child.opt.Cwd
	}
	return "the agent " + state.Name
}

func (f *asksFor) waiting() (done func()) {
	f.a.all.Change(f.m, func(s *roster.State, _ *worker) { s.Status = roster.Waiting })
	return func() {
		f.a.all.Change(f.m, func(s *roster.State, _ *worker) {
			if s.Status == roster.Waiting {
				s.Status = roster.Working
			}
		})
	}
}

// Ask implements tools.Asker.
func (f *asksFor) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	defer f.waiting()()
	if q.Label == "" {
		q.Label = f.name()
	}
	q.Details = append(slices.Clip(q.Details), f.place())
	return f.a.c.top().Ask(ctx, q)
}

// AskPerson puts a question of the ask tool.
func (f *asksFor) AskPerson(ctx context.Context, label, question string, options []string) (string, error) {
	defer f.waiting()()
	return f.a.c.top().AskPerson(ctx, label, question+"\n\n("+f.place()+")", options)
}

// AskForm forwards a form.
func (f *asksFor) AskForm(ctx context.Context, form tools.Form) (tools.FormAnswer, error) {
	defer f.waiting()()
	if form.From != "" {
		form.From += ", "
	}
	form.From += f.place()
	return f.a.c.top().AskForm(ctx, form)
}

// awaited puts the questions of an agent whose call waits for it.
type awaited struct {
	c     *Conversation // that it works for
	child *Conversation // set before its first prompt
}

func (w *awaited) place() string { return "the agent " + w.child.opt.Label + ", in " + w.child.opt.Cwd }

// Ask implements tools.Asker.
func (w *awaited) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	q.Details = append(slices.Clip(q.Details), w.place())
	return w.c.Ask(ctx, q)
}

// AskPerson puts a question of the ask tool.
func (w *awaited) AskPerson(ctx context.Context, label, question string, options []string) (string, error) {
	return w.c.AskPerson(ctx, label, question+"\n\n("+w.place()+")", options)
}

// AskForm puts a form.
func (w *awaited) AskForm(ctx context.Context, form tools.Form) (tools.FormAnswer, error) {
	if form.From != "" {
		form.From += ", "
	}
	form.From += w.place()
	return w.c.AskForm(ctx, form)
}
