package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/tasks"
	"jcode/tasks/queue"
)

type tasksDiffCmd struct {
	ID taskID `arg:"" help:"The task's number."`
}

// Run prints what a task changed.
func (c *tasksDiffCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		t, err := store.Get(ctx, int64(c.ID))
		if err != nil {
			return err
		}
		if t.Branch == "" {
			return console.Usage("task %d has no branch: %s", t.ID, whyNoBranch(t))
		}
		in, to := inTaskFolder, t.Branch
		if !store.Here(t) {
			to = t.Commit
			in = func(ctx context.Context, f *flags, std Streams, t tasks.Task, do func(a *app) error) error {
				return inOwnRepository(ctx, f, std, store, t, do)
			}
		}
		return in(ctx, f, std, t, func(a *app) error {
			diff, err := worktree.Between(ctx, a.git, a.root, taskBase(t), to)
			if err != nil {
				return console.Usage("task %d: %w", t.ID, err)
			}
			if diff != "" {
				diff += "\n"
			}
			_, err = fmt.Fprint(std.Out, diff)
			return err
		})
	})
}

func whyNoBranch(t tasks.Task) string {
	if !t.Taken.IsZero() {
		return "it was taken"
	}
	return "it is " + string(t.State)
}

// taskBase names the commit that a task began with.
func taskBase(t tasks.Task) string {
	if t.Base == "" { // one of a schedule
		return "HEAD"
	}
	return t.Base
}

// inTaskFolder opens jcode in the folder of a task.
func inTaskFolder(ctx context.Context, f *flags, std Streams, t tasks.Task, do func(a *app) error) error {
	own := *f
	own.Print, own.Mode, own.Worktree, own.Continue, own.Resume = true, "", "", false, "" // nothing of it is watched
	found, err := findPaths(std)
	if err != nil {
		return err
	}
	a, err := newAppIn(ctx, &own, std, taskFolder(found.Data, t))
	if err != nil {
		return fmt.Errorf("the folder of task %d: %w", t.ID, err)
	}
	defer a.close()
	return do(a)
}

type tasksAnswerCmd struct {
	ID     taskID   `arg:"" help:"The task's number."`
	Answer []string `arg:"" optional:"" help:"yes, no, or the reply to a question of the model; without one the question is shown."`
	Word   string   `help:"Why not: goes to the model with a no." placeholder:"TEXT"`
}

// Run answers the first open question of a task.
func (c *tasksAnswerCmd) Run(ctx context.Context, _ *flags, std Streams) error {
	return withQueue(ctx, std, func(store *tasks.Store, q *queue.Queue) error {
		ask, err := openQuestion(ctx, store, int64(c.ID))
		if err != nil {
			return err
		}
		for _, row := range ask.Rows() {
			fmt.Fprintln(std.Err, text.Visible(row))
		}
		said := strings.TrimSpace(strings.Join(c.Answer, " "))
		if said == "" {
			return console.Usage("say yes or no: jcode tasks answer %d yes", c.ID)
		}
		answer, word, err := readAnswer(ask, said, c.Word)
		if err != nil {
			return err
		}
		if err := store.Answer(ctx, q, ask.ID, answer, word); err != nil {
			return console.Usage("%w", err)
		}
		fmt.Fprintln(std.Err, "→ "+text.Visible(strings.TrimSpace(answer+" "+word)))
		return nil
	})
}

// openQuestion returns the first question of a task that nobody answered.
func openQuestion(ctx context.Context, store *tasks.Store, id int64) (tasks.Question, error) {
	t, err := store.Get(ctx, id)
	if err != nil {
		return tasks.Question{}, err
	}
	list, err := store.Questions(ctx, id)
	for _, ask := range list {
		if ask.Answer == "" && t.State == tasks.Asks {
			return ask, nil
		}
	}
	if err == nil {
		err = console.Usage("task %d waits for no answer: it is %s", id, t.State)
	}
	return tasks.Question{}, err
}

// readAnswer turns a person's words into the answer to a question.
func readAnswer(ask tasks.Question, said, why string) (answer, word string, err error) {
	if ask.Kind == tasks.AsksReply {
		if n, err := strconv.Atoi(said); err == nil && n >= 1 && n <= len(ask.Options) {
			said = ask.Options[n-1]
		}
		return tasks.Said, said, nil
	}
	first, rest, _ := strings.Cut(said, " ")
	switch strings.ToLower(strings.Trim(first, ",.:;")) {
	case "y", "yes":
		if rest == "" && why == "" {
			return tasks.Yes, "", nil
		}
		return "", "", console.Usage("a yes allows exactly what is asked: leave the other words out")
	case "n", "no":
		return tasks.No, strings.TrimSpace(rest + " " + why), nil
	}
	return "", "", console.Usage("answer yes or no, not %q", said)
}

type tasksCancelCmd struct {
	ID []taskID `arg:"" help:"The tasks' numbers."`
}

// Run ends tasks.
func (c *tasksCancelCmd) Run(ctx context.Context, _ *flags, std Streams) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		for _, id := range taskIDs(c.ID) {
			t, err := store.Cancel(ctx, id)
			if err != nil {
				return console.Usage("%w", err)
			}
			if t.Cancel {
				fmt.Fprintf(std.Err, "jcode: the worker of %s is told to end it\n", shownTask(t))
			}
		}
		return nil
	})
}

type tasksRetryCmd struct {
	ID []taskID `arg:"" help:"The tasks' numbers."`
}

