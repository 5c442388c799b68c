package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule makes a new task again and again.
type Schedule struct {
	ID int64
	// Every is the time from one to the next; 0 with Cron.
	Every time.Duration
	Cron  string
	Zone  string
	Task  New
	// Next is when the next task is made, Last when the last one was.
	Next, Last time.Time
	// Note says why the last time made none.
	Note string
}

// minEvery is the shortest time from one task of a schedule to the next.
const minEvery = time.Minute

// after returns the first time of a schedule after another one.
func (sc Schedule) after(t time.Time) (time.Time, error) {
	if sc.Cron == "" {
		if sc.Every < minEvery {
			return time.Time{}, fmt.Errorf("a schedule has a minute at least between two tasks, not %s", sc.Every)
		}
		return t.Add(sc.Every), nil
	}
	zone, err := time.LoadLocation(sc.Zone)
	if err != nil {
		return time.Time{}, fmt.Errorf("the time zone %s is not known here: %w", sc.Zone, err)
	}
	expression, err := cron.ParseStandard(sc.Cron)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no cron expression (minute hour day month weekday, as in '0 7 * * 1-5'): %w", sc.Cron, err)
	}
	next := expression.Next(t.In(zone))
	if next.IsZero() {
		return next, fmt.Errorf("the time %q never comes", sc.Cron)
	}
	return next, nil
}

// stored is a task of a schedule as its row has it.
type stored struct {
	New
	Base    string        `json:"base,omitempty"`
	MaxTime time.Duration `json:"max_time,omitempty"`
	Push    string        `json:"push,omitempty"`
	Place   string        `json:"place,omitempty"`
}

// AddSchedule adds a schedule, and returns it with its first time.
func (s *Store) AddSchedule(ctx context.Context, sc Schedule) (Schedule, error) {
	if err := sc.Task.check(); err != nil {
		return sc, err
	}
	var err error
	if sc.Next, err = sc.after(s.now()); err != nil {
		return sc, err
	}
	row, err := json.Marshal(stored{sc.Task, sc.Task.Base, sc.Task.MaxTime, sc.Task.Push, s.placeOf(sc.Task)})
	if err != nil {
		return sc, fmt.Errorf("schedule: %w", err)
	}
	err = s.tx(ctx, func(tx *tx) (err error) {
		sc.ID, err = tx.insert(ctx, "INSERT INTO task_schedules (every, cron, zone, task, created, next) VALUES (?, ?, ?, ?, ?, ?)",
			sc.Every.Milliseconds(), sc.Cron, sc.Zone, string(row), millis(s.now()), millis(sc.Next))
		return err
	})
	return sc, err
}

const scheduleColumns = "id, every, cron, zone, task, next, last, note"

func scanSchedule(row scanner) (Schedule, error) {
	var sc Schedule
	var every, next, last int64
	var task string
	if err := row.Scan(&sc.ID, &every, &sc.Cron, &sc.Zone, &task, &next, &last, &sc.Note); err != nil {
		return sc, err
	}
	var st stored
	if err := json.Unmarshal([]byte(task), &st); err != nil {
		return sc, fmt.Errorf("schedule %d: %w", sc.ID, err)
	}
	sc.Task = st.New
	sc.Task.Base, sc.Task.MaxTime, sc.Task.Push, sc.Task.schedule, sc.Task.place = st.Base, st.MaxTime, st.Push, sc.ID, st.Place
	sc.Every, sc.Next, sc.Last = time.Duration(every)*time.Millisecond, instant(next), instant(last)
	return sc, nil
}

// Schedules returns all schedules.
func (s *Store) Schedules(ctx context.Context) ([]Schedule, error) {
	return list(ctx, s, scanSchedule, "SELECT "+scheduleColumns+" FROM task_schedules ORDER BY id")
}

// RemoveSchedule ends a schedule; its tasks stay.
func (s *Store) RemoveSchedule(ctx context.Context, id int64) error {
	return s.tx(ctx, func(tx *tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM task_schedules WHERE id = ?", id)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return fmt.Errorf("there is no schedule %d: jcode tasks schedules lists them", id)
		}
		return nil
	})
}

// Due makes the tasks of schedules whose time has come: one for each, however many of its times were missed. While
// the one before is not over, none is made.
func (s *Store) Due(ctx context.Context, by Carrier) (made []int64, err error) {
	now := s.now()
	if due, err := one(ctx, s, value[bool], "SELECT EXISTS (SELECT 1 FROM task_schedules WHERE next <= ?)", millis(now)); err != nil || !due {
		return nil, err
	}
	err = s.tx(ctx, func(tx *tx) error {
		made = nil
		due, err := collect(ctx, tx, scanSchedule, "SELECT "+scheduleColumns+" FROM task_schedules WHERE next <= ? ORDER BY id"+tx.skipping(), millis(now))
		if err != nil {
			return err
		}
		for _, sc := range due {
			id, note, err := s.run(ctx, tx, sc)
			if err != nil {
				return err
			}
			if id != 0 {
				made = append(made, id)
			}
			next, err := sc.following(now)
			if err != nil {
				note, next = err.Error(), now.AddDate(0, 0, 1)
			}
			if _, err := tx.ExecContext(ctx, "UPDATE task_schedules SET next = ?, last = ?, note = ? WHERE id = ?", millis(next), millis(now), note, sc.ID); err != nil {
				return err
			}
		}
		return s.release(ctx, tx, by)
	})
	return made, err
}

// following returns the next time of a schedule, which keeps its rhythm.
func (sc Schedule) following(now time.Time) (time.Time, error) {
	if sc.Cron != "" {
		return sc.after(now)
	}
	next := sc.Next.Add(sc.Every)
	if missed := now.Sub(next); missed >= 0 {
		next = next.Add(sc.Every * (missed/sc.Every + 1))
	}
	return next, nil
}

func (s *Store) run(ctx context.Context, tx *tx, sc Schedule) (id int64, note string, err error) {
	var before int64
	if tx.QueryRowContext(ctx, "SELECT id FROM tasks WHERE schedule = ? AND state IN ('queued', 'working', 'asks') LIMIT 1", sc.ID).Scan(&before) == nil {
		return 0, fmt.Sprintf("task %d of the time before is not over", before), nil
	}
	added, err := s.insert(ctx, tx, sc.Task)
	if added.There {
		return 0, fmt.Sprintf("task %d has its key and is not over", added.ID), err
	}
	return added.ID, "", err
}
