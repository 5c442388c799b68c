package workercli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"jcode/cli/console"
	taskscli "jcode/cli/tasks"
	"jcode/internal/filelock"
	"jcode/internal/launch"
	"jcode/internal/text"
	"jcode/tasks"
	"jcode/tasks/queue"
)

const (
	workerLook = 5 * time.Second // how often a worker looks for tasks that are due or lost, without a reason
	// workerPatience is how long a worker and its tasks wait for a Postgres that can't be reached.
	workerPatience = 2 * time.Minute
	attemptEnd     = 10 * time.Second // how long the process of a task may take to end
	mostSlots      = 64
	shownOfTask    = 400 // bytes of what the process of a task said last
)

// worker works on the tasks of one file.
type worker struct {
	store   *tasks.Store
	queue   *queue.Queue
	data    string
	trees   func(project string) string // the folder of the worktrees of a project's own sessions
	perDay  float64
	repos   []string // patterns of the addresses whose tasks it takes
	baseURL string
	name    string
	life    life
	ended   chan struct{} // told when a task ends
	std     console.Streams
	out     *sync.Mutex // guards what is said
}

func (w *worker) say(format string, args ...any) {
	w.out.Lock()
	defer w.out.Unlock()
	fmt.Fprintf(w.std.Err, "jcode: "+format+"\n", args...)
}

func (w *worker) work(ctx context.Context, slots int, once bool) error {
	w.name = fmt.Sprintf("%d-%s", os.Getpid(), uuid.NewString()[:8])
	if err := os.MkdirAll(filepath.Join(w.data, "tasks"), 0o700); err != nil {
		return console.Usage("tasks: %w", err)
	}
	filelock.Sweep(filepath.Join(w.data, "tasks"), 0) // of those that were killed
	lock, err := filelock.Try(taskscli.WorkerLock(w.data, w.name))
	if err != nil {
		return console.Usage("tasks: %w", err)
	}
	defer func() { _ = lock.Remove() }() // whoever finds it can take it
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	changed, wake := w.changes(watching), make(chan struct{}, 1)
	if w.life, err = w.lives(slots); err != nil {
		return err
	}
	if err := w.sweepClones(ctx); err != nil {
		w.say("%v", err) // the next worker sweeps again
	}
	if err := w.look(ctx); err != nil {
		return err
	}
	defer w.life.end(ctx)
	stop, err := w.queue.Start(context.WithoutCancel(ctx), queue.Work{
		Worker: w.name, Slots: slots, Wake: wake, Place: w.store.Place(), Takes: w.takes, Alive: w.life.alive,
		Hold: w.hold, Run: w.run, Failed: func(err error) { w.say("%v", err) },
	})
	if err != nil {
		return err
	}
	w.say("working on tasks with %s; ctrl+c ends it", text.Count(slots, "slot"))
	err = w.follow(ctx, changed, wake, once)
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*attemptEnd)
	defer cancel()
	return errors.Join(err, stop(stopping))
}