// Run queues failed tasks again.
func (c *tasksRetryCmd) Run(ctx context.Context, _ *flags, std Streams) error {
	return withQueue(ctx, std, func(store *tasks.Store, q *queue.Queue) error {
		for _, id := range taskIDs(c.ID) {
			if err := store.Retry(ctx, q, id); err != nil {
				return console.Usage("%w", err)
			}
		}
		return nil
	})
}

type tasksRmCmd struct {
	ID  []taskID `arg:"" help:"The tasks' numbers."`
	Yes bool     `short:"y" help:"Remove also what was not taken, without asking."`
}

// Run forgets tasks.
func (c *tasksRmCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		for _, id := range taskIDs(c.ID) {
			t, err := store.Get(ctx, id)
			if err != nil {
				return err
			}
			if t.Commit != "" && t.Taken.IsZero() && !c.Yes && !console.Confirm(std.In, std.Out, fmt.Sprintf("What %s changed was not taken and goes with it. Remove it?", shownTask(t))) {
				return console.Usage("task %d stays: --yes removes it with what it changed", id)
			}
			if err := store.Remove(ctx, id); err != nil {
				return console.Usage("%w", err)
			}
			if t.Dir == "" || !store.Here(t) { // a worker sweeps what it has of those of addresses
				continue
			}
			if err := inTaskFolder(ctx, f, std, t, func(a *app) error { return removeTaskTree(ctx, a, t) }); err != nil {
				fmt.Fprintf(std.Err, "jcode: task %d is removed, but not its worktree %s: %v\n", id, text.Visible(t.Dir), err)
			}
		}
		return nil
	})
}

// removeTaskTree removes the worktree and the branch of a task.
func removeTaskTree(ctx context.Context, a *app, t tasks.Task) error {
	if filepath.Dir(t.Dir) != besidesOf(a) {
		return fmt.Errorf("%s is no worktree of %s", t.Dir, a.root)
	}
	return removeTree(ctx, worktree.Tree{Git: a.git, Root: a.root, Dir: t.Dir, Branch: t.Branch}, filepath.Base(t.Dir))
}

type tasksTakeCmd struct {
	ID     taskID `arg:"" help:"The task's number."`
	Bundle string `help:"Write what came out to this file, as a git bundle, instead of merging it." placeholder:"FILE"`
}

// Run merges what a task changed.
func (c *tasksTakeCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		t, err := store.Get(ctx, int64(c.ID))
		if err != nil {
			return err
		}
		take := func() (string, error) { return takeTask(ctx, f, std, store, t) }
		if c.Bundle != "" {
			take = func() (string, error) { return saveBundle(ctx, store, t, c.Bundle) }
		}
		said, err := take()
		if err != nil {
			return console.Usage("task %d: %w", t.ID, err)
		}
		fmt.Fprintln(std.Out, text.Visible(said))
		return nil
	})
}

// takeTask merges what a task changed into the folder that it was added for, or into the one of this run if it worked
// elsewhere, as files that are not committed. What is
// merged whole needs its worktree no more.
func takeTask(ctx context.Context, f *flags, std Streams, store *tasks.Store, t tasks.Task) (said string, err error) {
	switch {
	case !t.Taken.IsZero():
		return "", errors.New("it was taken before")
	case t.State != tasks.Done && t.State != tasks.Failed:
		return "", fmt.Errorf("it is %s: there is nothing to take yet", t.State)
	case t.Commit == "" || t.Dir == "" && store.Here(t):
		return "", errors.New("nothing came out of it that could be merged")
	case !store.Here(t):
		return takeBundle(ctx, f, std, store, t)
	}
	err = inTaskFolder(ctx, f, std, t, func(a *app) error {
		b, err := openTaskTree(ctx, a, t)
		if err != nil {
			return err
		}
		var left []string
		said, left, err = b.taken(ctx)
		b.Close()
		if err != nil {
			return err
		}
		if len(left) > 0 {
			said += fmt.Sprintf("\nnot merged: %s\nThe worktree stays until jcode tasks rm %d: %s", strings.Join(left, ", "), t.ID, t.Dir)
			return store.Took(ctx, t.ID, true)
		}
		return errors.Join(removeTaskTree(ctx, a, t), store.Took(ctx, t.ID, false))
	})
	return said, err
}

type tasksSchedulesCmd struct {
	Remove taskID `help:"Remove the schedule with this number; its tasks stay." placeholder:"ID"`
}

// Run lists schedules.
func (c *tasksSchedulesCmd) Run(ctx context.Context, _ *flags, std Streams) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		if c.Remove != 0 {
			return console.AsUsage(store.RemoveSchedule(ctx, int64(c.Remove)))
		}
		list, err := store.Schedules(ctx)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			fmt.Fprintln(std.Err, `no schedules: jcode tasks add "…" --every 24h makes one`)
			return nil
		}
		w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tWHEN\tNEXT\tLAST\tTASK")
		for _, sc := range list {
			when := sc.Cron + " " + sc.Zone
			if sc.Cron == "" {
				when = "every " + sc.Every.String()
			}
			last := "-"
			if !sc.Last.IsZero() {
				last = text.Ago(time.Since(sc.Last))
			}
			task := text.Truncate(text.Headline(text.Visible(sc.Task.Prompt)), 50, "…")
			if sc.Note != "" {
				task += " · " + text.Visible(sc.Note)
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", sc.ID, when, sc.Next.Format("2006-01-02 15:04 MST"), last, task)
		}
		return w.Flush()
	})
}
