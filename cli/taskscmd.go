package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"jcode/cli/console"
	"jcode/cli/tasklist"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/tasks"
	"jcode/tasks/queue"
)

// tasksCmd works with tasks that wait for a worker.
type tasksCmd struct {
	List      tasksListCmd      `cmd:"" default:"withargs" help:"List the tasks, those that need you first."`
	Add       tasksAddCmd       `cmd:"" help:"Queue a task for a worker, or many from a file."`
	Show      tasksShowCmd      `cmd:"" help:"Print all that is known of a task."`
	Log       tasksLogCmd       `cmd:"" help:"Print the transcript of a task's session."`
	Diff      tasksDiffCmd      `cmd:"" help:"Print what a task changed."`
	Answer    tasksAnswerCmd    `cmd:"" help:"Answer the question that a task waits with."`
	Take      tasksTakeCmd      `cmd:"" help:"Merge what a task changed into its repository's folder."`
	Cancel    tasksCancelCmd    `cmd:"" help:"End a task."`
	Retry     tasksRetryCmd     `cmd:"" help:"Queue a task again that failed."`
	Rm        tasksRmCmd        `cmd:"" help:"Forget tasks, with their worktrees and branches."`
	Schedules tasksSchedulesCmd `cmd:"" help:"List schedules, or remove one."`
}

// withTasks opens the file of tasks for a command.
func withTasks(ctx context.Context, std Streams, f func(store *tasks.Store) error) error {
	store, err := openTasks(ctx, std)
	if err != nil {
		return err
	}
	err = f(store)
	if errors.Is(err, tasks.ErrNone) {
		err = console.Usage("%w", err)
	}
	return errors.Join(err, store.Close())
}

// withQueue opens the file of tasks with what carries them.
func withQueue(ctx context.Context, std Streams, f func(store *tasks.Store, q *queue.Queue) error) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		q, err := queue.Open(ctx, store)
		if err != nil {
			return err
		}
		return f(store, q)
	})
}

type tasksListCmd struct {
	Watch bool `help:"Show the list again whenever it changes, until ctrl+c."`
	JSON  bool `name:"json" help:"Print a JSON array."`
	Limit int  `short:"n" help:"At most N tasks that are over, and N that wait." default:"20" placeholder:"N"`
}

// Run lists tasks.
func (c *tasksListCmd) Run(ctx context.Context, _ *flags, std Streams) error {
	found, err := findPaths(std)
	if err != nil {
		return err
	}
	if !c.Watch && !tasks.Exists(whereTasks(found)) { // nothing is made to look at
		if c.JSON {
			return console.PrintJSON(std.Out, []tasklist.JSON{})
		}
		fmt.Fprintln(std.Err, `no tasks: jcode tasks add "…" queues one`)
		return nil
	}
	return withTasks(ctx, std, func(store *tasks.Store) error {
		if !c.Watch {
			return c.print(ctx, store, std)
		}
		changes := changesOf(ctx, store, found.Data)
		for {
			if std.OutIsTerminal {
				fmt.Fprint(std.Out, "\n")
			}
			if err := c.print(ctx, store, std); err != nil {
				return err
			}
			select {
			case <-changes:
			case <-ctx.Done():
				return nil
			}
		}
	})
}

func (c *tasksListCmd) print(ctx context.Context, store *tasks.Store, std Streams) error {
	var list []tasks.Task
	for _, st := range tasks.States() {
		some, err := store.List(ctx, c.Limit, st)
		if err != nil {
			return err
		}
		list = append(list, some...)
	}
	if c.JSON {
		return console.PrintJSON(std.Out, slicex.Map(list, tasklist.AsJSON))
	}
	counts, err := store.Counts(ctx)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		if err := tasklist.Table(std.Out, list, time.Now()); err != nil {
			return err
		}
	}
	fmt.Fprintln(std.Out, tasklist.Bar(counts))
	if alive, err := workersOf(ctx, store); err == nil && len(alive) == 0 && counts[tasks.Queued] > 0 {
		fmt.Fprintln(std.Err, "jcode: no worker runs: jcode worker begins one")
	}
	return nil
}

type tasksShowCmd struct {
	ID   taskID `arg:"" help:"The task's number."`
	JSON bool   `name:"json" help:"Print a JSON object."`
}

// Run prints a task.
func (c *tasksShowCmd) Run(ctx context.Context, _ *flags, std Streams) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		t, err := store.Get(ctx, int64(c.ID))
		if err != nil {
			return err
		}
		if c.JSON {
			return console.PrintJSON(std.Out, tasklist.AsJSON(t))
		}
		lines, err := taskDetail(ctx, store, t)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(std.Out, strings.Join(lines, "\n"))
		return err
	})
}

func taskDetail(ctx context.Context, store *tasks.Store, t tasks.Task) ([]string, error) {
	attempts, err := store.Attempts(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	questions, err := store.Questions(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	return tasklist.Detail(t, attempts, questions), nil
}

type tasksLogCmd struct {
	ID   taskID `arg:"" help:"The task's number."`
	JSON bool   `name:"json" help:"Print JSON, which jcode sessions import reads."`
}

// Run prints the transcript of a task's session.
func (c *tasksLogCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, err := openKept(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	return withTasks(ctx, std, func(store *tasks.Store) error {
		t, err := store.Get(ctx, int64(c.ID))
		if err == nil && t.Session == "" {
			err = console.Usage("task %d has no session yet: it is %s", t.ID, t.State)
		}
		if err != nil {
			return err
		}
		if _, missing := a.store.Get(ctx, t.Session); missing != nil { // another machine has it
			r, err := store.Results().Of(ctx, t.ID)
			if err != nil {
				return err
			}
			if printed, err := printLog(std, r, c.JSON); printed || err != nil {
				return err
			}
		}
		return (&sessionsShowCmd{Session: t.Session, JSON: c.JSON}).Run(ctx, f, std)
	})
}

// shownTask names a task in texts.
func shownTask(t tasks.Task) string {
	return fmt.Sprintf("task %d (%s)", t.ID, text.Truncate(text.Headline(text.Visible(t.Prompt)), 40, "…"))
}
