package tools

import (
	"context"
	"sync"
	"time"
)

// WithLimit bounds work as context.WithTimeout does, but its clock stands while a person is asked: see Asking.
func WithLimit(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	l := &limited{Context: parent, done: make(chan struct{}), left: limit, since: time.Now()}
	l.timer = time.AfterFunc(limit, l.expire)
	unwatch := context.AfterFunc(parent, func() { l.end(parent.Err()) })
	return l, func() {
		unwatch()
		l.end(context.Canceled)
	}
}

// Asking stops the clocks of all limits of a context, until over is called: a person is asked.
func Asking(ctx context.Context) (over func()) {
	var all []*limited
	for l, _ := ctx.Value(limitKey{}).(*limited); l != nil; l, _ = l.Context.Value(limitKey{}).(*limited) {
		l.stand(1)
		all = append(all, l)
	}
	return func() {
		for _, l := range all {
			l.stand(-1)
		}
	}
}

// Left returns what is left of a context's innermost limit, 0 if it has none.
func Left(ctx context.Context) time.Duration {
	l, _ := ctx.Value(limitKey{}).(*limited)
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.err != nil:
		return 0
	case l.asking > 0:
		return l.left
	}
	return max(l.left-time.Since(l.since), 0)
}

// limitKey finds the innermost limit of a context.
type limitKey struct{}

// limited is a context with a limit.
type limited struct {
	context.Context // its parent
	done            chan struct{}

	mu     sync.Mutex
	timer  *time.Timer
	left   time.Duration // when the clock was started last
	since  time.Time
	asking int   // questions that are open
	err    error // why it ended
}

// Done implements context.Context.
func (l *limited) Done() <-chan struct{} { return l.done }

// Value implements context.Context.
func (l *limited) Value(key any) any {
	if key == (limitKey{}) {
		return l
	}
	return l.Context.Value(key)
}

// Err implements context.Context.
func (l *limited) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// end ends it for a reason, unless it has ended.
func (l *limited) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
		l.timer.Stop()
		close(l.done)
	}
}

func (l *limited) expire() {
	l.mu.Lock()
	asking := l.asking > 0 // a question came at the last moment
	l.mu.Unlock()
	if !asking {
		l.end(context.DeadlineExceeded)
	}
}

// stand changes the number of open questions; the clock runs while there are none.
func (l *limited) stand(by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.asking
	l.asking += by
	switch {
	case l.err != nil:
	case was == 0:
		l.timer.Stop()
		l.left = max(l.left-time.Since(l.since), 0)
	case l.asking == 0:
		l.since = time.Now()
		l.timer.Reset(l.left)
	}
}
