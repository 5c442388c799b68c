package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/session"
	"jcode/tasks"
	"jcode/tasks/clone"
	"jcode/tools"
)

// tree opens the worktree of the attempt: a fresh one of the base, or that of the session which is continued.
func (r *taskRun) tree(ctx context.Context, home *app) (*beside, error) {
	t := r.task
	if t.Continue {
		return openTaskTree(ctx, home, t)
	}
	if t.Dir != "" && (t.Repo == "" || filepath.Dir(t.Dir) == besidesOf(home)) { // that of another machine is swept there
		if err := removeTaskTree(ctx, home, t); err != nil {
			return nil, fmt.Errorf("what an attempt before left can't be removed: %w", err)
		}
	}
	if t.Base == "" { // of a schedule
		base, err := worktree.Head(ctx, home.git, home.root)
		if err == nil {
			err = r.store.Based(ctx, t.ID, t.Attempt, base)
		}
		if err != nil {
			return nil, err
		}
		t.Base, r.task.Base = base, base
	}
	dir, branch := freePlace(ctx, home, besidesOf(home), fmt.Sprintf("task-%d", t.ID))
	// It is noted before it is made: an attempt that dies in between leaves nothing that nobody knows of.
	if err := r.store.Began(ctx, t.ID, t.Attempt, "", dir, branch); err != nil {
		return nil, err
	}
	tree, err := worktree.Add(ctx, worktree.Options{Git: home.git, Root: home.root, Dir: dir, Branch: branch, Commit: t.Base, Copy: home.config.Worktree.Copy})
	if err != nil {
		if t.Base != "" && strings.Contains(err.Error(), t.Base) {
			err = fmt.Errorf("the commit %s that it begins with is gone from %s: add the task again (%w)", t.Base, shownPlace(t), err)
		}
		return nil, err
	}
	r.task.Dir, r.task.Branch = dir, branch
	return besideOf(ctx, home, tree)
}

// openTaskTree opens the worktree that a task left.
func openTaskTree(ctx context.Context, home *app, t tasks.Task) (*beside, error) {
	if filepath.Dir(t.Dir) != besidesOf(home) {
		return nil, fmt.Errorf("%s is no worktree of %s", t.Dir, home.root)
	}
	tree, err := worktree.Find(ctx, home.git, home.root, t.Dir)
	if err == nil {
		tree.Copied = home.config.Worktree.Copy
		tree, err = worktree.Reopen(ctx, tree)
	}
	if err == nil {
		err = tree.Ready(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%w (jcode tasks retry %d begins again from the base)", err, t.ID)
	}
	return besideOf(ctx, home, tree)
}

func besideOf(ctx context.Context, home *app, tree worktree.Tree) (*beside, error) {
	f := *home.flags
	site, err := openTree(ctx, home, filepath.Base(tree.Dir), tree, &f, false)
	if err != nil {
		return nil, err
	}
	b := &beside{site, home.root, home.store, home.std.Err}
	site.app.beside = standing{b.name, tree.Dir, tree.Branch, home.root, home.cwd, b.settled, b.merge}
	return b, nil
}

// taken merges the changes into the checkout.
func (b *beside) taken(ctx context.Context) (said string, left []string, err error) {
	return b.Merge(ctx, tools.Call{Name: "worktree", Caller: tools.Caller{Origin: tools.OriginPerson}})
}

// settle commits what was done, and notes the result. Where the attempt is not the task's any more, that changes
// nothing.
func (r *taskRun) settle(ctx context.Context, b *beside, end event.TurnEnd) error {
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
	commit, err := b.tree.Commit(ctx, commitMessage(t.Prompt, end.Text), "Jcode-Task: "+strconv.FormatInt(t.ID, 10), "Jcode-Session: "+t.Session, "Jcode-Cost: "+text.Spent(now.Cost, false))
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
		out, err := r.result(ctx, b, commit, false)
		if err != nil {
			why += "; and " + err.Error()
		}
		return r.store.FailWith(ctx, t.ID, t.Attempt, out, why)
	}
	summary := strings.TrimSpace(end.Text)
	if t.Push != "" && commit != "" {
		pushed, err := r.push(ctx, b, commit)
		if err != nil {
			out, fault := r.result(ctx, b, commit, false)
			return r.store.FailWith(ctx, t.ID, t.Attempt, out, fmt.Sprintf("%v (jcode tasks take %d merges it; git push %s %s, in the folder, pushes it)", errors.Join(err, fault), t.ID, t.Push, t.Branch))
		}
		summary = strings.TrimSpace(summary + "\n\n" + pushed)
	}
	out, err := r.result(ctx, b, commit, t.Push != "")
	if err != nil {
		return r.store.FailWith(ctx, t.ID, t.Attempt, out, err.Error())
	}
	return r.store.Done(ctx, t.ID, t.Attempt, out, summary)
}

// push pushes what came out. The branch there is named after the attempt's session too: others have a task of the same
// number, and an attempt that dies before its result counts may have pushed already.
func (r *taskRun) push(ctx context.Context, b *beside, commit string) (said string, _ error) {
	branch := fmt.Sprintf("jcode/task-%d-%s", r.task.ID, session.ShortID(r.task.Session))
	var err error
	if r.task.Repo != "" {
		err = clone.In(b.main.paths.Data).Push(ctx, r.task.Repo, commit, branch)
	} else {
		err = worktree.Push(ctx, b.main.git, b.main.root, r.task.Push, commit, branch)
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
