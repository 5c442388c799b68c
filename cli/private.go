package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"jcode/cli/console"
	"jcode/internal/slicex"
	"jcode/session"
	"jcode/tools/command"
)

// errPrivate says why something is not stored.
var errPrivate = errors.New("nothing of a private conversation is kept on the disk")

// privateNotice says once what a private conversation means.
const privateNotice = "This conversation is private: nothing of it is kept on the disk. A crash, and the end of jcode, lose it; /save keeps it after all, from its beginning."

// privateNow reports whether nothing that is said now may be written to disk.
func (a *app) privateNow() bool {
	if conv := a.board.Open(); conv != nil {
		return conv.Private()
	}
	return a.private.Load()
}

// checkPrivate refuses flags that continue something stored.
func (f *flags) checkPrivate() error {
	if f.Private && (f.Continue || f.Resume != "" || f.Fork) {
		return console.Usage("--private begins a conversation that is not kept: -c, -r and --fork continue a kept one")
	}
	return nil
}

// private runs /private.
func (p personCommands) private(ctx context.Context, args string) (command.Outcome, error) {
	conv := p.s.conv()
	if conv == nil {
		return command.Outcome{}, errors.New("not before the session is ready")
	}
	on := false
	switch args {
	case "":
		if conv.Private() {
			return command.Outcome{Page: "Private", Notice: privateNotice}, nil
		}
		return command.Outcome{Page: "Private", Notice: "This conversation is kept. /private on, before its first message, keeps nothing of one on the disk."}, nil
	case "on":
		on = true
	case "off":
	default:
		return command.Outcome{}, fmt.Errorf("/private %s: say on or off", args)
	}
	if err := conv.SetPrivate(on); err != nil {
		if !on {
			return command.Outcome{}, fmt.Errorf("%w; /save keeps this one", err)
		}
		return command.Outcome{}, err
	}
	p.beginPrivate.Store(on)
	if on {
		if err := p.drafts.SetDraft(ctx, ""); err != nil { // the text in the input is removed too
			return command.Outcome{}, err
		}
		return command.Outcome{Notice: privateNotice}, nil
	}
	return command.Outcome{Notice: "This conversation is kept, from its first message on."}, nil
}

// completePrivate completes /private.
func completePrivate(_ context.Context, args string) []string {
	return slicex.WithPrefix([]string{"on", "off"}, args)
}

// save runs /save.
func (p personCommands) save(ctx context.Context, _ string) (command.Outcome, error) {
	conv := p.s.conv()
	switch {
	case conv == nil:
		return command.Outcome{}, errors.New("not before the session is ready")
	case !conv.Private():
		return command.Outcome{Notice: "This conversation is kept already."}, nil
	}
	if err := conv.Keep(ctx); err != nil {
		return command.Outcome{}, err
	}
	if conv.ID() == "" {
		return command.Outcome{Notice: "This conversation is kept, from its first message on."}, nil
	}
	return command.Outcome{Notice: "Saved from the beginning: jcode -r " + shortID(conv.ID()) + " continues it."}, nil
}

// luaState stores the state of scripts. In a private conversation it writes to memory, on top of what was
// stored before.
type luaState struct {
	stored  session.LuaState
	private func() bool

	mu   sync.Mutex
	over map[[2]string]json.RawMessage // by scope and key; nil was deleted
}

// Get implements lua.StateStore.
func (l *luaState) Get(ctx context.Context, scope, key string) (json.RawMessage, bool, error) {
	if l.private() {
		l.mu.Lock()
		value, has := l.over[[2]string{scope, key}]
		l.mu.Unlock()
		if has {
			return value, value != nil, nil
		}
	}
	return l.stored.Get(ctx, scope, key)
}

// Set implements lua.StateStore.
func (l *luaState) Set(ctx context.Context, scope, key string, value json.RawMessage) error {
	if l.put(scope, key, slices.Clone(value)) {
		return nil
	}
	return l.stored.Set(ctx, scope, key, value)
}

// Delete implements lua.StateStore.
func (l *luaState) Delete(ctx context.Context, scope, key string) error {
	if l.put(scope, key, nil) {
		return nil
	}
	return l.stored.Delete(ctx, scope, key)
}

// Swap implements lua.StateStore.
func (l *luaState) Swap(ctx context.Context, scope, key string, old, value json.RawMessage) (bool, error) {
	if !l.private() {
		return l.stored.Swap(ctx, scope, key, old, value)
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
func (l *luaState) put(scope, key string, value json.RawMessage) bool {
	if !l.private() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(scope, key, value)
	return true
}

// keep is called under the lock.
func (l *luaState) keep(scope, key string, value json.RawMessage) {
	if l.over == nil {
		l.over = map[[2]string]json.RawMessage{}
	}
	l.over[[2]string{scope, key}] = value
}

// Keys implements lua.StateStore.
func (l *luaState) Keys(ctx context.Context, scope string) ([]string, error) {
	keys, err := l.stored.Keys(ctx, scope)
	if err != nil || !l.private() {
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
