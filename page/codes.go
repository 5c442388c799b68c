package page

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"strings"
	"sync"
	"time"

	"jcode/remote"
)

// Codes gives out the code with which a device pairs: one at a time, for one use.
type Codes struct {
	now func() time.Time

	mu    sync.Mutex
	code  string // "" if there is none
	role  remote.Role
	until time.Time
	wrong int
}

// The limits of a code.
const (
	codeLength = 8
	// CodeFor is how long a code can be used.
	CodeFor  = 10 * time.Minute
	maxWrong = 5
	// letters are those that nobody mistakes for another, or for a number.
	letters = "abcdefghjkmnpqrstuvwxyz23456789"
)

// NewCodes returns no code yet.
func NewCodes() *Codes { return &Codes{now: time.Now} }

var (
	errNoCode    = errors.New("no code is valid now: press Enter in the terminal of jcode serve for a new one")
	errWrongCode = errors.New("that is not the code")
)

// New returns a code in place of the one before.
func (c *Codes) New(role remote.Role) string {
	b := make([]byte, codeLength)
	_, _ = rand.Read(b) // it does not fail
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.code, c.role, c.until, c.wrong = string(b), role, c.now().Add(CodeFor), 0
	return c.code
}

// redeem uses up the code, and returns what it allows.
func (c *Codes) redeem(code string) (remote.Role, error) {
	code = strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(strings.TrimSpace(code)))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.code == "" || c.now().After(c.until) {
		c.code = ""
		return "", errNoCode
	}
	if subtle.ConstantTimeCompare([]byte(code), []byte(c.code)) != 1 {
		if c.wrong++; c.wrong >= maxWrong {
			c.code = ""
			return "", errNoCode
		}
		return "", errWrongCode
	}
	c.code = ""
	return c.role, nil
}
