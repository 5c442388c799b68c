package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/zalando/go-keyring"

	"jcode/internal/system"
)

const (
	service = "jcode mcp"
	// keyringPatience is the time that the keyring has for an answer.
	keyringPatience = 2 * time.Second
	// keyringPause is how long a keyring that failed is left alone at first, because asking it again may show one more
	// dialog. Each failure doubles it, up to keyringLongest.
	keyringPause   = 10 * time.Second
	keyringLongest = 10 * time.Minute
)

// KeyringError is the error that the system's keyring is there but can't be used, so that nobody
// knows whether it has a sign-in.
type KeyringError struct{ Err error }

func (e *KeyringError) Error() string {
	return "the keyring is locked or does not answer (" + e.Err.Error() + "): unlock it and try again"
}

func (e *KeyringError) Unwrap() error { return e.Err }

// errNoKeyring says that this system or session has no keyring.
var errNoKeyring = errors.New("there is no keyring")

// errDamaged says that a stored sign-in can't be decoded. A new one replaces it.
var errDamaged = errors.New("the stored sign-in can't be read")

// errNoAnswer says that a call of the keyring has not returned.
var errNoAnswer = errors.New("no answer within " + keyringPatience.String())

// secrets is a keyring.
type secrets interface {
	get(key string) (string, error)
	set(key, value string) error
	remove(key string) error
}

// systemSecrets is the system's keyring.
type systemSecrets struct{}

func (systemSecrets) get(key string) (string, error) { return keyring.Get(service, key) }
func (systemSecrets) set(key, value string) error    { return keyring.Set(service, key, value) }
func (systemSecrets) remove(key string) error        { return keyring.Delete(service, key) }

// ring is a keyring whose calls end. After a failure it is not asked again for a while; while a call
// has not returned, it is not asked at all.
type ring struct {
	secrets  secrets
	patience time.Duration

	mu      sync.Mutex
	trouble error     // of the last call
	until   time.Time // how long trouble is the answer
	pause   time.Duration
	hanging bool
}

func newRing(s secrets) *ring { return &ring{secrets: s, patience: keyringPatience} }

// call calls the keyring. Its errors are keyring.ErrNotFound, errNoKeyring, keyring.ErrSetDataTooBig and *KeyringError.
func (r *ring) call(f func() error) error {
	r.mu.Lock()
	trouble := r.trouble
	if !r.hanging && time.Now().After(r.until) {
		trouble = nil
	}
	r.mu.Unlock()
	if trouble != nil {
		return trouble
	}
	done := make(chan error, 1)
	go func() { // the library's calls can't be ended
		err := f()
		r.mu.Lock()
		r.hanging = false
		switch {
		case err == nil, errors.Is(err, keyring.ErrNotFound), errors.Is(err, keyring.ErrSetDataTooBig):
			r.trouble, r.pause = nil, 0
		case errors.Is(err, keyring.ErrUnsupportedPlatform), system.LacksKeyring(err):
			err = errNoKeyring
			r.fails(err)
		default:
			err = &KeyringError{err}
			r.fails(err)
		}
		r.mu.Unlock()
		done <- err
	}()
	limit := time.NewTimer(r.patience)
	defer limit.Stop()
	select {
	case err := <-done:
		return err
	case <-limit.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case err := <-done:
		return err
	default:
	}
	r.trouble, r.hanging = &KeyringError{errNoAnswer}, true
	return r.trouble
}

// fails leaves the keyring alone for a while. The caller holds mu.
func (r *ring) fails(err error) {
	r.pause = min(max(2*r.pause, keyringPause), keyringLongest)
	r.trouble, r.until = err, time.Now().Add(r.pause)
}

func (r *ring) get(key string) (string, error) {
	var value string
	err := r.call(func() error {
		v, err := r.secrets.get(key)
		if err == nil {
			value = v
		}
		return err
	})
	if err != nil {
		return "", err // value may still be written
	}
	return value, nil
}

// keyringStore stores records in the system's keyring. What is too long for it, and what it doesn't
// take, is stored in a file.
type keyringStore struct {
	file fileStore
	ring *ring
}

// probe looks for an entry that does not exist.
func (s keyringStore) probe() error {
	_, err := s.ring.get("probe")
	if errors.Is(err, keyring.ErrNotFound) {
		err = nil
	}
	return err
}

func (s keyringStore) where() string {
	switch err := s.probe(); {
	case err == nil:
		return "the system's keyring"
	case errors.Is(err, errNoKeyring):
		return s.file.where()
	default:
		return s.file.where() + ", because the keyring is locked or does not answer"
	}
}

// Trouble returns why the system's keyring can't be used, nil if it can or there is none.
func (k *Keeper) Trouble() error {
	s, ok := k.open().(keyringStore)
	if !ok {
		return nil
	}
	err := s.probe()
	if errors.Is(err, errNoKeyring) {
		return nil
	}
	return err
}

// get returns the newer one of the keyring's record and the file's: while the keyring did not answer,
// a sign-in went to the file.
func (s keyringStore) get(key string) (record, error) {
	inFile, fileErr := s.file.get(key)
	text, err := s.ring.get(key)
	switch {
	case errors.Is(err, keyring.ErrNotFound), errors.Is(err, errNoKeyring):
		return inFile, fileErr
	case err != nil && inFile.Server != "":
		return inFile, nil
	case err != nil:
		return record{}, err
	}
	var r record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return record{}, fmt.Errorf("%w: the keyring's entry for %s: %w; sign in again", errDamaged, key, err)
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
	if err = s.ring.call(func() error { return s.ring.secrets.set(key, string(data)) }); err == nil {
		return s.file.drop(key)
	}
	if err := s.file.put(key, r); err != nil {
		return err
	}
	_ = s.ring.call(func() error { return s.ring.secrets.remove(key) }) // if it stays, it is the older one
	return nil
}

// drop removes a record from both places. What can be removed is removed even if the other place can't be reached.
func (s keyringStore) drop(key string) error {
	err := s.ring.call(func() error { return s.ring.secrets.remove(key) })
	if errors.Is(err, keyring.ErrNotFound) || errors.Is(err, errNoKeyring) {
		err = nil
	}
	return errors.Join(err, s.file.drop(key))
}

// openStore chooses where records are stored: in the system's keyring if there is one, else in a
// file. `JCODE_MCP_TOKENS=file` always selects the file. Without a session bus the keyring is not
// asked, because asking could start one.
func openStore(dir string, getenv func(string) string) store {
	file := fileStore{filepath.Join(dir, tokenFile)}
	if getenv("JCODE_MCP_TOKENS") == "file" || system.KeyringNeedsBus() && getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		return file
	}
	return keyringStore{file, newRing(systemSecrets{})}
}
