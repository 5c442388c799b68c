package taskscli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/tasks"
	"jcode/tasks/queue"
)

type cancelCmd struct {
	ID []taskID `arg:"" name:"number" help:"The tasks' numbers."`
}

// Run ends tasks.
func (c *cancelCmd) Run(ctx context.Context, std Setup) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		for _, id := range taskIDs(c.ID) {
			t, err := store.Cancel(ctx, id)
			if err != nil {
				return console.Usage("%w", err)
			}
			if t.Cancel {
				fmt.Fprintf(std.Err, "jcode: the worker of %s is told to end it\n", Shown(t))
			}
		}
		return nil
	})
}

type retryCmd struct {
	ID []taskID `arg:"" name:"number" help:"The tasks' numbers."`
}

// Run queues failed tasks again.
func (c *retryCmd) Run(ctx context.Context, std Setup) error {
	return withQueue(ctx, std, func(store *tasks.Store, q *queue.Queue) error {
		for _, id := range taskIDs(c.ID) {
			if err := store.Retry(ctx, q, id); err != nil {
				return console.Usage("%w", err)
			}
		}
		return nil
	})
}

type rmCmd struct {
	ID  []taskID `arg:"" name:"number" help:"The tasks' numbers."`
	Yes bool     `short:"y" help:"Remove also what was not taken, without asking."`
}

// Run forgets tasks.
func (c *rmCmd) Run(ctx context.Context, std Setup) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		for _, id := range taskIDs(c.ID) {
			t, err := store.Get(ctx, id)
			if err != nil {
				return err
			}
			if t.Commit != "" && t.Taken.IsZero() && !c.Yes && !console.Confirm(std.In, std.Out, fmt.Sprintf("What %s changed was not taken and goes with it. Remove it?", Shown(t))) {
				return console.Usage("task %d stays: --yes removes it with what it changed", id)
			}
			if err := store.Remove(ctx, id); err != nil {
				return console.Usage("%w", err)
			}
			if t.Dir == "" || !store.Here(t) { // a worker sweeps what it has of those of addresses
				continue
			}
			if err := inFolder(ctx, std, t, func(c Checkout) error { return c.RemoveTree(ctx, t) }); err != nil {
				fmt.Fprintf(std.Err, "jcode: task %d is removed, but not its worktree %s: %v\n", id, text.Visible(t.Dir), err)
			}
		}
		return nil
	})
}

type schedulesCmd struct {
	Remove taskID `help:"Remove the schedule with this number; its tasks stay." placeholder:"ID"`
}

// Run lists schedules.
func (c *schedulesCmd) Run(ctx context.Context, std Setup) error {
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
