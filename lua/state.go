package lua

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"unicode/utf8"

	"jcode/internal/secret"
	"jcode/lua/wire"
)

// Limits of what a script may store.
const (
	maxStateKey   = 256
	maxStateValue = 64 << 10
)

// callState implements state.*. Keys belong to the script's own scope: no script can access
// another's.
func (s *principal) callState(ctx context.Context, fn string, a arguments) ([]any, error) {
	store := s.room.opts.State
	if store == nil {
		return nil, errors.New("state is not available here")
	}
	key := a.text(0)
	if fn != "keys" && (key == "" || len(key) > maxStateKey || !utf8.ValidString(key)) {
		return nil, fmt.Errorf("state.%s: a key has 1 to %d bytes of UTF-8", fn, maxStateKey)
	}
	switch fn {
	case "get":
		raw, ok, err := store.Get(ctx, s.scope, key)
		if err != nil || !ok {
			return one(nil), err
		}
		v, err := wire.DecodeJSON(raw)
		if err != nil {
			return nil, fmt.Errorf("state.get %q: the stored value is damaged: %w", key, err)
		}
		return one(v), nil
	case "set":
		return nil, s.setState(ctx, store, key, a.at(1))
	}
	keys, err := store.Keys(ctx, s.scope)
	if err != nil {
		return nil, err
	}
	slices.Sort(keys)
	list := make([]any, len(keys))
	for i, k := range keys {
		list[i] = k
	}
	return one(list), nil
}

func (s *principal) setState(ctx context.Context, store StateStore, key string, v any) error {
	if v == nil {
		return store.Delete(ctx, s.scope, key)
	}
	if bad := badText(v, "value"); bad != "" {
		return fmt.Errorf("state.set %q: %s: the text is not UTF-8; encode it first", key, bad)
	}
	raw, err := wire.EncodeJSON(v, true)
	if err != nil {
		return fmt.Errorf("state.set %q: %w", key, err)
	}
	if len(raw) > maxStateValue {
		return fmt.Errorf("state.set %q: the value has %d bytes, at most %d are kept", key, len(raw), maxStateValue)
	}
	return store.Set(ctx, s.scope, key, raw)
}

// readEnv returns an environment variable that was declared, and never a key.
func (s *principal) readEnv(f wire.Func, name string) ([]any, error) {
	if !s.all && !slices.Contains(s.perms.Env, name) {
		return s.refuse(f, s.declareText("env")+fmt.Sprintf(" with %q", name))
	}
	v, ok := os.LookupEnv(name)
	if !ok || secret.Name(name) || s.room.opts.SecretEnv != nil && s.room.opts.SecretEnv(name) {
		return one(nil), nil
	}
	return one(v), nil
}
