package session

import (
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
	switch {
	case key == "":
		return errors.New("state.set: the key is empty")
	case len(key) > MaxLuaKey:
		return fmt.Errorf("state.set: the key has %d bytes, at most %d are kept", len(key), MaxLuaKey)
	case !utf8.ValidString(key):
		return errors.New("state.set: the key is not UTF-8")
	case len(value) > MaxLuaValue:
		return fmt.Errorf("state.set %q: the value has %d bytes, at most %d are kept", key, len(value), MaxLuaValue)
	case !utf8.Valid(value):
		return fmt.Errorf("state.set %q: the value is not UTF-8", key)
	case !json.Valid(value):
		return fmt.Errorf("state.set %q: the value is not valid JSON", key)
	}
	return l.s.change(ctx, fmt.Sprintf("state.set %q", key), func(t *tx) error {
		var count int
		if err := t.Row("SELECT count(*) FROM lua_state WHERE scope = ? AND key <> ?", []any{scope, key}, &count); err != nil {
			return err
		}
		if count >= MaxLuaKeys {
			return fmt.Errorf("there are %d keys already, at most %d are kept: delete one first", count, MaxLuaKeys)
		}
		return t.run(`INSERT INTO lua_state (scope, key, value) VALUES (?, ?, ?)
			ON CONFLICT (scope, key) DO UPDATE SET value = excluded.value`, scope, key, []byte(value))
	})
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
