package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/zalando/go-keyring"

	"jcode/internal/atomicfile"
	"jcode/internal/filelock"
	"jcode/internal/system"
)

// record is the stored sign-in to one server.
type record struct {
	Server        string     `json:"server"`
	Issuer        string     `json:"issuer"`
	TokenEndpoint string     `json:"token_endpoint"`
	Resource      string     `json:"resource"`
	Client        registered `json:"client"`
	Access        string     `json:"access,omitempty"`
	Refresh       string     `json:"refresh,omitempty"`
	Expires       time.Time  `json:"expires,omitzero"`
	Scopes        []string   `json:"scopes,omitempty"`
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

// early is how long before its expiry a token is renewed.
const early = time.Minute

// fresh reports whether the access token stays valid for a while.
func (r record) fresh(now time.Time) bool {
	return r.Access != "" && (r.Expires.IsZero() || now.Add(early).Before(r.Expires))
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
	service   = "jcode mcp"
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

// keyringStore stores records in the system's keyring, and what is too long for it in a file.
type keyringStore struct{ file fileStore }

func (keyringStore) where() string { return "the system's keyring" }

// get returns the newer one of the keyring's record and the file's: while the keyring did not answer, a sign-in went to
// the file.
func (s keyringStore) get(key string) (record, error) {
	inFile, fileErr := s.file.get(key)
	text, err := keyring.Get(service, key)
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return inFile, fileErr
	case err != nil && inFile.Server != "":
		return inFile, nil
	case err != nil:
		return record{}, fmt.Errorf("read the keyring: it is locked or does not answer: %w", err)
	}
	var r record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return record{}, fmt.Errorf("read the keyring's entry for %s: %w", key, err)
	}
	if inFile.Server != "" && !inFile.Saved.Before(r.Saved) {
		return inFile, nil
	}
	return r, nil
}

func (s keyringStore) put(key string, r record) error {
	r.Saved = time.Now()
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err = keyring.Set(service, key, string(data)); err == nil {
		return s.file.drop(key)
	}
	if err := s.file.put(key, r); err != nil {
		return err
	}
	_ = keyring.Delete(service, key) // an older entry must not be found; an error means that there is none
	return nil
}

func (s keyringStore) drop(key string) error {
	if err := keyring.Delete(service, key); err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return fmt.Errorf("remove from the keyring: %w", err)
	}
	return s.file.drop(key)
}

// openStore chooses where records are stored: in the system's keyring if it answers, else in a
// file. `JCODE_MCP_TOKENS=file` always selects the file.
func openStore(dir string, getenv func(string) string) store {
	file := fileStore{filepath.Join(dir, tokenFile)}
	if getenv("JCODE_MCP_TOKENS") == "file" || !hasKeyring(getenv) {
		return file
	}
	return keyringStore{file}
}

// keyringPatience is the time that the keyring has to answer at all.
const keyringPatience = 5 * time.Second

// hasKeyring reports whether the system's keyring answers. It doesn't ask if no session bus is
// running, because asking could start one.
func hasKeyring(getenv func(string) string) bool {
	if system.KeyringNeedsBus() && getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		return false
	}
	answer := make(chan error, 1)
	go func() {
		_, err := keyring.Get(service, "probe")
		answer <- err
	}()
	select {
	case err := <-answer:
		return err == nil || errors.Is(err, keyring.ErrNotFound)
	case <-time.After(keyringPatience):
		return false
	}
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
