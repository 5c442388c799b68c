package filelock_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"jcode/internal/filelock"
)

func TestLockExcludesUntilItIsDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	a, err := filelock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.Try(path); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("second holder: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := filelock.Wait(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting: %v", err)
	}
	if err := a.Write("who\n"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "who\n" {
		t.Errorf("%q, %v", b, err)
	}
	if err := a.Unlock(); err != nil {
		t.Fatal(err)
	}
	b, err := filelock.Wait(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); runtime.GOOS != "windows" && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	if _, err := filelock.Try(filepath.Join(path, "nowhere", "l")); err == nil {
		t.Error("locked in a folder that is not there")
	}
}

// TestRemovingHoldersNeverShare checks that a lock excludes others even if its file is removed on release.
func TestRemovingHoldersNeverShare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	var wg sync.WaitGroup
	var mu sync.Mutex
	inside, done := 0, 0
	for range 8 {
		wg.Go(func() {
			for range 50 {
				l, err := filelock.Wait(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside++
				if inside != 1 {
					t.Errorf("%d holders at once", inside)
				}
				done++
				mu.Unlock()
				mu.Lock()
				inside--
				mu.Unlock()
				if err := l.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if done != 400 {
		t.Errorf("%d of 400", done)
	}
}

func TestSweepTakesAwayWhatNobodyHolds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be removed here")
	}
	dir := t.TempDir()
	for i := range 6 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held, err := filelock.Try(filepath.Join(dir, "3"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Unlock() }()
	filelock.Sweep(dir, 10)
	if left, _ := os.ReadDir(dir); len(left) != 6 {
		t.Errorf("%d files are left of a short list", len(left))
	}
	filelock.Sweep(dir, 5)
	if left, _ := os.ReadDir(dir); len(left) != 1 || left[0].Name() != "3" {
		t.Errorf("left %v", left)
	}
}

func TestPathsExcludeEachOther(t *testing.T) {
	p := filelock.Paths{Dir: filepath.Join(t.TempDir(), "locks"), Limit: 20 * time.Millisecond}
	unlock, err := p.Lock(t.Context(), "/b", "/a", "/b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Lock(t.Context(), "/a"); err == nil {
		t.Error("locked twice")
	}
	again, err := p.Lock(t.Context(), "/c")
	if err != nil {
		t.Errorf("another path: %v", err)
	} else {
		again()
	}
	unlock()
	if again, err = p.Lock(t.Context(), "/b", "/a"); err != nil {
		t.Error(err)
	} else {
		again()
	}
	if unlock, err := (filelock.Paths{}).Lock(t.Context(), "/a"); err != nil || unlock == nil {
		t.Errorf("without a folder: %v", err)
	}
}
