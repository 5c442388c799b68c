package taskscli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/tasks"
	"jcode/tasks/queue"
)

type answerCmd struct {
	ID     taskID   `arg:"" name:"number" help:"The task's number."`
	Answer []string `arg:"" optional:"" help:"yes, no, or the reply to a question of the model; without one the question is shown."`
	Word   string   `help:"Why not: goes to the model with a no." placeholder:"TEXT"`
}

// Run answers the first open question of a task.
func (c *answerCmd) Run(ctx context.Context, std Setup) error {
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
