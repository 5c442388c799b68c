package workercli

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"jcode/agent"
	"jcode/tasks"
	"jcode/tools"
)

// answerLook is how often a question of a task is looked at for its answer.
const answerLook = 300 * time.Millisecond

// defaultPatience is how long a task waits for an answer in its slot.
const defaultPatience = 60 * time.Second

// asker puts the questions of a task to whoever looks at it.
type asker struct {
	store    *tasks.Store
	task     tasks.Task
	patience time.Duration
	park     func() // ends the turn, which goes on when there is an answer
}

// Ask implements tools.Asker. A yes allows exactly this call, once.
func (a *asker) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	var args bytes.Buffer
	if json.Compact(&args, q.Arguments) != nil {
		args.Reset()
		args.Write(q.Arguments)
	}
	title := q.Heading()
	ask := tasks.Question{Kind: tasks.AsksCall, Tool: q.Tool, Title: title, Command: q.Command, Diff: q.Diff, Details: q.Details, Arguments: args.String()}
	got, err := a.await(ctx, ask)
	if err != nil {
		return tools.Answer{}, err
	}
	if got.Answer == tasks.Yes {
		return tools.Answer{Scope: tools.AnswerOnce, Option: -1}, nil
	}
	return tools.Answer{Scope: tools.AnswerNo, Option: -1, Word: got.Word}, nil
}

// AskPerson implements crew.Person.
func (a *asker) AskPerson(ctx context.Context, label, question string, options []string) (string, error) {
	if label != "" {
		question = label + ": " + question
	}
	got, err := a.await(ctx, tasks.Question{Kind: tasks.AsksReply, Title: question, Options: options})
	return got.Word, err
}

// AskForm implements crew.Person: nobody fills in forms of a task.
func (a *asker) AskForm(context.Context, tools.Form) (tools.FormAnswer, error) {
	return tools.FormAnswer{}, agent.ErrNoPerson
}

// await returns the answer to a question: one that was given before to exactly the same, or the next one.
func (a *asker) await(ctx context.Context, ask tasks.Question) (tasks.Question, error) {
	given, err := a.store.Questions(ctx, a.task.ID)
	if err != nil {
		return ask, err
	}
	for _, q := range given {
		if !q.Used && q.Answer != "" && q.Same(ask) {
			if got, ok, err := a.store.Take(ctx, a.task.Attempt, q.ID); err != nil || ok {
				return got, err
			}
		}
	}
	ask.Task = a.task.ID
	id, err := a.store.Ask(ctx, a.task.Attempt, ask)
	if err != nil {
		return ask, err
	}
	patience := a.patience
	if patience <= 0 {
		patience = defaultPatience
	}
	tick, parks := time.NewTicker(answerLook), time.NewTimer(patience)
	defer tick.Stop()
	defer parks.Stop()
	for {
		select {
		case <-tick.C:
			if got, ok, err := a.store.Take(ctx, a.task.Attempt, id); err != nil || ok {
				return got, err
			}
		case <-parks.C:
			a.park()
		case <-ctx.Done():
			return ask, ctx.Err()
		}
	}
}
