package taskscli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"jcode/cli/board"
	"jcode/cli/tasklist"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/tasks"
	"jcode/tasks/queue"
	"jcode/tools/command"
)

// Actions are the panel /tasks and the command /later. The file of tasks is opened for each look and each action
// only, so that a chat without tasks never touches it.
type Actions struct {
	Setup
	Board *board.Board
	Cwd   string
}

// Panel returns the live list of tasks.
func (a Actions) Panel() command.Panel {
	verbs := a.verbs()
	act := func(verb string) func(context.Context, command.Row) (string, error) {
		return func(ctx context.Context, row command.Row) (string, error) {
			v, _ := verbs.Find(verb)
			return v.Run(ctx, taskOfRow(row))
		}
	}
	answer := func(said string) func(context.Context, command.Row) (string, error) {
		return func(ctx context.Context, row command.Row) (string, error) { return a.answer(ctx, row, said) }
	}
	return command.Panel{
		Name: "tasks", Help: "tasks that wait for a worker, those that need you first", Title: "Tasks", Live: true,
		Empty: `No tasks. /later PROMPT queues one; jcode worker works on them.`,
		Verbs: verbs, Rows: a.rows, Preview: a.preview,
		Actions: []command.Action{
			{Label: "look at it", Command: func(row command.Row) string { return "/tasks show " + taskOfRow(row) }},
			{Key: "ctrl+y", Label: "allow once", Confirm: true, Run: answer(tasks.Yes)},
			{Key: "ctrl+n", Label: "refuse", Run: answer(tasks.No)},
			{Key: "ctrl+e", Label: "take", Confirm: true, Run: act("take")},
			{Key: "ctrl+d", Label: "cancel", Confirm: true, Run: act("cancel")},
			{Key: "ctrl+x", Label: "retry", Run: act("retry")},
		},
	}
}

// answer answers the question that the row shows, which need not be the one that is open by now.
func (a Actions) answer(ctx context.Context, row command.Row, said string) (string, error) {
	task, shown, _ := strings.Cut(row.ID, ".")
	id, err := strconv.ParseInt(shown, 10, 64)
	if err != nil {
		return "", fmt.Errorf("task %s asks nothing that can be answered with yes or no; for a reply in words: /tasks answer %s WORDS", task, task)
	}
	err = withQueue(ctx, a.Setup, func(store *tasks.Store, q *queue.Queue) error { return store.Answer(ctx, q, id, said, "") })
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("task %s: %s", task, said), nil
}

// verbs are the words of /tasks: they do what the commands of the same names do in a terminal.
func (a Actions) verbs() command.Verbs {
	// done is said of what prints nothing.
	of := func(name, done string, does func(id taskID, said []string) Command) command.Verb {
		return command.Verb{Run: func(ctx context.Context, words string) (string, error) {
			number, rest, _ := strings.Cut(words, " ")
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				return "", fmt.Errorf("/tasks %s %s: name a task by its number", name, words)
			}
			std, out := a.Setup, &strings.Builder{}
			std.In, std.Out, std.Err, std.OutIsTerminal = strings.NewReader(""), out, out, false
			if err := does(taskID(n), strings.Fields(rest)).Run(ctx, std); err != nil {
				return "", err
			}
			said := strings.TrimSpace(out.String())
			if said == "" && done != "" {
				said = fmt.Sprintf("task %d %s", n, done)
			}
			return said, nil
		}}
	}
	return Table().Verbs(a.numbers, command.Deeds{
		"show":   of("show", "", func(id taskID, _ []string) Command { return &showCmd{ID: id} }),
		"log":    of("log", "", func(id taskID, _ []string) Command { return &logCmd{ID: id} }),
		"diff":   of("diff", "changed nothing", func(id taskID, _ []string) Command { return &diffCmd{ID: id} }),
		"answer": of("answer", "", func(id taskID, said []string) Command { return &answerCmd{ID: id, Answer: said} }),
		"cancel": of("cancel", "is cancelled", func(id taskID, _ []string) Command { return &cancelCmd{[]taskID{id}} }),
		"retry":  of("retry", "is queued again", func(id taskID, _ []string) Command { return &retryCmd{[]taskID{id}} }),
		"take":   of("take", "", func(id taskID, _ []string) Command { return &takeCmd{ID: id} }),
	})
}

