package lua

import (
	"context"
	"encoding/json"
	"fmt"
)

// stateScope returns where the values of a script are stored.
func (r *Room) stateScope(scope, name string) string {
	if scope == "project" {
		return "project-" + r.opts.ProjectID + "/" + name
	}
	return "user/" + name
}

// ownState returns where the values of a tool folder are stored. Folders of one name in different roots are
// different tools, and share nothing.
func (s *slot) ownState() string { return s.room.stateScope(s.root.scope, s.root.state+s.name) }

// dividedScope keeps which scopes were divided, by their names.
const dividedScope = "jcode/divided"

// divide gives the values that were stored while all folders of one name shared them to the one folder that there is,
// once for each scope.
func divide(ctx context.Context, r *Room) error {
	r.dividing.Lock()
	defer r.dividing.Unlock()
	if r.divided {
		return nil
	}
	store := r.opts.State
	marks := map[string]bool{}
	for _, s := range r.slots() {
		if s.root.state == "" || s.current() == nil {
			continue
		}
		scope := r.stateScope(s.root.scope, "")
		_, done, err := store.Get(ctx, dividedScope, scope)
		if err != nil {
			return err
		}
		if marks[scope] = true; done || hasPlain(r, s) {
			continue
		}
		if err := moveState(ctx, store, r.stateScope(s.root.scope, s.name), s.ownState()); err != nil {
			return fmt.Errorf("state of %s: %w", s.name, err)
		}
	}
	for scope := range marks {
		if err := store.Set(ctx, dividedScope, scope, json.RawMessage("true")); err != nil {
			return err
		}
	}
	r.divided = true
	return nil
}

// hasPlain reports whether there is a folder of the same name whose values stay where they are.
func hasPlain(r *Room, s *slot) bool {
	for _, other := range r.slots() {
		if other.name == s.name && other.root.state == "" && other.current() != nil && r.stateScope(other.root.scope, "") == r.stateScope(s.root.scope, "") {
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
