package workercli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/session"
	"jcode/tasks"
	"jcode/tasks/clone"
)

// settle commits what was done, and notes the result. Where the attempt is not the task's any more, that changes
// nothing.
func (r *attempt) settle(ctx context.Context, home Home, at Place, end event.TurnEnd) error {
	ctx = context.WithoutCancel(ctx)
	t, cause := r.task, r.ended()
	switch cause {
	case causeParked:
		return nil
	case causeStopped:
		return r.store.Stopped(ctx, t.ID, t.Attempt)
	}
	if t.Cancel = cause == causeCancelled; !t.Cancel && end.Reason == event.StopError {
		return r.store.Again(ctx, t.ID, t.Attempt, end.Error)
	}
	now, err := r.store.Get(ctx, t.ID)
	if err != nil {
		return err
	}
	if now.Attempt != t.Attempt {
		return tasks.ErrOver
	}
	commit, err := at.Tree.Commit(ctx, commitMessage(t.Prompt, end.Text), "Jcode-Task: "+strconv.FormatInt(t.ID, 10), "Jcode-Session: "+t.Session, "Jcode-Cost: "+text.Spent(now.Cost, false))
	if err != nil {
		r.stays = true
		return r.store.Fail(ctx, t.ID, t.Attempt, err.Error())
	}
	why := end.Unanswered()
	switch {
	case t.Cancel:
		why = "cancelled"
	case cause == causeTime:
		why = fmt.Sprintf("its time of %s is over", t.MaxTime)
	case end.Reason == event.StopLimit:
		why = end.Error
	case end.Reason == event.StopInterrupted:
		why = "interrupted"
	}
	if why != "" {
		out, err := r.result(ctx, home, at, commit, false)
		if err != nil {
			why += "; and " + err.Error()
		}
		return r.store.FailWith(ctx, t.ID, t.Attempt, out, why)
	}
	summary := strings.TrimSpace(end.Text)
	if t.Push != "" && commit != "" {
		pushed, err := r.push(ctx, home, commit)
		if err != nil {
			out, fault := r.result(ctx, home, at, commit, false)
			return r.store.FailWith(ctx, t.ID, t.Attempt, out, fmt.Sprintf("%v (jcode tasks take %d merges it; git push %s %s, in the folder, pushes it)", errors.Join(err, fault), t.ID, t.Push, t.Branch))
		}
		summary = strings.TrimSpace(summary + "\n\n" + pushed)
	}
	out, err := r.result(ctx, home, at, commit, t.Push != "")
	if err != nil {
		return r.store.FailWith(ctx, t.ID, t.Attempt, out, err.Error())
	}
	return r.store.Done(ctx, t.ID, t.Attempt, out, summary)
}

// push pushes what came out. The branch there is named after the attempt's session too: others have a task of the same
// number, and an attempt that dies before its result counts may have pushed already.
func (r *attempt) push(ctx context.Context, home Home, commit string) (said string, _ error) {
	branch := fmt.Sprintf("jcode/task-%d-%s", r.task.ID, session.ShortID(r.task.Session))
	var err error
	if r.task.Repo != "" {
		err = clone.In(r.data).Push(ctx, r.task.Repo, commit, branch)
	} else {
		err = worktree.Push(ctx, home.Git, home.Root, r.task.Push, commit, branch)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Pushed to %s as %s.", r.task.Push, branch), nil
}

// maxSubject is the length up to which a line can be the subject of a commit.
const maxSubject = 90

// commitMessage returns the model's words about its work as the message of a commit.
func commitMessage(prompt, said string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	first = strings.TrimSpace(strings.Trim(first, "#*`"))
	if first == "" || len(first) > maxSubject {
		first = text.Truncate(text.Headline(prompt), 70, "…")
		return first + "\n\n" + strings.TrimSpace(said) + "\n"
	}
	_, rest, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if rest = strings.TrimSpace(rest); rest != "" {
		first += "\n\n" + rest
	}
	return first + "\n"
}
