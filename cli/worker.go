package cli

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
	"jcode/internal/filelock"
	"jcode/internal/launch"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/internal/watch"
	"jcode/tasks"
	"jcode/tasks/queue"
)

// workerCmd works on queued tasks.
type workerCmd struct {
	Slots int  `default:"2" help:"How many tasks are worked on at once." placeholder:"N"`
	Once  bool `help:"End when there is nothing more that can be worked on now."`

	Repos   []string `help:"Take tasks of these addresses of git too, such as 'git@host:team/*'; repeatable. Without it, those in folders only." placeholder:"PATTERN" sep:"none"`
	Base    string   `help:"With --trust: the branch, tag or commit to look at." placeholder:"REF"`
	Address string   `arg:"" optional:"" help:"With --trust: show what the repository of this address would run, and ask whether its tasks may."`
}

// Help is printed by `jcode worker --help`.
func (workerCmd) Help() string {
	return `Each task works in a process and a git worktree of its own. What a repository contains (settings, hooks, MCP servers, Lua)
counts only if you trust it, as in a chat: run jcode there once. If tasks name it by its address, run
jcode worker --trust ADDRESS instead. ctrl+c ends the worker; its tasks are queued again.`
}

const (
	workerLook = 5 * time.Second // how often a worker looks for tasks that are due or lost, without a reason
	// workerPatience is how long a worker and its tasks wait for a Postgres that can't be reached.
	workerPatience = 2 * time.Minute
	attemptEnd     = 10 * time.Second // how long the process of a task may take to end
	mostSlots      = 64
	shownOfTask    = 400 // bytes of what the process of a task said last
)

// Run works until ctx ends.
func (c *workerCmd) Run(ctx context.Context, f *flags, std Streams) error {
	if c.Slots < 1 || c.Slots > mostSlots {
		return console.Usage("--slots: a worker has 1 to %d slots, not %d", mostSlots, c.Slots)
	}
	if f.Trust && c.Address != "" && !c.Once && len(c.Repos) == 0 {
		return c.trust(ctx, f, std)
	}
	if c.Address != "" || c.Base != "" {
		return console.Usage("an address and --base belong to jcode worker --trust ADDRESS; --repos PATTERN says which addresses a worker takes")
	}
	if err := checkRepos(c.Repos); err != nil {
		return err
	}
	if f.Print || f.Trust || f.Continue || f.Resume != "" || f.Worktree != "" || f.Mode != "" || len(f.Allow)+len(f.Deny) > 0 {
		return console.Usage("a worker takes its tasks as they were added: -p, -c, -r, -w, --mode, --trust, --allow and --deny have no use here (jcode worker --trust ADDRESS, without more, asks about a repository)")
	}
	a, err := openKept(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	if err := a.loadConfig(ctx); err != nil {
		return err
	}
	store, err := openTasksIn(ctx, a.paths)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // each change was committed
	store.Patient(workerPatience)
	q, err := queue.Open(ctx, store)
	if err != nil {
		return console.Usage("%w", err)
	}
	w := worker{repos: c.Repos, store: store, queue: q, data: a.paths.Data, perDay: a.config.Tasks.MaxCostPerDay, baseURL: f.BaseURL, std: std, out: &sync.Mutex{}, ended: make(chan struct{}, 1)}
	return w.work(ctx, c.Slots, c.Once)
}

// worker works on the tasks of one file.
type worker struct {
	store   *tasks.Store
	queue   *queue.Queue
	data    string
	perDay  float64
	repos   []string // patterns of the addresses whose tasks it takes
	baseURL string
	name    string
	life    life
	ended   chan struct{} // told when a task ends
	std     Streams
	out     *sync.Mutex // guards what is said
}

func (w *worker) say(format string, args ...any) {
	w.out.Lock()
	defer w.out.Unlock()
	fmt.Fprintf(w.std.Err, "jcode: "+format+"\n", args...)
}

// workerLock returns the lock file that a worker holds as long as it lives.
func workerLock(data, name string) string {
	return filepath.Join(data, "tasks", "worker-"+name+".lock")
}

// taskLock returns the lock file that the process of a task holds.
func taskLock(data string, id int64) string {
	return filepath.Join(data, "tasks", fmt.Sprintf("task-%d.lock", id))
}

// workerAlive reports whether a worker is.
func workerAlive(data, name string) bool {
	lock, err := filelock.Try(workerLock(data, name))
	if err != nil {
		return errors.Is(err, filelock.ErrHeld)
	}
	_ = lock.Remove() // it stays empty where that fails
	return false
}

// workersOf returns the names of the workers that run.
func workersOf(ctx context.Context, store *tasks.Store) (alive []string, err error) {
	if store.Shared() {
		list, err := store.Fleet().List(ctx)
		return slicex.Map(list, func(w tasks.Worker) string { return w.Name }), err
	}
	data := filepath.Dir(store.Path())
	found, err := filepath.Glob(workerLock(data, "*"))
	for _, path := range found {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "worker-"), ".lock")
		if workerAlive(data, name) {
			alive = append(alive, name)
		}
	}
	return alive, err
}

// watchTasks tells of changes of the file of tasks until ctx ends.
func watchTasks(ctx context.Context, data string) <-chan struct{} {
	changed := make(chan struct{}, 1)
	w := watch.New(ctx, []watch.Root{{Path: data, Match: func(path string) bool {
		return strings.HasPrefix(filepath.Base(path), tasksFile)
	}}}, watch.Options{Debounce: 50 * time.Millisecond, MaxDelay: 200 * time.Millisecond})
	go func() {
		defer w.Close()
		for range w.Events() {
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	}()
	return changed
}

func (w *worker) work(ctx context.Context, slots int, once bool) error {
	w.name = fmt.Sprintf("%d-%s", os.Getpid(), uuid.NewString()[:8])
	if err := os.MkdirAll(filepath.Join(w.data, "tasks"), 0o700); err != nil {
		return console.Usage("tasks: %w", err)
	}
	filelock.Sweep(filepath.Join(w.data, "tasks"), 0) // of those that were killed
	lock, err := filelock.Try(workerLock(w.data, w.name))
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
	if err := sweepClones(ctx, w.store, w.data); err != nil {
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
	w.say("%s begins%s", shownTask(t), map[bool]string{true: " again"}[t.Attempt > 1])
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
			w.say("%s: %s", shownTask(t), why) // what it noted before counts
		}
		if err == nil || errors.Is(err, tasks.ErrOver) {
			break
		}
		w.say("%s: %v", shownTask(t), err)
		if !pause(ends, workerLook) { // whoever is there when this worker is gone finds it
			return
		}
	}
	if err := w.store.Release(ctx, w.queue); err != nil {
		w.say("%v", err)
	}
	if now, err := w.store.Get(ctx, t.ID); err == nil {
		line := shownTask(t) + " is " + string(now.State)
		if now.State == tasks.Asks {
			line = shownTask(t) + " asks"
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
	cmd, err := launch.Programs{}.Own(ctx, program, append([]string{taskCommand, strconv.FormatInt(t.ID, 10), strconv.Itoa(t.Attempt)}, w.repos...)...)
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
