package builtin

import (
	"context"
	"slices"
	"strings"
	"sync"

	"jcode/internal/filelock"
	"jcode/internal/system"
)

// locks lets one call at a time change a path. The zero value is ready to use.
type locks struct {
	mu   sync.Mutex
	held map[string]*pathLock
	// machine excludes other processes too.
	machine filelock.Paths
}

type pathLock struct {
	turn  chan struct{} // contains one token while the lock is held
	users int
}

// lock waits until no other call of any process changes any of the resolved paths, or until ctx
// ends. unlock must be called unless there is an error.
func (l *locks) lock(ctx context.Context, paths ...string) (unlock func(), err error) {
	keys := make([]string, len(paths))
	for i, p := range paths {
		keys[i] = p
		if system.MayFoldNames() {
			keys[i] = strings.ToLower(p) // two spellings may be one file there
		}
	}
	slices.Sort(keys) // the same order for all calls, to avoid a deadlock
	keys = slices.Compact(keys)
	for i, k := range keys {
		select {
		case l.enter(k).turn <- struct{}{}:
		case <-ctx.Done():
			l.leave(k)
			l.release(keys[:i])
			return nil, ctx.Err()
		}
	}
	others, err := l.machine.Lock(ctx, keys...)
	if err != nil {
		l.release(keys)
		return nil, err
	}
	return func() { others(); l.release(keys) }, nil
}

func (l *locks) enter(key string) *pathLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.held[key]
	if p == nil {
		if l.held == nil {
			l.held = map[string]*pathLock{}
		}
		p = &pathLock{turn: make(chan struct{}, 1)}
		l.held[key] = p
	}
	p.users++
	return p
}

func (l *locks) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.held[key]
	if p.users--; p.users == 0 {
		delete(l.held, key)
	}
}

func (l *locks) release(keys []string) {
	for _, k := range keys {
		l.mu.Lock()
		<-l.held[k].turn
		l.mu.Unlock()
		l.leave(k)
	}
}
