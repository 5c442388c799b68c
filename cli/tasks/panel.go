package taskscli

import (
	"cmp"
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
	act := func(verb string) func(context.Context, command.Row) (string, error) {
		return func(ctx context.Context, row command.Row) (string, error) {
			return a.words(ctx, verb+" "+taskOfRow(row))
		}
	}
	answer := func(said string) func(context.Context, command.Row) (string, error) {
		return func(ctx context.Context, row command.Row) (string, error) { return a.answer(ctx, row, said) }
	}
	return command.Panel{
		Name: "tasks", Help: "tasks that wait for a worker: " + strings.Join(taskWords(), ", ") + " NUMBER", Title: "Tasks", Live: true,
		Empty: `No tasks. /later PROMPT queues one; jcode worker works on them.`,
		Words: a.words, Shows: command.Showing("show", "log", "diff"), Complete: a.complete,
		Rows: a.rows, Preview: a.preview,
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

// taskWords are the first words after /tasks; the number of a task follows.
func taskWords() []string {
	return []string{"show", "log", "diff", "answer", "cancel", "retry", "take"}
}

// words does what the commands of the same names do in a terminal.
func (a Actions) words(ctx context.Context, words string) (string, error) {
	verb, rest, _ := strings.Cut(words, " ")
	number, said, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !slices.Contains(taskWords(), verb) {
		return "", command.ErrSearch
	}
	id, done := taskID(n), ""
	var does Command
	switch verb {
	case "show":
		does = &showCmd{ID: id}
	case "log":
		does = &logCmd{ID: id}
	case "diff":
		does, done = &diffCmd{ID: id}, fmt.Sprintf("task %d changed nothing", n)
	case "answer":
		does = &answerCmd{ID: id, Answer: strings.Fields(said)}
	case "cancel":
		does, done = &cancelCmd{[]taskID{id}}, fmt.Sprintf("task %d is cancelled", n)
	case "retry":
		does, done = &retryCmd{[]taskID{id}}, fmt.Sprintf("task %d is queued again", n)
	case "take":
		does = &takeCmd{ID: id}
	}
	std, out := a.Setup, &strings.Builder{}
	std.In, std.Out, std.Err, std.OutIsTerminal = strings.NewReader(""), out, out, false
	err = does.Run(ctx, std)
	if err != nil {
		return "", err
	}
	return cmp.Or(strings.TrimSpace(out.String()), done), nil
}

// complete completes verbs, and the numbers of tasks.
func (a Actions) complete(ctx context.Context, args string) []string {
	verb, number, named := strings.Cut(args, " ")
	if !named {
		return slicex.WithPrefix(taskWords(), verb)
	}
	rows, err := a.rows(ctx)
	if err != nil {
		return nil
	}
	var out []string
	for _, row := range rows {
		if task := taskOfRow(row); strings.HasPrefix(task, number) {
			out = append(out, verb+" "+task)
		}
	}
	return out
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
