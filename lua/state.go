package lua

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
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
	store := s.around.opts.State
	if store == nil {
		return nil, errors.New("state is not available here")
	}
	if err := s.around.divide(ctx); err != nil {
		return nil, err
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
	case "update":
		return s.updateState(ctx, store, key, a.object(2))
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
	raw, err := encodeState("set", key, v)
	if err != nil {
		return err
	}
	return store.Set(ctx, s.scope, key, raw)
}

// updateState gives the stored value to the script, without put; with it, it keeps the value in put if the stored one is
// still the one that was given, and gives the newer one otherwise.
func (s *principal) updateState(ctx context.Context, store StateStore, key string, put *wire.Object) ([]any, error) {
	if put != nil {
		var raw json.RawMessage
		if v := put.Get("value"); v != nil {
			var err error
			if raw, err = encodeState("update", key, v); err != nil {
				return nil, err
			}
		}
		if given, ok := s.given[key]; ok { // fn may have updated the same key meanwhile
			if swapped, err := store.Swap(ctx, s.scope, key, given, raw); err != nil || swapped {
				delete(s.given, key)
				return []any{nil, true}, err
			}
		}
	}
	raw, ok, err := store.Get(ctx, s.scope, key)
	if err != nil {
		return nil, err
	}
	var v any
	if !ok {
		raw = nil
	} else if v, err = wire.DecodeJSON(raw); err != nil {
		return nil, fmt.Errorf("state.update %q: the stored value is damaged: %w", key, err)
	}
	if s.given == nil {
		s.given = map[string]json.RawMessage{}
	}
	s.given[key] = raw
	return one(v), nil
}

// encodeState returns a value as it is stored.
func encodeState(fn, key string, v any) (json.RawMessage, error) {
	if bad := badText(v, "value"); bad != "" {
		return nil, fmt.Errorf("state.%s %q: %s: the text is not UTF-8; encode it first", fn, key, bad)
	}
	raw, err := wire.EncodeJSON(v, true)
	if err != nil {
		return nil, fmt.Errorf("state.%s %q: %w", fn, key, err)
	}
	if len(raw) > maxStateValue {
		return nil, fmt.Errorf("state.%s %q: the value has %d bytes, at most %d are kept", fn, key, len(raw), maxStateValue)
	}
	return raw, nil
}

// usesState reports whether source may store values. Its calls then keep their order: what one stores, the next one sees.
func usesState(source string) bool {
	for at := 0; ; {
		i := strings.Index(source[at:], "state")
		if i < 0 {
			return false
		}
		i += at
		at = i + len("state")
		if (i == 0 || !wordByte(source[i-1])) && (at == len(source) || !wordByte(source[at])) {
			return true
		}
	}
}

// usesState reports whether one of a script's files may store values.
func (b bundle) usesState() bool {
	for _, source := range b.modules {
		if usesState(source) {
			return true
		}
	}
	return usesState(b.text)
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}

// withheld reports whether a variable is never given to scripts; isKey, if set, knows those of providers.
func withheld(name string, isKey func(string) bool) bool {
	return secret.Name(name) || isKey != nil && isKey(name)
}

// readEnv returns an environment variable that was declared, and never a key.
func (s *principal) readEnv(f wire.Func, name string) ([]any, error) {
	if !s.all && !slices.Contains(s.perms.Env, name) {
		return s.refuse(f, s.declareText("env")+fmt.Sprintf(" with %q", name))
	}
	if withheld(name, s.around.opts.SecretEnv) {
		return []any{nil, fmt.Sprintf("%s is withheld from scripts: its name is that of a secret, or it holds a provider's key", name)}, nil
	}
	v, ok := os.LookupEnv(name)
	if !ok {
		return one(nil), nil
	}
	return one(v), nil
}
