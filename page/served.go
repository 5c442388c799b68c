package page

import (
	"errors"
	"path/filepath"
	"strings"

	"jcode/internal/atomicfile"
	"jcode/internal/filelock"
	"jcode/internal/paths"
	"jcode/remote"
)

// servedFile says under which address the page of a user is served; whoever serves it holds its lock.
const servedFile = "serve"

// Claim notes under which address the page is served from now on, until the returned function is called. ok is false if
// another server is known already.
func Claim(at remote.Place, address string) (release func(), ok bool) {
	path := filepath.Join(at.Dir, servedFile)
	lock, err := filelock.Try(path + ".lock")
	if err != nil {
		return nil, false
	}
	if atomicfile.Write(path, []byte(address+"\n"), atomicfile.Options{Perm: 0o600}) != nil {
		_ = lock.Unlock() // it goes with the process anyway
		return nil, false
	}
	return func() { _ = lock.Unlock() }, true // as above
}

// Served returns the address under which the page is served now, "" if it is not.
func Served(at remote.Place) string {
	path := filepath.Join(at.Dir, servedFile)
	lock, err := filelock.Try(path + ".lock")
	if err == nil {
		_ = lock.Unlock() // as above
		return ""
	}
	if !errors.Is(err, filelock.ErrHeld) {
		return ""
	}
	data, err := paths.ReadFile(path, maxPair)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
