package taskscli

import (
	"context"
	"errors"
	"time"

	"jcode/cli/config"
	"jcode/cli/tasklist"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/page"
	"jcode/tasks"
	"jcode/tasks/queue"
)

// Served are the tasks on the page of jcode serve.
type Served struct{ Paths config.Paths }

// with opens the tasks for one request.
func (s Served) with(ctx context.Context, do func(store *tasks.Store) error) error {
	if !tasks.Exists(Where(s.Paths)) { // nothing is made to look at
		return tasks.ErrNone
	}
	store, err := Open(ctx, s.Paths)
	if err != nil {
		return err
	}
	return errors.Join(do(store), store.Close())
}

func (s Served) withQueue(ctx context.Context, do func(store *tasks.Store, q *queue.Queue) error) error {
	return s.with(ctx, func(store *tasks.Store) error {
		q, err := queue.Open(ctx, store)
		if err != nil {
			return err
		}
		return do(store, q)
	})
}

// List implements page.Queue.
func (s Served) List(ctx context.Context) (rows []page.Queued, all string, err error) {
	err = s.with(ctx, func(store *tasks.Store) error {
		for _, st := range tasks.States() {
			list, err := store.List(ctx, shownTasks, st)
			if err != nil {
				return err
			}
			rows = append(rows, slicex.Map(list, servedTask)...)
		}
		counts, err := store.Counts(ctx)
		all = tasklist.Bar(counts)
		return err
	})
	if errors.Is(err, tasks.ErrNone) {
		return nil, "no tasks", nil
	}
	return rows, all, err
}

// servedTask returns a task as the page lists it.
func servedTask(t tasks.Task) page.Queued {
	return page.Queued{
		ID: t.ID, State: string(t.State), Name: text.Truncate(text.Headline(text.Visible(t.Prompt)), 100, "…"), Age: text.Ago(time.Since(t.Created)), Steps: tasklist.Steps(t), Cost: tasklist.Cost(t),
		Why: text.Visible(tasklist.Waits(t)), Cancellable: !t.Over(), Retriable: t.State == tasks.Failed, Urgent: t.State == tasks.Asks || t.State == tasks.Failed,
	}
}

// Show implements page.Queue.
func (s Served) Show(ctx context.Context, id int64) (out page.Queued, err error) {
	err = s.with(ctx, func(store *tasks.Store) error {
		t, err := store.Get(ctx, id)
		if err != nil {
			return err
		}
		out = servedTask(t)
		if out.Detail, err = taskDetail(ctx, store, t); err != nil || t.State != tasks.Asks {
			return err
		}
		list, err := store.Questions(ctx, id)
		for _, q := range list {
			if q.Answer == "" && out.Ask == nil {
				out.Ask = &page.Asked{ID: q.ID, Rows: slicex.Map(q.Rows(), text.Visible), Call: q.Kind == tasks.AsksCall, Options: q.Options}
			}
		}
		return err
	})
	return out, err
}

// Answer implements page.Queue.
func (s Served) Answer(ctx context.Context, question int64, said, why string) error {
	return s.withQueue(ctx, func(store *tasks.Store, q *queue.Queue) error {
		open, err := store.Open(ctx)
		if err != nil {
			return err
		}
		for _, ask := range open {
			if ask.ID != question {
				continue
			}
			if ask.Kind == tasks.AsksCall && said == tasks.Yes {
				why = "" // a yes allows exactly what is asked
			}
			answer, word, err := readAnswer(ask, said, why)
			if err != nil {
				return err
			}
			return store.Answer(ctx, q, question, answer, word)
		}
		return errors.New("this question was answered before, or is no longer asked")
	})
}

// Cancel implements page.Queue.
func (s Served) Cancel(ctx context.Context, id int64) error {
	return s.with(ctx, func(store *tasks.Store) error {
		_, err := store.Cancel(ctx, id)
		return err
	})
}

// Retry implements page.Queue.
func (s Served) Retry(ctx context.Context, id int64) error {
	return s.withQueue(ctx, func(store *tasks.Store, q *queue.Queue) error { return store.Retry(ctx, q, id) })
}