// follow looks for tasks that are due or lost, and wakes the queue, until ctx ends or, if once is set, nothing is left
// to do.
func (w *worker) follow(ctx context.Context, changed <-chan struct{}, wake chan<- struct{}, once bool) error {
	every := workerLook
	if w.store.Shared() {
		every = tasks.BeatEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case wake <- struct{}{}:
		default:
		}
		if once {
			n, err := w.store.Pending(ctx, w.takes)
			if err != nil || n == 0 {
				return ignoreEnd(ctx, err)
			}
		}
		select {
		case <-changed:
		case <-w.ended:
		case <-tick.C:
			if err := w.look(ctx); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				w.say("%v", err) // the next look may succeed
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// ignoreEnd leaves out an error that is the end of ctx.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// look queues what is due and what was lost with its worker.
func (w *worker) look(ctx context.Context) error {
	may, err := w.life.beat(ctx)
	if err != nil {
		return err
	}
	made, err := w.store.Due(ctx, w.queue)
	for _, id := range made {
		w.say("task %d is due by its schedule", id)
	}
	if err != nil {
		return err
	}
	if !may {
		return w.store.Release(ctx, w.queue)
	}
	rescued, err := w.store.Rescue(ctx, w.life.alive)
	for _, id := range rescued {
		w.say("the worker of task %d is gone: it begins again", id)
	}
	if w.store.Shared() {
		err = errors.Join(err, w.store.Fleet().Strand(ctx))
	}
	return errors.Join(err, w.store.Release(ctx, w.queue))
}

// hold says why a task must wait: this worker does not take it, or what the tasks of a day may cost is used up.
func (w *worker) hold(ctx context.Context, t tasks.Task) (why string, until time.Time, err error) {
	if t.Repo != "" && !w.takes(t.Repo) {
		return "waits for a worker that has its session, with a --repos that means its address", time.Now().Add(notTakenWait), nil
	}
	if w.perDay <= 0 {
		return "", time.Time{}, nil
	}
	now := time.Now()
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	spent, err := w.store.Spent(ctx, day)
	if err != nil || spent+t.MaxCost <= w.perDay && spent < w.perDay {
		return "", time.Time{}, err
	}
	return fmt.Sprintf("waits until tomorrow: tasks.max_cost_per_day is %s, and %s are used or set aside", text.Spent(w.perDay, false), text.Spent(spent, false)), day.AddDate(0, 0, 1), nil
}

// run works on a task in a process of its own.
func (w *worker) run(ctx context.Context, t tasks.Task) {
	defer func() {
		select {
		case w.ended <- struct{}{}:
		default:
		}
	}()
	w.say("%s begins%s", taskscli.Shown(t), map[bool]string{true: " again"}[t.Attempt > 1])
	tail := &lastWords{}
	err := w.start(ctx, t, tail)
	ends, faulty := ctx, err != nil
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		err = errors.New("its process ended without a result")
	}
	why := fmt.Sprintf("%v", err)
	if said := strings.TrimSpace(tail.String()); said != "" {
		why += ": " + text.Visible(said)
	}
	for {
		err := w.store.Lost(ctx, t.ID, t.Attempt, why)
		if errors.Is(err, tasks.ErrOver) && faulty && ends.Err() == nil {
			w.say("%s: %s", taskscli.Shown(t), why) // what it noted before counts
		}
		if err == nil || errors.Is(err, tasks.ErrOver) {
			break
		}
		w.say("%s: %v", taskscli.Shown(t), err)
		if !pause(ends, workerLook) { // whoever is there when this worker is gone finds it
			return
		}
	}
	if err := w.store.Release(ctx, w.queue); err != nil {
		w.say("%v", err)
	}
	if now, err := w.store.Get(ctx, t.ID); err == nil {
		line := taskscli.Shown(t) + " is " + string(now.State)
		if now.State == tasks.Asks {
			line = taskscli.Shown(t) + " asks"
		}
		if now.Note != "" {
			line += ": " + text.Headline(text.Visible(now.Note))
		}
		w.say("%s", line)
	}
}

// start runs the process of an attempt to its end. The process ends when its input does, however this one ends.
func (w *worker) start(ctx context.Context, t tasks.Task, said io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd, err := launch.Programs{}.Own(ctx, program, append([]string{Command, strconv.FormatInt(t.ID, 10), strconv.Itoa(t.Attempt)}, w.repos...)...)
	if err != nil {
		return err
	}
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = cmp.Or(t.Folder, w.data), said, attemptEnd
	if w.baseURL != "" {
		cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+w.baseURL)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.Cancel = in.Close
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Wait()
}

// lastWords keeps the end of what is written to it.
type lastWords struct{ end []byte }

func (l *lastWords) Write(p []byte) (int, error) {
	l.end = append(l.end, p...)
	l.end = l.end[max(0, len(l.end)-shownOfTask):]
	return len(p), nil
}

func (l *lastWords) String() string { return strings.ToValidUTF8(string(l.end), "") }