// numbers proposes tasks.
func (a Actions) numbers(ctx context.Context, _ string) []string {
	rows, _ := a.rows(ctx) // the list reports what can't be read
	return slicex.Map(rows, taskOfRow)
}

// Names proposes tasks with what each is about, those that need the person first.
func (a Actions) Names(ctx context.Context) ([]command.Choice, error) {
	rows, err := a.rows(ctx)
	return slicex.Map(rows, func(r command.Row) command.Choice {
		return command.Choice{Value: taskOfRow(r), Info: r.State + " " + strings.TrimPrefix(r.Name, taskOfRow(r)+" ")}
	}), err
}

// shownTasks is how many tasks of each state the panel shows.
const shownTasks = 50

func (a Actions) rows(ctx context.Context) (rows []command.Row, err error) {
	found, err := a.Paths()
	if err != nil || !tasks.Exists(Where(found)) {
		return nil, err
	}
	store, err := Open(ctx, found)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	open, err := store.Open(ctx)
	if err != nil {
		return nil, err
	}
	asks := map[int64]tasks.Question{} // the first one of each task
	for _, q := range slices.Backward(open) {
		asks[q.Task] = q
	}
	for _, st := range tasks.States() {
		list, err := store.List(ctx, shownTasks, st)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			rows = append(rows, taskRow(t, asks[t.ID]))
		}
	}
	return rows, nil
}

// preview reads all that is known of the task under the cursor. What it asks is what the row has.
func (a Actions) preview(ctx context.Context, row command.Row) (text string, err error) {
	id, err := strconv.ParseInt(taskOfRow(row), 10, 64)
	if err != nil {
		return "", err
	}
	found, err := a.Paths()
	if err != nil {
		return "", err
	}
	store, err := Open(ctx, found)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	t, err := store.Get(ctx, id)
	if err != nil {
		return "", err
	}
	lines, err := taskDetail(ctx, store, t)
	return row.Detail + strings.Join(lines, "\n"), err
}

// taskOfRow returns the number of a row's task.
func taskOfRow(row command.Row) string {
	task, _, _ := strings.Cut(row.ID, ".")
	return task
}

// taskRow shows a task. The ID of one that asks whether it may call a tool names the question after a dot.
func taskRow(t tasks.Task, ask tasks.Question) command.Row {
	var lines []string
	id := strconv.FormatInt(t.ID, 10)
	keys := []string{"look at it"}
	switch t.State {
	case tasks.Asks:
		if ask.ID != 0 { // it may just have been answered
			asked := append(ask.Rows(), "", "")
			if ask.Kind == tasks.AsksCall {
				keys = append(keys, "allow once", "refuse")
				id += fmt.Sprintf(".%d", ask.ID)
			} else {
				asked = append(ask.Rows(), "/tasks answer "+id+" WORDS", "", "")
			}
			lines = slicex.Map(asked, text.Visible)
		}
		keys = append(keys, "cancel")
	case tasks.Queued, tasks.Working:
		keys = append(keys, "cancel")
	case tasks.Failed:
		keys = append(keys, "retry")
	case tasks.Done:
	}
	if t.Over() && t.Commit != "" && t.Taken.IsZero() {
		keys = append(keys, "take")
	}
	return command.Row{
		ID: id, Name: fmt.Sprintf("%d %s", t.ID, text.Truncate(text.Headline(text.Visible(t.Prompt)), 50, "…")), Info: tasklist.Waits(t),
		State: string(t.State), Current: t.State == tasks.Working, Bad: t.State == tasks.Failed || t.State == tasks.Asks, Keys: keys, Detail: strings.Join(lines, "\n"),
	}
}
