package crew

import (
	"context"
	"slices"

	"jcode/agent/roster"
	"jcode/tools"
)

// asks forwards an agent's questions to a person, with a word on who asks and where it works. A member is shown
// as waiting meanwhile; an agent whose call waits for it is none.
type asks struct {
	to     Person
	crew   *Crew
	member *member
	opened Opened // without a member: set before its first prompt
}

// place names the agent that asks and the files it works in.
func (a *asks) place() string {
	if a.member == nil {
		return "the agent " + a.opened.Label + ", in " + a.opened.Child.State().Cwd
	}
	state, w := a.crew.all.Get(a.member)
	switch {
	case state.Dir != "":
		return "the agent " + state.Name + ", in its worktree " + state.Dir
	case w.child != nil:
		return "the agent " + state.Name + ", in " + w.child.State().Cwd
	}
	return "the agent " + state.Name
}

func (a *asks) waiting() (done func()) {
	if a.member == nil {
		return func() {}
	}
	a.crew.all.Change(a.member, func(s *roster.State, _ *worker) { s.Status = roster.Waiting })
	return func() {
		a.crew.all.Change(a.member, func(s *roster.State, _ *worker) {
			if s.Status == roster.Waiting {
				s.Status = roster.Working
			}
		})
	}
}

// Ask implements tools.Asker.
func (a *asks) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	defer a.waiting()()
	if q.Label == "" && a.member != nil {
		state, _ := a.crew.all.Get(a.member)
		q.Label = state.Name
	}
	q.Details = append(slices.Clip(q.Details), a.place())
	return a.to.Ask(ctx, q)
}

// AskPerson puts a question of the ask tool.
func (a *asks) AskPerson(ctx context.Context, label, question string, options []string) (string, error) {
	defer a.waiting()()
	return a.to.AskPerson(ctx, label, question+"\n\n("+a.place()+")", options)
}

// AskForm forwards a form.
func (a *asks) AskForm(ctx context.Context, form tools.Form) (tools.FormAnswer, error) {
	defer a.waiting()()
	if form.From != "" {
		form.From += ", "
	}
	form.From += a.place()
	return a.to.AskForm(ctx, form)
}
