package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"jcode/internal/atomicfile"
	"jcode/internal/filelock"
)

// record is the stored sign-in to one server.
type record struct {
	Server        string `json:"server"`
	Issuer        string `json:"issuer"`
	TokenEndpoint string `json:"token_endpoint"`
	// Revoke is where a sign-out makes the tokens invalid (RFC 7009); empty if there is no such place.
	Revoke   string     `json:"revocation_endpoint,omitempty"`
	Resource string     `json:"resource"`
	Client   registered `json:"client"`
	Access   string     `json:"access,omitempty"`
	Refresh  string     `json:"refresh,omitempty"`
	// Since is when the person signed in, or the client without one.
	Since   time.Time `json:"since,omitzero"`
	Issued  time.Time `json:"issued,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	Scopes  []string  `json:"scopes,omitempty"`
	// Challenged are the scopes that refused requests needed. Every later sign-in requests them too.
	Challenged []string `json:"challenged,omitempty"`
	// Key is the private key (PKCS #8) that the tokens are bound to (RFC 9449).
	Key []byte `json:"dpop_key,omitempty"`
	// Bound says that the access token may only be used with proofs of Key.
	Bound bool `json:"dpop_bound,omitempty"`
	// Refused says that the server no longer accepts the refresh token.
	Refused bool `json:"refused,omitempty"`
	// Renewing is when a renewal was started whose answer is not stored. It is written before the
	// refresh token is sent, so that the loss of a replaced token can be explained.
	Renewing time.Time `json:"renewing,omitzero"`
	// Interrupted says that the refresh token was refused after such a renewal.
	Interrupted bool `json:"interrupted,omitempty"`
	// Saved is when the record was stored.
	Saved time.Time `json:"saved,omitzero"`
	// ID is the ID token of an identity provider.
	ID string `json:"id_token,omitempty"`
}

// early is how long before its expiry a token is renewed, at most.
const early = time.Minute

// fresh reports whether the access token stays valid for a while: a minute, or the last quarter of a
// short life.
func (r record) fresh(now time.Time) bool {
	ahead := early
	if life := r.Expires.Sub(r.Issued); !r.Issued.IsZero() && life > 0 {
		ahead = min(ahead, life/4)
	}
	return r.Access != "" && (r.Expires.IsZero() || now.Add(ahead).Before(r.Expires))
}

// lacks reports whether the token has fewer scopes than refused requests needed.
func (r record) lacks() bool {
	return r.Access != "" && slices.ContainsFunc(r.Challenged, func(s string) bool { return !slices.Contains(r.Scopes, s) })
}

// renewable reports whether the access token can be renewed without a person.
func (r record) renewable() bool { return r.Refresh != "" && !r.Refused && r.TokenEndpoint != "" }

// store keeps records by server address. Changes are made under Keeper.lock only.
type store interface {
	get(key string) (record, error) // the zero record if there is none
	put(key string, r record) error
	drop(key string) error
	where() string
}

const (
	tokenFile = "mcp-tokens.json"
	lockFile  = "mcp-tokens.lock"
	// lockWait limits the wait for another process that renews a token.
	lockWait = time.Minute
)

// fileStore stores records in a file that only the person can read.
type fileStore struct{ path string }

func (s fileStore) where() string { return s.path }

func (s fileStore) all() (map[string]record, error) {
	if info, err := os.Stat(s.path); err == nil && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(s.path, 0o600) // a copy or a backup may have opened it; a system without such rights has others
	}
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]record{}, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]record{}
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("read %s: %w; remove it to sign in again", s.path, err)
	}
	return out, nil
}

func (s fileStore) get(key string) (record, error) {
	all, err := s.all()
	return all[key], err
}

func (s fileStore) put(key string, r record) error {
	r.Saved = time.Now()
	return s.change(func(all map[string]record) { all[key] = r })
}

// drop removes a record, and leaves a file without it as it is.
func (s fileStore) drop(key string) error {
	if all, err := s.all(); err != nil || all[key].Server == "" {
		return err
	}
	return s.change(func(all map[string]record) { delete(all, key) })
}

func (s fileStore) change(f func(map[string]record)) error {
	all, err := s.all()
	if err != nil {
		return err
	}
	f(all)
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(s.path, append(data, '\n'), atomicfile.Options{Perm: 0o600, Sync: true})
}

// keep stores a record of a server.
func (k *Keeper) keep(ctx context.Context, s Server, rec record) error {
	unlock, err := k.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return k.open().put(s.key(), rec)
}

// lock keeps other processes and goroutines from changing records.
func (k *Keeper) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	l, err := filelock.Wait(ctx, filepath.Join(k.dir, lockFile))
	if err != nil {
		return nil, fmt.Errorf("wait for another jcode that signs in: %w", err)
	}
	return func() { _ = l.Unlock() }, nil // closing the file releases the lock
}
