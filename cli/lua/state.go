package luacli

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"jcode/session"
)

// State stores the state of scripts. In a private conversation it writes to memory, on top of what was
// stored before.
type State struct {
	Stored  session.LuaState
	Private func() bool // whether what is kept now is kept in memory only

	mu   sync.Mutex
	over map[[2]string]json.RawMessage // by scope and key; nil was deleted
}

// Get implements lua.StateStore.
func (l *State) Get(ctx context.Context, scope, key string) (json.RawMessage, bool, error) {
	if l.Private() {
		l.mu.Lock()
		value, has := l.over[[2]string{scope, key}]
		l.mu.Unlock()
		if has {
			return value, value != nil, nil
		}
	}
	return l.Stored.Get(ctx, scope, key)
}

// Set implements lua.StateStore.
func (l *State) Set(ctx context.Context, scope, key string, value json.RawMessage) error {
	if l.put(scope, key, slices.Clone(value)) {
		return nil
	}
	return l.Stored.Set(ctx, scope, key, value)
}

// Delete implements lua.StateStore.
func (l *State) Delete(ctx context.Context, scope, key string) error {
	if l.put(scope, key, nil) {
		return nil
	}
	return l.Stored.Delete(ctx, scope, key)
}

// Swap implements lua.StateStore.
func (l *State) Swap(ctx context.Context, scope, key string, old, value json.RawMessage) (bool, error) {
	if !l.Private() {
		return l.Stored.Swap(ctx, scope, key, old, value)
	}
	now, has, err := l.Get(ctx, scope, key)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if newer, over := l.over[[2]string{scope, key}]; over {
		now, has = newer, newer != nil
	}
	if has != (old != nil) || has && !bytes.Equal(now, old) {
		return false, nil
	}
	l.keep(scope, key, slices.Clone(value))
	return true, nil
}

// put keeps a value in memory if the conversation is private, and reports whether it did.
func (l *State) put(scope, key string, value json.RawMessage) bool {
	if !l.Private() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(scope, key, value)
	return true
}

// keep is called under the lock.
func (l *State) keep(scope, key string, value json.RawMessage) {
	if l.over == nil {
		l.over = map[[2]string]json.RawMessage{}
	}
	l.over[[2]string{scope, key}] = value
}

// Keys implements lua.StateStore.
func (l *State) Keys(ctx context.Context, scope string) ([]string, error) {
	keys, err := l.Stored.Keys(ctx, scope)
	if err != nil || !l.Private() {
		return keys, err
	}
	all := map[string]bool{}
	for _, k := range keys {
		all[k] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for at, value := range l.over {
		if at[0] != scope {
			continue
		}
		if value != nil {
			all[at[1]] = true
		} else {
			delete(all, at[1])
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}
