package filelock

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/system"
)

// Paths locks paths between all processes that use the same folder. A path need not exist, and
// nothing is created beside it. The zero value locks nothing.
type Paths struct {
	// Dir is the folder of the lock files; it is created if it is missing.
	Dir string
	// Limit bounds the wait for a lock; 0 means three minutes, which is longer than a
	// command that runs after an edit may take.
	Limit time.Duration
}

const defaultLimit = 3 * time.Minute

// Lock waits until nobody else has any of the resolved paths, at most until the limit or the end
// of ctx. unlock must be called if there is no error. Two paths may share a lock file, so a
// holder must unlock before it locks again.
func (p Paths) Lock(ctx context.Context, paths ...string) (unlock func(), err error) {
	if p.Dir == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock files: %w", err)
	}
	limit := cmp.Or(p.Limit, defaultLimit)
	wait, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var held []*Lock
	unlock = func() {
		for _, l := range held {
			_ = l.Unlock() // the kernel drops it with the file, whatever closing says
		}
	}
	for _, name := range shards(paths) {
		l, err := Wait(wait, filepath.Join(p.Dir, name))
		if err != nil {
			unlock()
			if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
				return nil, fmt.Errorf("another jcode has been changing %s for %v: try again", strings.Join(paths, ", "), limit)
			}
			return nil, err
		}
		held = append(held, l)
	}
	return unlock, nil
}

// shards returns the names of the lock files for paths, always in the same order to avoid
// deadlocks. There are only 256, so they need not be removed.
func shards(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		if system.MayFoldNames() {
			p = strings.ToLower(p) // two spellings may be one file there
		}
		sum := sha256.Sum256([]byte(p))
		out[i] = hex.EncodeToString(sum[:1]) + ".lock"
	}
	slices.Sort(out)
	return slices.Compact(out)
}
