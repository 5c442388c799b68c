package taskscli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"jcode/cli/console"
	"jcode/cli/tasklist"
	"jcode/internal/paths"
	"jcode/internal/slicex"
	"jcode/tasks"
	"jcode/tasks/queue"
)

type addCmd struct {
	Prompt   []string     `arg:"" optional:"" help:"What is to be done."`
	Repo     string       `help:"Work on the repository of this address of git, such as git@host:team/app, instead of this folder's." placeholder:"ADDRESS"`
	Base     string       `help:"With --repo: begin with this branch, tag or whole name of a commit." placeholder:"REF"`
	From     string       `help:"Queue a task for each line of this file: one JSON object, with the same names." placeholder:"FILE"`
	At       string       `help:"Not before this time: 22:00, 2026-12-01 08:00, or 90m from now." placeholder:"TIME"`
	After    []taskID     `help:"Not before this task is done; repeatable." placeholder:"ID"`
	Key      string       `help:"Queue nothing while a task with this key is not over." placeholder:"KEY"`
	Priority int          `help:"1, which comes first, to 4." default:"2" placeholder:"N"`
	MaxTime  console.Span `name:"max-time" help:"End the task after this time, such as 30m." placeholder:"TIME"`
	Push     string       `help:"Push what comes out to this remote of the repository, such as origin, as a branch of its own." placeholder:"REMOTE"`
	NoAsk    bool         `name:"no-ask" help:"Refuse calls that need your answer, and tell the model."`
	Every    console.Span `help:"A schedule: a new task each time this has passed, such as 24h." placeholder:"TIME"`
	Cron     string       `help:"A schedule by a cron expression, such as '0 7 * * 1-5'." placeholder:"EXPRESSION"`
}

// Help is printed by `jcode tasks add --help`.
func (addCmd) Help() string {
	return `--role, --model, --mode, --max-steps and --max-cost apply to the task. Without --mode it works in mode auto where there
is a sandbox; elsewhere the mode must be named. The task works in a worktree of this repository's last commit, when a
worker runs: jcode worker.`
}

// Run queues tasks.
func (c *addCmd) Run(ctx context.Context, std Setup) error {
	if std.Given.Session || std.Given.Trust {
		return console.Usage("-p, -c, -r, -w, --trust, --allow and --deny have no use for a task: it works in a worktree of its own, by the rules and the trust that hold there without it")
	}
	lines, err := c.lines(std)
	if err != nil {
		return console.Usage("%w", err)
	}
	form := forms{std: std, now: time.Now(), push: c.Push, repeats: c.Every > 0 || c.Cron != ""}
	list := make([]tasks.New, 0, len(lines))
	for _, line := range lines {
		n, err := form.complete(ctx, line)
		if err != nil {
			if c.From != "" {
				err = fmt.Errorf("%s:%d: %w", c.From, line.Number, err)
			}
			return console.Usage("%w", err)
		}
		list = append(list, n)
	}
	return withQueue(ctx, std, func(store *tasks.Store, q *queue.Queue) error {
		if c.Every > 0 || c.Cron != "" {
			return c.schedule(ctx, store, list, std)
		}
		added, err := store.Add(ctx, q, list...)
		if err != nil {
			return console.Usage("%w", err)
		}
		for _, a := range added {
			if a.There {
				fmt.Fprintf(std.Err, "jcode: task %d has the same key and is not over: nothing was queued\n", a.ID)
			}
			fmt.Fprintln(std.Out, a.ID)
		}
		return nil
	})
}

// lines returns the tasks of the command line or of the file.
func (c *addCmd) lines(std Setup) ([]tasklist.Line, error) {
	words := strings.TrimSpace(strings.Join(c.Prompt, " "))
	switch {
	case (c.From == "") == (words == ""):
		return nil, errors.New(`say what is to be done, as in jcode tasks add "fix the flaky test", or name a file with --from`)
	case c.Every > 0 && c.Cron != "":
		return nil, errors.New("--every and --cron exclude each other")
	case (c.Every > 0 || c.Cron != "") && (c.At != "" || len(c.After) > 0):
		return nil, errors.New("--at and --after have no use in a schedule")
	case c.From == "":
		return []tasklist.Line{{
			New: tasks.New{Prompt: words, Priority: c.Priority, After: taskIDs(c.After), Key: c.Key, NoAsk: c.NoAsk, Repo: c.Repo}, Base: c.Base, At: c.At, MaxTime: spanWord(c.MaxTime),
		}}, nil
	}
	in := std.In
	if c.From != "-" {
		file, err := paths.Open(c.From)
		if err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
		defer func() { _ = file.Close() }() // it is only read
		in = file
	}
	lines, err := tasklist.Read(in, c.From)
	for i := range lines {
		l := &lines[i]
		l.Priority, l.At, l.MaxTime, l.NoAsk = cmp.Or(l.Priority, c.Priority), cmp.Or(l.At, c.At), cmp.Or(l.MaxTime, spanWord(c.MaxTime)), l.NoAsk || c.NoAsk
		if l.Folder == "" {
			l.Repo = cmp.Or(l.Repo, c.Repo)
		}
		if l.Repo != "" {
			l.Base = cmp.Or(l.Base, c.Base)
		}
		l.After = append(l.After, taskIDs(c.After)...)
		if c.Key != "" && len(lines) > 1 {
			return nil, errors.New("--key is for one task: put a key into each line")
		}
		l.Key = cmp.Or(l.Key, c.Key)
	}
	return lines, err
}

// taskID is the number of a task on the command line.
type taskID int64

// UnmarshalText reads a number above 0, with or without # before it.
func (i *taskID) UnmarshalText(word []byte) error {
	n, err := strconv.ParseInt(strings.TrimPrefix(string(word), "#"), 10, 64)
	if err != nil || n < 1 {
		return fmt.Errorf("%q is no number of a task: jcode tasks lists them", word)
	}
	*i = taskID(n)
	return nil
}

// spanWord returns a time as a line of a file has it, "" for none.
func spanWord(s console.Span) string {
	if s == 0 {
		return ""
	}
	return time.Duration(s).String()
}

func taskIDs(list []taskID) []int64 {
	return slicex.Map(list, func(id taskID) int64 { return int64(id) })
}

// schedule adds schedules instead of tasks.
func (c *addCmd) schedule(ctx context.Context, store *tasks.Store, list []tasks.New, std Setup) error {
	for _, n := range list {
		if n.Repo == "" {
			n.Base = "" // each run begins with the commit that is the last one then
		}
		sc, err := store.AddSchedule(ctx, tasks.Schedule{Every: time.Duration(c.Every), Cron: c.Cron, Zone: time.Now().Location().String(), Task: n})
		if err != nil {
			return console.Usage("%w", err)
		}
		fmt.Fprintf(std.Out, "schedule %d: the first task comes %s, while a worker runs\n", sc.ID, sc.Next.Format("2006-01-02 15:04 MST"))
	}
	return nil
}
