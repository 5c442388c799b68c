package watch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"jcode/internal/watch"
)

func TestLinkedFolderIsReportedByBothNames(t *testing.T) {
	both(t, func(t *testing.T, opts watch.Options) {
		dir := tempDir(t)
		real := filepath.Join(dir, "real")
		link := filepath.Join(dir, "link")
		write(t, filepath.Join(real, "a.md"), "x")
		if err := os.Symlink(real, link); err != nil {
			t.Skipf("cannot make links: %v", err)
		}
		w := start(t, opts, watch.Root{Path: real}, watch.Root{Path: link})
		write(t, filepath.Join(real, "a.md"), "changed")
		want := map[string]bool{filepath.Join(link, "a.md"): true, filepath.Join(real, "a.md"): true}
		seen := map[string]bool{}
		for len(seen) < len(want) { // together, unless the machine pauses between them
			for _, p := range next(t, w).Paths {
				if seen[p] = true; !want[p] {
					t.Fatalf("reported %s, want %v", p, want)
				}
			}
		}
	})
}

func TestLinkLoopEnds(t *testing.T) {
	root := tempDir(t)
	if err := os.Symlink(root, filepath.Join(root, "loop")); err != nil {
		t.Skipf("cannot make links: %v", err)
	}
	w := start(t, watch.Options{Debounce: 50 * time.Millisecond}, watch.Root{Path: root, Depth: 6})
	file := filepath.Join(root, "a.md")
	write(t, file, "x")
	until(t, w, file)
}

// Two links to the folder itself would double what is walked at every level.
func TestLinksToTheFolderItselfAreWalkedOnce(t *testing.T) {
	root := tempDir(t)
	for _, name := range []string{"x", "y"} {
		if err := os.Symlink(".", filepath.Join(root, name)); err != nil {
			t.Skipf("cannot make links: %v", err)
		}
	}
	sub := filepath.Join(root, "sub")
	write(t, filepath.Join(sub, "b.md"), "x")
	for _, links := range []bool{false, true} {
		began := time.Now()
		w := start(t, watch.Options{Debounce: 50 * time.Millisecond}, watch.Root{Path: root, Depth: 32, Links: links})
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("links %v: the walk took %v", links, took)
		}
		write(t, filepath.Join(sub, "b.md"), fmt.Sprint(links))
		until(t, w, filepath.Join(sub, "b.md"))
		w.Close()
	}
}

func TestFoldersOutsideAreWatchedOnlyIfLinksAre(t *testing.T) {
	dir := tempDir(t)
	root, outside := filepath.Join(dir, "root"), filepath.Join(dir, "outside")
	write(t, filepath.Join(root, "a.md"), "x")
	write(t, filepath.Join(outside, "b.md"), "x")
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Skipf("cannot make links: %v", err)
	}
	opts := watch.Options{Debounce: 50 * time.Millisecond}
	w := start(t, opts, watch.Root{Path: root, Depth: 1, Links: true})
	plain := start(t, opts, watch.Root{Path: root, Depth: 1})
	write(t, filepath.Join(outside, "b.md"), "changed")
	until(t, w, filepath.Join(root, "link", "b.md"))
	write(t, filepath.Join(root, "a.md"), "changed")
	for { // the change outside came first
		ev := next(t, plain)
		for _, p := range ev.Paths {
			if p == filepath.Join(root, "a.md") {
				return
			}
			if p != filepath.Join(root, "link") {
				t.Fatalf("reported %s", p)
			}
		}
	}
}

func TestWatchingEndsWithItsContext(t *testing.T) {
	root := tempDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	w := watch.New(ctx, []watch.Root{{Path: root}}, watch.Options{})
	cancel()
	select {
	case _, ok := <-w.Events():
		if ok {
			t.Error("an event after the end")
		}
	case <-time.After(patience):
		t.Fatal("the watching goes on")
	}
	w.Close()
}
