package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/cli/board"
	"jcode/cli/config"
	"jcode/cli/core"
	"jcode/cli/tasklist"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/tasks"
	"jcode/tasks/queue"
	"jcode/tools/command"
)

// taskActions are the panel /tasks and the command /later. The file of tasks is opened for each look and each action
// only, so that a chat without tasks never touches it.
type taskActions struct {
	flags *flags
	std   Streams
	board *board.Board
	paths config.Paths
	cwd   string
}

func newTaskActions(a *app) taskActions {
	return taskActions{a.flags, a.std, &a.board, a.paths, a.cwd}
}

// panel returns the live list of tasks.
func (a taskActions) panel() command.Panel {
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
func (a taskActions) answer(ctx context.Context, row command.Row, said string) (string, error) {
	task, shown, _ := strings.Cut(row.ID, ".")
	id, err := strconv.ParseInt(shown, 10, 64)
	if err != nil {
		return "", fmt.Errorf("task %s asks nothing that can be answered with yes or no; for a reply in words: /tasks answer %s WORDS", task, task)
	}
	err = a.withQueue(ctx, func(store *tasks.Store, q *queue.Queue) error { return store.Answer(ctx, q, id, said, "") })
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
func (a taskActions) words(ctx context.Context, words string) (string, error) {
	verb, rest, _ := strings.Cut(words, " ")
	number, said, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !slices.Contains(taskWords(), verb) {
		return "", command.ErrSearch
	}
	id, done := taskID(n), ""
	var does interface {
		Run(ctx context.Context, f *flags, std Streams) error
	}
	switch verb {
	case "show":
		does = &tasksShowCmd{ID: id}
	case "log":
		does = &tasksLogCmd{ID: id}
	case "diff":
		does, done = &tasksDiffCmd{ID: id}, fmt.Sprintf("task %d changed nothing", n)
	case "answer":
		does = &tasksAnswerCmd{ID: id, Answer: strings.Fields(said)}
	case "cancel":
		does, done = &tasksCancelCmd{[]taskID{id}}, fmt.Sprintf("task %d is cancelled", n)
	case "retry":
		does, done = &tasksRetryCmd{[]taskID{id}}, fmt.Sprintf("task %d is queued again", n)
	case "take":
		does = &tasksTakeCmd{ID: id}
	}
	std, out := a.std, &strings.Builder{}
	std.In, std.Out, std.Err, std.OutIsTerminal = strings.NewReader(""), out, out, false
	err = does.Run(ctx, a.flags, std)
	if err != nil {
		return "", err
	}
	return cmp.Or(strings.TrimSpace(out.String()), done), nil
}

// complete completes verbs, and the numbers of tasks.
func (a taskActions) complete(ctx context.Context, args string) []string {
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

func (a taskActions) withQueue(ctx context.Context, do func(store *tasks.Store, q *queue.Queue) error) error {
	store, err := openTasksIn(ctx, a.paths)
	if err != nil {
		return err
	}
	q, err := queue.Open(ctx, store)
	if err == nil {
		err = do(store, q)
	}
	return errors.Join(err, store.Close())
}

// shownTasks is how many tasks of each state the panel shows.
const shownTasks = 50

func (a taskActions) rows(ctx context.Context) (rows []command.Row, err error) {
	if !tasks.Exists(whereTasks(a.paths)) {
		return nil, nil
	}
	store, err := openTasksIn(ctx, a.paths)
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
func (a taskActions) preview(ctx context.Context, row command.Row) (text string, err error) {
	id, err := strconv.ParseInt(taskOfRow(row), 10, 64)
	if err != nil {
		return "", err
	}
	store, err := openTasksIn(ctx, a.paths)
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

// List implements command.Source: /later.
func (a taskActions) List() []command.Command {
	return []command.Command{{
		Name: "later", Hint: "<prompt>", Run: a.later, Description: "queue a task for a worker, with this session's role and model",
	}}
}

// later queues a task for the folder of the chat.
func (a taskActions) later(ctx context.Context, args string) (command.Outcome, error) {
	if strings.TrimSpace(args) == "" {
		return command.Outcome{}, errors.New("/later PROMPT: what is to be done?")
	}
	f := *a.flags
	f.Mode, f.Role, f.MaxCost, f.MaxSteps = "", "", 0, 0
	conv := a.board.Open()
	if conv != nil {
		if conv.Private() {
			return command.Outcome{}, fmt.Errorf("%w, and a task is kept", core.ErrPrivate)
		}
		st := conv.State()
		f.Role, f.Model = st.Role, cmp.Or(conv.OwnModel(), st.Model)
	}
	forms := taskForms{flags: &f, std: a.std, now: time.Now()}
	n, err := forms.complete(ctx, tasklist.Line{New: tasks.New{Prompt: args, Folder: a.cwd}})
	if errors.Is(err, errNoTaskMode) && conv != nil { // as the chat works
		f.Mode = string(conv.Mode())
		n, err = forms.complete(ctx, tasklist.Line{New: tasks.New{Prompt: args, Folder: a.cwd}})
	}
	if err != nil {
		return command.Outcome{}, err
	}
	var id int64
	alive := []string{}
	err = a.withQueue(ctx, func(store *tasks.Store, q *queue.Queue) error {
		added, err := store.Add(ctx, q, n)
		if err == nil {
			id = added[0].ID
			alive, err = workersOf(ctx, store)
		}
		return err
	})
	if err != nil {
		return command.Outcome{}, err
	}
	said := fmt.Sprintf("Task %d is queued, in mode %s; it begins with the last commit. /tasks shows it.", id, n.Mode)
	if len(alive) == 0 {
		said += " No worker runs: jcode worker begins one."
	}
	return command.Outcome{Notice: said}, nil
}
