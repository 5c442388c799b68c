package taskscli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"jcode/cli/core"
	"jcode/cli/tasklist"
	"jcode/tasks"
	"jcode/tasks/queue"
	"jcode/tools/command"
)

// List implements command.Source: /later.
func (a Actions) List() []command.Command {
	return []command.Command{{
		Name: "later", Hint: "<prompt>", Run: a.later, Description: "queue a task for a worker, with this session's role and model",
	}}
}

// later queues a task for the folder of the chat.
func (a Actions) later(ctx context.Context, args string) (command.Outcome, error) {
	if strings.TrimSpace(args) == "" {
		return command.Outcome{}, errors.New("/later PROMPT: what is to be done?")
	}
	std := a.Setup
	std.Given = Given{Model: std.Given.Model}
	conv := a.Board.Open()
	if conv != nil {
		if conv.Private() {
			return command.Outcome{}, fmt.Errorf("%w, and a task is kept", core.ErrPrivate)
		}
		st := conv.State()
		std.Given.Role, std.Given.Model = st.Role, cmp.Or(conv.OwnModel(), st.Model)
	}
	form := forms{std: std, now: time.Now()}
	n, err := form.complete(ctx, tasklist.Line{New: tasks.New{Prompt: args, Folder: a.Cwd}})
	if errors.Is(err, errNoMode) && conv != nil { // as the chat works
		form.std.Given.Mode = string(conv.Mode())
		n, err = form.complete(ctx, tasklist.Line{New: tasks.New{Prompt: args, Folder: a.Cwd}})
	}
	if err != nil {
		return command.Outcome{}, err
	}
	var id int64
	alive := []string{}
	err = withQueue(ctx, a.Setup, func(store *tasks.Store, q *queue.Queue) error {
		added, err := store.Add(ctx, q, n)
		if err == nil {
			id = added[0].ID
			alive, err = Workers(ctx, store)
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
