package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/console"
	"jcode/internal/filelock"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tasks"
)

// taskCommand is the hidden subcommand with which a worker starts jcode for one attempt at a task; the numbers of both
// follow, and the patterns of the addresses that the worker takes.
const taskCommand = "in-task"

// taskBriefing is what the model is told of how it works.
const taskBriefing = `You work on this as a task that was queued: nobody watches, and what you change is looked at later. Decide what can be decided, and say in the end what you decided.
Begin your last answer with one line of at most 70 characters that says what was changed, as the subject of a commit does. After an empty line, sum up what you did, which checks you ran, and their results. Everything that you change in the worktree is committed for you then.`

// inTask makes an attempt at a task. It ends as soon as its input does: its worker is gone then.
func inTask(args []string, std Streams) int {
	ctx, sig := withSignals(context.Background(), os.Exit)
	defer sig.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in := std.In
	go func() { // it ends with the process
		_, _ = io.Copy(io.Discard, in)
		cancel()
		time.Sleep(attemptEnd)
		os.Exit(console.ExitTerm)
	}()
	std.In, std.Out = strings.NewReader(""), io.Discard
	std, err := std.underManaged()
	if err != nil {
		return report(err, std.Err)
	}
	if len(args) < 2 {
		return report(console.Usage("jcode %s is for workers", taskCommand), std.Err)
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	attempt, errAttempt := strconv.Atoi(args[1])
	if err := errors.Join(err, errAttempt); err != nil {
		return report(console.Usage("%w", err), std.Err)
	}
	return report(runAttempt(ctx, std, id, attempt, args[2:]), std.Err)
}

// runAttempt makes an attempt at a task, and notes what came of it.
func runAttempt(ctx context.Context, std Streams, id int64, attempt int, repos []string) error {
	found, err := findPaths(std)
	if err != nil {
		return err
	}
	locking, cancel := context.WithTimeout(ctx, 3*attemptEnd)
	defer cancel()
	lock, err := filelock.Wait(locking, taskLock(found.Data, id)) // the process of an attempt before may be ending
	if err != nil {
		return err
	}
	defer func() { _ = lock.Remove() }() // whoever finds it can take it
	store, err := openTasksIn(ctx, found)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // each change was committed
	store.Patient(workerPatience)
	t, err := store.Get(ctx, id)
	if err != nil {
		return err
	}
	if t.Attempt != attempt || t.State != tasks.Working {
		return nil // it is another one's
	}
	r := &taskRun{store: store, task: t, repos: repos}
	folder, err := r.folder(ctx, found.Data)
	if err == nil {
		err = r.run(ctx, std, folder)
	} else {
		err = r.noFolder(ctx, err)
	}
	if errors.Is(err, tasks.ErrOver) {
		return nil
	}
	return err
}

// taskRun is one attempt at a task.
type taskRun struct {
	store *tasks.Store
	task  tasks.Task
	repos []string               // patterns of the addresses that the worker takes
	cause atomic.Pointer[string] // why the turn was ended from outside, nil if it was not
	stays bool                   // the worktree is kept: only it has what came out
	steps int
	cost  float64
}

// run works on the task. What can't even begin fails it: another attempt would not help.
func (r *taskRun) run(ctx context.Context, std Streams, folder string) error {
	t := r.task
	f := flags{
		Print: true, OutputFormat: "text", Elicit: "decline", Role: t.Role, Model: t.Model, Mode: t.Mode,
		MaxSteps: stepLimit(t.MaxSteps), MaxCost: costLimit(t.MaxCost), BaseURL: std.Getenv("OPENAI_BASE_URL"), AppendPrompt: taskBriefing,
	}
	home, err := newAppIn(ctx, &f, std, folder)
	if err != nil {
		return r.failed(ctx, err)
	}
	defer home.close()
	b, err := r.tree(ctx, home)
	if err != nil {
		return errors.Join(r.failed(ctx, err), r.tidy(ctx, home))
	}
	end, err := r.converse(ctx, b)
	if err == nil {
		err = r.settle(ctx, b, end)
	}
	b.Close()
	if fault := r.tidy(ctx, home); fault != nil {
		err = errors.Join(err, fmt.Errorf("remove the worktree: %w", fault))
	}
	return err
}

// failed notes that the attempt could not begin, and returns tasks.ErrOver: nothing more is to be noted.
func (r *taskRun) failed(ctx context.Context, err error) error {
	bg := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		err = r.store.Stopped(bg, r.task.ID, r.task.Attempt)
	} else {
		err = r.store.Fail(bg, r.task.ID, r.task.Attempt, err.Error())
	}
	return cmp.Or(err, tasks.ErrOver)
}

