package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"jcode/session/db"
)

// The limits of Lua state.
const (
	MaxLuaKey   = 256      // bytes of a key
	MaxLuaValue = 64 << 10 // bytes of a value as JSON
	MaxLuaKeys  = 1000     // keys of a scope
)

// LuaState keeps the values that Lua scripts store, by scope and key.
type LuaState struct{ s *Store }

// LuaState returns the store's Lua state.
func (s *Store) LuaState() LuaState { return LuaState{s} }

// Get returns the JSON value of a key in a scope; ok is false where there is none.
func (l LuaState) Get(ctx context.Context, scope, key string) (value json.RawMessage, ok bool, err error) {
	var b []byte
	err = l.s.db.Row(ctx, "SELECT value FROM lua_state WHERE scope = ? AND key = ?", []any{scope, key}, &b)
	if errors.Is(err, ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("state.get %q: %w", key, err)
	}
	return b, true, nil
}

// Set keeps a JSON value under a key of a scope. The value is in the file when Set
// returns. The error of an exceeded limit names the limit.
func (l LuaState) Set(ctx context.Context, scope, key string, value json.RawMessage) error {
	if err := checkLua("set", key, value); err != nil {
		return err
	}
	return l.s.change(ctx, fmt.Sprintf("state.set %q", key), func(t *tx) error { return putLua(t, scope, key, value) })
}

// Swap keeps a value like Set if the stored one is still old, and reports whether it was; nil stands for no value. What
// is compared and written belongs to one transaction, whoever else writes.
func (l LuaState) Swap(ctx context.Context, scope, key string, old, value json.RawMessage) (swapped bool, err error) {
	if value != nil {
		if err := checkLua("update", key, value); err != nil {
			return false, err
		}
	}
	err = l.s.change(ctx, fmt.Sprintf("state.update %q", key), func(t *tx) error {
		var now []byte
		err := t.Row("SELECT value FROM lua_state WHERE scope = ? AND key = ?", []any{scope, key}, &now)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if swapped = (err == nil) == (old != nil) && bytes.Equal(now, old); !swapped {
			return nil
		}
		if value == nil {
			return t.run("DELETE FROM lua_state WHERE scope = ? AND key = ?", scope, key)
		}
		return putLua(t, scope, key, value)
	})
	return swapped && err == nil, err
}

// checkLua checks a value that shall be kept.
func checkLua(fn, key string, value json.RawMessage) error {
	switch {
	case key == "":
		return fmt.Errorf("state.%s: the key is empty", fn)
	case len(key) > MaxLuaKey:
		return fmt.Errorf("state.%s: the key has %d bytes, at most %d are kept", fn, len(key), MaxLuaKey)
	case !utf8.ValidString(key):
		return fmt.Errorf("state.%s: the key is not UTF-8", fn)
	case len(value) > MaxLuaValue:
		return fmt.Errorf("state.%s %q: the value has %d bytes, at most %d are kept", fn, key, len(value), MaxLuaValue)
	case !utf8.Valid(value):
		return fmt.Errorf("state.%s %q: the value is not UTF-8", fn, key)
	case !json.Valid(value):
		return fmt.Errorf("state.%s %q: the value is not valid JSON", fn, key)
	}
	return nil
}

// putLua keeps a value.
func putLua(t *tx, scope, key string, value json.RawMessage) error {
	var count int
	if err := t.Row("SELECT count(*) FROM lua_state WHERE scope = ? AND key <> ?", []any{scope, key}, &count); err != nil {
		return err
	}
	if count >= MaxLuaKeys {
		return fmt.Errorf("there are %d keys already, at most %d are kept: delete one first", count, MaxLuaKeys)
	}
	return t.run(`INSERT INTO lua_state (scope, key, value) VALUES (?, ?, ?)
		ON CONFLICT (scope, key) DO UPDATE SET value = excluded.value`, scope, key, []byte(value))
}

// Delete deletes a key. A missing key is not an error.
func (l LuaState) Delete(ctx context.Context, scope, key string) error {
	return l.s.change(ctx, fmt.Sprintf("state.set %q", key), func(t *tx) error {
		return t.run("DELETE FROM lua_state WHERE scope = ? AND key = ?", scope, key)
	})
}

// Keys returns a scope's keys, sorted by bytes.
func (l LuaState) Keys(ctx context.Context, scope string) ([]string, error) {
	keys := []string{}
	err := l.s.db.Each(ctx, "SELECT key FROM lua_state WHERE scope = ? ORDER BY key", []any{scope}, func(scan db.Scan) error {
		var k string
		err := scan(&k)
		keys = append(keys, k)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("state.keys: %w", err)
	}
	return keys, nil
}
