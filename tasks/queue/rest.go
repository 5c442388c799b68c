package queue

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/riverqueue/river"
)

const (
	// pollEvery is how often a client looks at the queue without a reason.
	pollEvery = 5 * time.Second
	// restAfter is how long a client runs with nothing to do: long enough for what River tidies.
	restAfter = 15 * time.Second
	// stopLimit is how long a client with nothing to do may take to stop.
	stopLimit = 10 * time.Second
)

// Start begins to work. stop ends it: what runs is ended by its context.
//
// A client of River has a ticker of 50 ms and elects leaders, which costs as much as it does for many tasks. So there is
// one only while there are tasks; it starts within milliseconds when the first one comes.
func (q *Queue) Start(ctx context.Context, w Work) (stop func(ctx context.Context) error, err error) {
	return q.start(ctx, w, restAfter)
}

func (q *Queue) start(ctx context.Context, w Work, patience time.Duration) (stop func(ctx context.Context) error, err error) {
	c := &clients{q: q, w: w, ctx: ctx, patience: patience, rest: &resting{}, ends: make(chan struct{}), done: make(chan struct{})}
	if err := c.begin(); err != nil {
		return nil, err
	}
	go c.follow()
	return c.stop, nil
}

// clients are the clients of one worker, one at a time.
type clients struct {
	q        *Queue
	w        Work
	ctx      context.Context
	patience time.Duration // of a client with nothing to do
	rest     *resting
	ends     chan struct{} // closed to end the goroutine
	done     chan struct{} // closed by it

	// The rest belongs to the goroutine of follow.
	now  *river.Client[*sql.Tx] // nil while there is nothing to do
	wake chan struct{}          // of now
	news *listener              // of now
	took map[string]bool        // the queues of addresses that now looks at
}

// repos returns the addresses with tasks for this worker.
func (c *clients) repos() (list []string, err error) {
	if c.w.Takes == nil {
		return nil, nil
	}
	all, err := c.q.store.Repos(c.ctx)
	return slices.DeleteFunc(all, func(repo string) bool { return !c.w.Takes(repo) }), err
}

// ready reports whether there is something to do.
func (c *clients) ready() (bool, error) {
	if ready, err := c.q.store.Ready(c.ctx); err != nil || ready {
		return ready, err
	}
	list, err := c.repos()
	return len(list) > 0, err
}

// take has the client look at the queues of addresses that have tasks now.
func (c *clients) take() error {
	list, err := c.repos()
	if err != nil || c.now == nil {
		return err
	}
	for _, repo := range list {
		name := queueOfRepo(repo)
		if c.took[name] {
			continue
		}
		if err := c.now.Queues().Add(name, river.QueueConfig{MaxWorkers: c.w.Slots}); err != nil {
			return fmt.Errorf("tasks: %w", err)
		}
		c.took[name] = true
		c.news.add(name)
	}
	return nil
}

// begin starts a client if there is something to do.
func (c *clients) begin() error {
	if c.now != nil {
		return nil
	}
	if ready, err := c.ready(); err != nil || !ready {
		return err
	}
	workers, wake := river.NewWorkers(), make(chan struct{}, 1)
	if err := river.AddWorkerSafely(workers, &worker{q: c.q.store, w: c.w, rest: c.rest, slots: make(chan struct{}, c.w.Slots)}); err != nil {
		return fmt.Errorf("tasks: %w", err)
	}
	queues, fetched := queuesOf(c.w.Place), map[string]river.QueueConfig{}
	for _, name := range queues {
		fetched[name] = river.QueueConfig{MaxWorkers: c.w.Slots}
	}
	driver, news := driverOf(c.q.store, wake, queues...)
	client, err := river.NewClient(driver, &river.Config{
		ID: c.w.Worker, Logger: quiet(), Workers: workers,
		Queues:            fetched,
		FetchPollInterval: pollEvery, FetchCooldown: 50 * time.Millisecond,
		JobTimeout: -1, RescueStuckJobsAfter: time.Minute,
	})
	if err != nil {
		return fmt.Errorf("tasks: %w", err)
	}
	if err := client.Start(c.ctx); err != nil {
		return fmt.Errorf("tasks: begin to work: %w", err)
	}
	c.now, c.wake, c.news, c.took = client, wake, news, map[string]bool{}
	return c.take()
}

// follow starts a client when there is something to do, and stops it when there was nothing for a while.
func (c *clients) follow() {
	defer close(c.done)
	idle := time.NewTimer(c.patience)
	defer idle.Stop()
	for {
		var err error
		select {
		case <-c.w.Wake:
			if c.now == nil {
				if err = c.begin(); err == nil && c.now != nil {
					idle.Reset(c.patience)
				}
				break
			}
			err = c.take()
			select {
			case c.wake <- struct{}{}:
			default:
			}
		case <-idle.C:
			if err = c.pause(); c.now != nil {
				idle.Reset(c.patience)
			}
		case <-c.ends:
			return
		}
		if err != nil && c.w.Failed != nil {
			c.w.Failed(err)
		}
	}
}

// pause stops the client if it has nothing to do.
func (c *clients) pause() error {
	if c.now == nil {
		return nil
	}
	if ready, err := c.ready(); err != nil || ready || !c.rest.begin() {
		return err
	}
	ctx, cancel := context.WithTimeout(c.ctx, stopLimit)
	defer cancel()
	err := c.now.Stop(ctx)
	c.now = nil
	c.rest.end()
	if err != nil {
		return fmt.Errorf("tasks: rest: %w", err)
	}
	return c.begin() // what came in the meantime
}

// stop ends all.
func (c *clients) stop(ctx context.Context) error {
	close(c.ends)
	<-c.done
	if c.now == nil {
		return nil
	}
	return c.now.StopAndCancel(ctx)
}

// resting keeps tasks from beginning in a client that stops because it has none.
type resting struct {
	mu     sync.Mutex
	rests  bool
	active int
}

// enter reports whether a task may begin; leave follows then.
func (r *resting) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rests {
		return false
	}
	r.active++
	return true
}

func (r *resting) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active--
}

// begin reports whether no task is worked on; none begins until end.
func (r *resting) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rests = r.active == 0
	return r.rests
}

func (r *resting) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rests = false
}