// converse has the model work until its turn ends.
func (r *taskRun) converse(ctx context.Context, b *beside) (end event.TurnEnd, err error) {
	a, t := b.app, r.task
	opt, err := a.options()
	if err != nil {
		return end, r.failed(ctx, err)
	}
	asker := &taskAsker{store: r.store, task: t, patience: time.Duration(b.main.config.Tasks.Wait)}
	if !t.NoAsk {
		opt.Asker = asker
	}
	opt.Kind = session.KindAttempt
	if opt.Session, err = session.NewID(); err != nil {
		return end, err
	}
	conv, err := r.conversation(ctx, a, opt)
	if err != nil {
		return end, r.failed(ctx, err)
	}
	defer conv.Close()
	if r.task.Session = conv.ID(); r.task.Session == "" { // it has one from its first message on
		r.task.Session = opt.Session
	}
	asker.park = func() { r.interrupt(conv, causeParked) }
	if err := r.store.Began(ctx, t.ID, t.Attempt, r.task.Session, t.Dir, t.Branch); err != nil {
		return end, err
	}
	sub := conv.Subscribe()
	defer sub.Close()
	a.board.Attach(conv)
	a.startExtensions()
	newUntrusted(a).SayOff(ctx)
	prompt, err := r.prompt(ctx, a)
	if err != nil {
		return end, r.failed(ctx, err)
	}
	stop := context.AfterFunc(ctx, func() { r.interrupt(conv, causeStopped) })
	defer stop()
	watching, unwatch := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { r.watch(watching, conv) })
	defer watch.Wait() // it reads the store, which is closed next
	defer unwatch()
	for {
		conv.Prompt(prompt)
		if end, err = r.follow(context.WithoutCancel(ctx), sub); err != nil {
			return end, err
		}
		if r.ended() != causeParked {
			return end, nil
		}
		parked, err := r.store.Park(context.WithoutCancel(ctx), t.ID, t.Attempt)
		if err != nil || parked {
			return end, err
		}
		// All was answered at the last moment.
		r.cause.Store(nil)
		said, err := r.answers(ctx)
		if err != nil {
			return end, err
		}
		prompt = event.Prompt{Text: said}
	}
}

// The causes for which a turn is ended from outside.
const (
	causeParked    = "parked"
	causeStopped   = "stopped"
	causeCancelled = "cancelled"
	causeTime      = "time"
)

// interrupt ends the turn; the first cause counts.
func (r *taskRun) interrupt(conv *agent.Conversation, cause string) {
	r.cause.CompareAndSwap(nil, &cause)
	conv.Interrupt()
}

func (r *taskRun) ended() string {
	if cause := r.cause.Load(); cause != nil {
		return *cause
	}
	return ""
}

// conversation begins the attempt's session, or continues the one that was parked.
func (r *taskRun) conversation(ctx context.Context, a *app, opt agent.Options) (*agent.Conversation, error) {
	if r.task.Continue && r.task.Session != "" {
		conv, err := a.resume(ctx, opt, r.task.Session)
		if err == nil && conv.State().ReadOnly {
			conv.Close()
			err = errors.New("its session is open in another jcode: close it there, then jcode tasks retry begins again")
		}
		return conv, err
	}
	return newRoleStarts(a).begin(ctx, opt)
}

// prompt returns what the attempt begins with.
func (r *taskRun) prompt(ctx context.Context, a *app) (event.Prompt, error) {
	if r.task.Continue {
		said, err := r.answers(ctx)
		return event.Prompt{Text: said}, err
	}
	p, notice, err := newTypedPrompts(a).prompt(ctx, r.task.Prompt)
	if err == nil && p.Text == "" {
		err = fmt.Errorf("there is nothing to do for a model: %s", text.Headline(notice))
	}
	return p, err
}

// answers tells the model what people answered while the task waited.
func (r *taskRun) answers(ctx context.Context) (string, error) {
	list, err := r.store.Questions(ctx, r.task.ID)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString("The user was asked while this task waited, and has answered. Continue the task.\n")
	for _, q := range list {
		if q.Used || q.Answer == "" {
			continue
		}
		switch {
		case q.Kind == tasks.AsksReply:
			fmt.Fprintf(&out, "- You asked: %s\n  The answer: %s\n", q.Title, q.Word)
		case q.Answer == tasks.Yes:
			fmt.Fprintf(&out, "- Allowed, once: the tool %s with exactly these arguments: %s\n  The call was not made yet: make it now.\n", q.Tool, q.Arguments)
			continue // its answer is used when the call comes
		default:
			fmt.Fprintf(&out, "- Refused: the tool %s with these arguments: %s\n", q.Tool, q.Arguments)
			if q.Word != "" {
				fmt.Fprintf(&out, "  The user says: %s\n", q.Word)
			}
			out.WriteString("  Do not try it again in another way.\n")
		}
		if _, _, err := r.store.Take(ctx, r.task.Attempt, q.ID); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

// watch ends the turn when a person wants that or the task's time is over.
func (r *taskRun) watch(ctx context.Context, conv *agent.Conversation) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	began := time.Now()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if r.task.MaxTime > 0 && time.Since(began) > r.task.MaxTime {
			r.interrupt(conv, causeTime)
			return
		}
		if over, err := r.store.Cancelled(ctx, r.task.ID, r.task.Attempt); over && ctx.Err() == nil {
			cause := causeCancelled
			if err != nil {
				cause = causeStopped // it is another one's task now
			}
			r.interrupt(conv, cause)
			return
		}
	}
}

// follow notes steps and cost until the turn ends.
func (r *taskRun) follow(ctx context.Context, sub *event.Subscription) (event.TurnEnd, error) {
	for {
		ev, ok := sub.Next(ctx)
		if !ok {
			return event.TurnEnd{}, errors.New("the conversation ended without a result")
		}
		switch ev := ev.(type) {
		case event.AssistantMessage:
			r.steps++
		case event.Usage:
			r.cost = ev.Cost
			if _, err := r.store.Progress(ctx, r.task.ID, r.task.Attempt, r.steps, r.cost); err != nil && !errors.Is(err, tasks.ErrOver) {
				return event.TurnEnd{}, err
			}
		case event.TurnEnd:
			return ev, nil
		}
	}
}
