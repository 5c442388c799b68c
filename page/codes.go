package page

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"jcode/internal/atomicfile"
	"jcode/internal/filelock"
	"jcode/internal/paths"
	"jcode/remote"
)

// Codes are the code with which a device pairs: one at a time, for one use. It lies as a hash in a file, so that a session
// in a terminal may show one that the server of another process takes.
type Codes struct {
	path string

	mu  sync.Mutex
	now func() time.Time
}

// pairing is the content of the file.
type pairing struct {
	Hash  string      `json:"hash"` // "" if there is no code
	Role  remote.Role `json:"role"`
	Until time.Time   `json:"until"`
	Wrong int         `json:"wrong"`
}

// The limits of a code.
const (
	codesFile  = "code"
	codeLength = 8
	// CodeFor is how long a code can be used.
	CodeFor  = 10 * time.Minute
	maxWrong = 5
	// letters are those that nobody mistakes for another, or for a number.
	letters = "abcdefghjkmnpqrstuvwxyz23456789"
)

// NewCodes returns the codes of a user whose sessions are found at a place.
func NewCodes(at remote.Place) *Codes {
	return &Codes{path: filepath.Join(at.Dir, codesFile), now: time.Now}
}

var (
	errNoCode    = errors.New("no code is valid now: press Enter in the terminal of jcode serve for a new one")
	errWrongCode = errors.New("that is not the code")
)

// New returns a code in place of the one before.
func (c *Codes) New(role remote.Role) (string, error) {
	b := make([]byte, codeLength)
	_, _ = rand.Read(b) // it does not fail
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	code := string(b)
	return code, c.change(func(*pairing) (pairing, error) {
		return pairing{Hash: hashOf(code), Role: role, Until: c.time().Add(CodeFor)}, nil
	})
}

// Valid reports whether a code can still be used.
func (c *Codes) Valid(code string) bool {
	p := c.read()
	return p.Hash != "" && p.Hash == hashOf(code) && c.time().Before(p.Until)
}

func (c *Codes) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Codes) read() (p pairing) {
	data, err := paths.ReadFile(c.path, maxFile)
	if err != nil || json.Unmarshal(data, &p) != nil {
		return pairing{} // what can't be read lets nobody in
	}
	return p
}

// change rewrites the file under a lock. The error of f is returned once it is written.
func (c *Codes) change(f func(*pairing) (pairing, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWithin)
	defer cancel()
	lock, err := filelock.Wait(ctx, c.path+".lock")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // it goes with the process anyway
	now := c.read()
	next, said := f(&now)
	data, err := json.Marshal(next)
	if err == nil {
		err = atomicfile.Write(c.path, data, atomicfile.Options{Perm: 0o600})
	}
	if err != nil {
		return err // a code whose use can't be kept is not used
	}
	return said
}

// redeem uses up the code, and returns what it allows.
func (c *Codes) redeem(code string) (role remote.Role, err error) {
	code = strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(strings.TrimSpace(code)))
	err = c.change(func(p *pairing) (pairing, error) {
		if p.Hash == "" || c.time().After(p.Until) {
			return pairing{}, errNoCode
		}
		if subtle.ConstantTimeCompare([]byte(hashOf(code)), []byte(p.Hash)) != 1 {
			if p.Wrong++; p.Wrong >= maxWrong {
				return pairing{}, errNoCode
			}
			return *p, errWrongCode
		}
		role = p.Role
		return pairing{}, nil
	})
	return role, err
}
