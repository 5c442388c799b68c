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
	"sync/atomic"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/console"
	taskscli "jcode/cli/tasks"
	"jcode/internal/filelock"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tasks"
)

// Command is the hidden subcommand with which a worker starts jcode for one attempt at a task; the numbers of both
// follow, and the patterns of the addresses that the worker takes.
const Command = "in-task"

// Briefing is what the model is told of how it works.
const Briefing = `You work on this as a task that was queued: nobody watches, and what you change is looked at later. Decide what can be decided, and say in the end what you decided.
Begin your last answer with one line of at most 70 characters that says what was changed, as the subject of a commit does. After an empty line, sum up what you did, which checks you ran, and their results. Everything that you change in the worktree is committed for you then.`

// UntilGone returns a context that ends as soon as the input does: the worker is gone then, and a while later this process.
func UntilGone(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() { // it ends with the process
		_, _ = io.Copy(io.Discard, in)
		cancel()
		time.Sleep(attemptEnd)
		os.Exit(console.ExitTerm)
	}()
	return ctx, cancel
}

// Attempt makes an attempt at a task, by the arguments after Command, and notes what came of it.
func Attempt(ctx context.Context, std AttemptSetup, args []string) error {
	if len(args) < 2 {
		return console.Usage("jcode %s is for workers", Command)
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	number, errAttempt := strconv.Atoi(args[1])
	if err := errors.Join(err, errAttempt); err != nil {
		return console.Usage("%w", err)
	}
	found, err := std.Paths()
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
	store, err := taskscli.Open(ctx, found)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // each change was committed
	store.Patient(workerPatience)
	t, err := store.Get(ctx, id)
	if err != nil {
		return err
	}
	if t.Attempt != number || t.State != tasks.Working {
		return nil // it is another one's
	}
	r := &attempt{store: store, task: t, data: found.Data, repos: args[2:]}
	folder, err := r.folder(ctx)
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

// attempt is one attempt at a task.
type attempt struct {
	store *tasks.Store
	task  tasks.Task
	data  string                 // the data folder
	repos []string               // patterns of the addresses that the worker takes
	cause atomic.Pointer[string] // why the turn was ended from outside, nil if it was not
	stays bool                   // the worktree is kept: only it has what came out
	steps int
	cost  float64
}

// run works on the task. What can't even begin fails it: another attempt would not help.
func (r *attempt) run(ctx context.Context, std AttemptSetup, folder string) error {
	home, err := std.Home(ctx, folder, r.task)
	if err != nil {
		return r.failed(ctx, err)
	}
	defer home.Close()
	at, err := r.enter(ctx, home)
	if err != nil {
		return errors.Join(r.failed(ctx, err), r.tidy(ctx, home))
	}
	end, err := r.converse(ctx, at, home.Wait)
	if err == nil {
		err = r.settle(ctx, home, at, end)
	}
	at.Close()
	if fault := r.tidy(ctx, home); fault != nil {
		err = errors.Join(err, fmt.Errorf("remove the worktree: %w", fault))
	}
	return err
}

// enter opens the worktree of the attempt.
func (r *attempt) enter(ctx context.Context, home Home) (Place, error) {
	tree, err := r.tree(ctx, home)
	if err != nil {
		return Place{}, err
	}
	return home.Enter(ctx, tree)
}

// failed notes that the attempt could not begin, and returns tasks.ErrOver: nothing more is to be noted.
func (r *attempt) failed(ctx context.Context, err error) error {
	bg := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		err = r.store.Stopped(bg, r.task.ID, r.task.Attempt)
	} else {
		err = r.store.Fail(bg, r.task.ID, r.task.Attempt, err.Error())
	}
	return cmp.Or(err, tasks.ErrOver)
}

// converse has the model work until its turn ends.
func (r *attempt) converse(ctx context.Context, at Place, wait time.Duration) (end event.TurnEnd, err error) {
	t := r.task
	opt, err := at.Options()
	if err != nil {
		return end, r.failed(ctx, err)
	}
	ask := &asker{store: r.store, task: t, patience: wait}
	if !t.NoAsk {
		opt.Asker = ask
	}
	opt.Kind = session.KindAttempt
	if opt.Session, err = session.NewID(); err != nil {
		return end, err
	}
	conv, err := r.conversation(ctx, at, opt)
	if err != nil {
		return end, r.failed(ctx, err)
	}
	defer conv.Close()
	if r.task.Session = conv.ID(); r.task.Session == "" { // it has one from its first message on
		r.task.Session = opt.Session
	}
	ask.park = func() { r.interrupt(conv, causeParked) }
	if err := r.store.Began(ctx, t.ID, t.Attempt, r.task.Session, t.Dir, t.Branch); err != nil {
		return end, err
	}
	sub := conv.Subscribe()
	defer sub.Close()
	at.Attach(ctx, conv)
	prompt, err := r.prompt(ctx, at)
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
func (r *attempt) interrupt(conv *agent.Conversation, cause string) {
	r.cause.CompareAndSwap(nil, &cause)
	conv.Interrupt()
}

func (r *attempt) ended() string {
	if cause := r.cause.Load(); cause != nil {
		return *cause
	}
	return ""
}

// conversation begins the attempt's session, or continues the one that was parked.
func (r *attempt) conversation(ctx context.Context, at Place, opt agent.Options) (*agent.Conversation, error) {
	if r.task.Continue && r.task.Session != "" {
		conv, err := at.Resume(ctx, opt, r.task.Session)
		if err == nil && conv.State().ReadOnly {
			conv.Close()
			err = errors.New("its session is open in another jcode: close it there, then jcode tasks retry begins again")
		}
		return conv, err
	}
	return at.Begin(ctx, opt)
}

// prompt returns what the attempt begins with.
func (r *attempt) prompt(ctx context.Context, at Place) (event.Prompt, error) {
	if r.task.Continue {
		said, err := r.answers(ctx)
		return event.Prompt{Text: said}, err
	}
	p, notice, err := at.Prompt(ctx, r.task.Prompt)
	if err == nil && p.Text == "" {
		err = fmt.Errorf("there is nothing to do for a model: %s", text.Headline(notice))
	}
	return p, err
}

// answers tells the model what people answered while the task waited.
func (r *attempt) answers(ctx context.Context) (string, error) {
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
func (r *attempt) watch(ctx context.Context, conv *agent.Conversation) {
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
func (r *attempt) follow(ctx context.Context, sub *event.Subscription) (event.TurnEnd, error) {
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

// taskLock returns the lock file that the process of a task holds.
func taskLock(data string, id int64) string {
	return filepath.Join(data, "tasks", fmt.Sprintf("task-%d.lock", id))
}
