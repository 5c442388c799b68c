package lua

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
)

// stateScope returns where the values of a script are stored.
func (a *surroundings) stateScope(scope, name string) string {
	if scope == "project" {
		return "project-" + a.opts.ProjectID + "/" + name
	}
	return "user/" + name
}

// stateOf returns where the values of a tool folder are stored. Folders of one name in different roots are
// different tools, and share nothing.
func (a *surroundings) stateOf(s *slot) string {
	return a.stateScope(s.root.scope, s.root.state+s.name)
}

// division is whether the values of folders of one name were told apart.
type division struct {
	mu   sync.Mutex
	done bool
}

// dividedScope keeps which scopes were divided, by their names.
const dividedScope = "jcode/divided"

// divide gives the values that were stored while all folders of one name shared them to the one folder that there is,
// once for each scope.
func (a *surroundings) divide(ctx context.Context) error {
	a.division.mu.Lock()
	defer a.division.mu.Unlock()
	if a.division.done {
		return nil
	}
	store := a.opts.State
	marks := map[string]bool{}
	for _, s := range a.held.slots() {
		if s.root.state == "" || s.current() == nil {
			continue
		}
		scope := a.stateScope(s.root.scope, "")
		_, done, err := store.Get(ctx, dividedScope, scope)
		if err != nil {
			return err
		}
		if marks[scope] = true; done || a.hasPlain(s) {
			continue
		}
		if err := moveState(ctx, store, a.stateScope(s.root.scope, s.name), a.stateOf(s)); err != nil {
			return fmt.Errorf("state of %s: %w", s.name, err)
		}
	}
	for scope := range marks {
		if err := store.Set(ctx, dividedScope, scope, json.RawMessage("true")); err != nil {
			return err
		}
	}
	a.division.done = true
	return nil
}

// hasPlain reports whether there is a folder of the same name whose values stay where they are.
func (a *surroundings) hasPlain(s *slot) bool {
	for _, other := range a.held.slots() {
		if other.name == s.name && other.root.state == "" && other.current() != nil && a.stateScope(other.root.scope, "") == a.stateScope(s.root.scope, "") {
			return true
		}
	}
	return false
}

func moveState(ctx context.Context, store StateStore, from, to string) error {
	keys, err := store.Keys(ctx, from)
	if err != nil {
		return err
	}
	for _, key := range keys {
		value, ok, err := store.Get(ctx, from, key)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := store.Set(ctx, to, key, value); err != nil {
			return err
		}
		if err := store.Delete(ctx, from, key); err != nil {
			return err
		}
	}
	return nil
}
