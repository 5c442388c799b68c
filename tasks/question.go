package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

const questionColumns = "id, task, attempt, kind, tool, title, command, diff, details, options, arguments, asked, answer, word, used"

func scanQuestion(row scanner) (Question, error) {
	var q Question
	var details, options string
	var asked int64
	err := row.Scan(&q.ID, &q.Task, &q.Attempt, &q.Kind, &q.Tool, &q.Title, &q.Command, &q.Diff, &details, &options, &q.Arguments, &asked, &q.Answer, &q.Word, &q.Used)
	if err != nil {
		return q, err
	}
	q.Asked = instant(asked)
	return q, errors.Join(json.Unmarshal([]byte(details), &q.Details), json.Unmarshal([]byte(options), &q.Options))
}

// Questions returns the questions of a task, the oldest first.
func (s *Store) Questions(ctx context.Context, task int64) ([]Question, error) {
	return list(ctx, s, scanQuestion, "SELECT "+questionColumns+" FROM task_questions WHERE task = ? ORDER BY id", task)
}

// Open returns the questions without an answer of tasks that ask, the oldest first.
func (s *Store) Open(ctx context.Context) ([]Question, error) {
	list, err := collect(ctx, s.db, scanQuestion, "SELECT "+questionColumns+" FROM task_questions WHERE answer = '' AND task IN (SELECT id FROM tasks WHERE state = 'asks') ORDER BY id")
	return list, s.explain(err)
}

// Ask puts a question of an attempt to people.
func (s *Store) Ask(ctx context.Context, attempt int, q Question) (id int64, err error) {
	details, err := json.Marshal(append([]string{}, q.Details...))
	if err != nil {
		return 0, err
	}
	options, err := json.Marshal(append([]string{}, q.Options...))
	if err != nil {
		return 0, err
	}
	err = s.tx(ctx, func(tx *tx) error {
		now := millis(s.now())
		if err := change(ctx, tx, "UPDATE tasks SET state = 'asks', note = ?, changed = ? WHERE id = ? AND attempt = ? AND state IN ('working', 'asks')", q.Title, now, q.Task, attempt); err != nil {
			return err
		}
		id, err = tx.insert(ctx, "INSERT INTO task_questions (task, attempt, kind, tool, title, command, diff, details, options, arguments, asked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			q.Task, attempt, q.Kind, q.Tool, q.Title, q.Command, q.Diff, string(details), string(options), q.Arguments, now)
		return err
	})
	return id, err
}

// open counts the questions of a task without an answer.
func open(ctx context.Context, tx *tx, task int64) (n int, err error) {
	err = tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM task_questions WHERE task = ? AND answer = ''", task).Scan(&n)
	return n, err
}

// Take returns a question if it was answered, whose answer is used up then.
func (s *Store) Take(ctx context.Context, attempt int, id int64) (q Question, answered bool, err error) {
	if q, err = one(ctx, s, scanQuestion, "SELECT "+questionColumns+" FROM task_questions WHERE id = ?", id); err != nil || q.Answer == "" {
		return q, false, err
	}
	err = s.tx(ctx, func(tx *tx) error {
		if err := tx.hold(ctx, q.Task); err != nil {
			return err
		}
		if err := change(ctx, tx, "UPDATE task_questions SET used = 1 WHERE id = ? AND used = 0", id); err != nil {
			return err
		}
		n, err := open(ctx, tx, q.Task)
		if err != nil || n > 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE tasks SET state = 'working', note = '', changed = ? WHERE id = ? AND attempt = ? AND state = 'asks'", millis(s.now()), q.Task, attempt)
		return err
	})
	return q, err == nil, err
}

// Park ends an attempt that waits for answers; its slot is free, and the next attempt continues its session. It reports
// false if everything was answered in the meantime.
func (s *Store) Park(ctx context.Context, task int64, attempt int) (parked bool, err error) {
	err = s.tx(ctx, func(tx *tx) error {
		if err := tx.hold(ctx, task); err != nil {
			return err
		}
		n, err := open(ctx, tx, task)
		if err != nil || n == 0 {
			return err
		}
		parked = true
		return s.endIn(ctx, tx, task, attempt, OutcomeParked, "state = 'asks', goes_on = 1, parked_at = ?", s.place)
	})
	return parked && err == nil, err
}

// withdraw takes back the questions of a task that nobody answered.
func withdraw(ctx context.Context, tx *tx, task int64) error {
	_, err := tx.ExecContext(ctx, "UPDATE task_questions SET answer = ?, used = 1 WHERE task = ? AND answer = ''", Withdrawn, task)
	return err
}

// Answer answers a question. A task that was parked is queued again when nothing more is open.
func (s *Store) Answer(ctx context.Context, by Carrier, id int64, answer, word string) error {
	return s.tx(ctx, func(tx *tx) error {
		q, err := scanQuestion(tx.QueryRowContext(ctx, "SELECT "+questionColumns+" FROM task_questions WHERE id = ?", id))
		if err != nil {
			return err
		}
		if err := tx.hold(ctx, q.Task); err != nil {
			return err
		}
		if q.Answer != "" {
			return fmt.Errorf("this question of task %d was answered before", q.Task)
		}
		if err := change(ctx, tx, "UPDATE task_questions SET answer = ?, word = ? WHERE id = ? AND answer = ''", answer, word, id); err != nil {
			return err
		}
		n, err := open(ctx, tx, q.Task)
		if err != nil || n > 0 {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE tasks SET state = 'queued', note = '', changed = ? WHERE id = ? AND state = 'asks' AND worker = ''", millis(s.now()), q.Task); err != nil {
			return err
		}
		return s.release(ctx, tx, by)
	})
}
