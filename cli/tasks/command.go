package taskscli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"jcode/cli/console"
	"jcode/cli/tasklist"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/tasks"
)

// Cmd works with tasks that wait for a worker.
type Cmd struct {
	List      listCmd      `cmd:"" default:"withargs"`
	Add       addCmd       `cmd:""`
	Show      showCmd      `cmd:""`
	Log       logCmd       `cmd:""`
	Diff      diffCmd      `cmd:""`
	Answer    answerCmd    `cmd:""`
	Take      takeCmd      `cmd:""`
	Cancel    cancelCmd    `cmd:""`
	Retry     retryCmd     `cmd:""`
	Rm        rmCmd        `cmd:""`
	Schedules schedulesCmd `cmd:""`
}

type listCmd struct {
	Watch bool `help:"Show the list again whenever it changes, until ctrl+c."`
	JSON  bool `name:"json" help:"Print a JSON array."`
	Limit int  `short:"n" help:"At most N tasks that are over, and N that wait." default:"20" placeholder:"N"`
}

// Run lists tasks.
func (c *listCmd) Run(ctx context.Context, std Setup) error {
	found, err := std.Paths()
	if err != nil {
		return err
	}
	if !c.Watch && !tasks.Exists(Where(found)) { // nothing is made to look at
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
		changes := Changes(ctx, store, found.Data)
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

func (c *listCmd) print(ctx context.Context, store *tasks.Store, std Setup) error {
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
	if alive, err := Workers(ctx, store); err == nil && len(alive) == 0 && counts[tasks.Queued] > 0 {
		fmt.Fprintln(std.Err, "jcode: no worker runs: jcode worker begins one")
	}
	return nil
}

type showCmd struct {
	ID   taskID `arg:"" name:"number" help:"The task's number."`
	JSON bool   `name:"json" help:"Print a JSON object."`
}

// Run prints a task.
func (c *showCmd) Run(ctx context.Context, std Setup) error {
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

// Shown names a task in texts.
func Shown(t tasks.Task) string {
	return fmt.Sprintf("task %d (%s)", t.ID, text.Truncate(text.Headline(text.Visible(t.Prompt)), 40, "…"))
}
