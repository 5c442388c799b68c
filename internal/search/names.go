package search

import (
	"context"
	"os"
	"slices"
	"sync"
)

// Names lists the files below a folder as a Walk sees them, by slash paths relative to it,
// sorted, at most limit.
func Names(ctx context.Context, dir string, limit int) ([]string, error) {
	top, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer top.Close() //nolint:errcheck // nothing was written
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var names []string
	_, err = Walk{Top: top, Dir: ".", Above: Outer(dir), Tracked: TrackedIn(dir)}.Run(ctx, func(_ int, f File) {
		mu.Lock()
		defer mu.Unlock()
		if len(names) < limit {
			names = append(names, f.Path)
		} else {
			cancel()
		}
	})
	if len(names) == limit {
		err = nil // stopped here on purpose
	}
	slices.Sort(names)
	return names, err
}
