package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"jcode/internal/filelock"
)

// Hold is this process's exclusive claim to write to one session. It ends with Release, or
// with the process, however that ends. The zero value claims nothing.
type Hold struct {
	mu   sync.Mutex
	lock *filelock.Lock
}

// HeldError says that another live process holds a session. Open it read-only, or fork it.
type HeldError struct {
	Session string
	PID     int // 0 = unknown
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("session %s is open in another jcode", e.Session)
	}
	return fmt.Sprintf("session %s is open in another jcode (process %d)", e.Session, e.PID)
}

// sweepLocks is the number of lock files above which those of killed processes are removed.
const sweepLocks = 200

// orphanWait bounds the wait for a lock whose holder has ended: a child process that it was
// starting at that moment inherits the lock and keeps it until its exec.
const orphanWait = 5 * time.Second

// Hold claims a session for writing. It returns a *HeldError if a live process, this one
// included, has claimed it already.
func (d *DB) Hold(sessionID string) (*Hold, error) {
	if sessionID == "" || strings.ContainsAny(sessionID, `/\:`) {
		return nil, fmt.Errorf("hold session: bad ID %q", sessionID)
	}
	dir := d.LockFolder()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("hold session %s: %w", sessionID, err)
	}
	filelock.Sweep(dir, sweepLocks)
	path := filepath.Join(dir, sessionID+".lock")
	lock, err := filelock.Try(path)
	if errors.Is(err, filelock.ErrHeld) {
		pid := holder(path)
		if !ended(pid) {
			return nil, &HeldError{Session: sessionID, PID: pid}
		}
		wait, cancel := context.WithTimeout(context.Background(), orphanWait)
		lock, err = filelock.Wait(wait, path)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, &HeldError{Session: sessionID}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("hold session %s: %w", sessionID, err)
	}
	if err := lock.Write(strconv.Itoa(os.Getpid()) + "\n"); err != nil {
		return nil, errors.Join(fmt.Errorf("hold session %s: %w", sessionID, err), lock.Unlock())
	}
	return &Hold{lock: lock}, nil
}

// Release ends the claim. It may be called on nil, more than once, and from several goroutines.
func (h *Hold) Release() error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock == nil {
		return nil
	}
	l := h.lock
	h.lock = nil
	return l.Remove()
}

// Held reports whether a live process holds a session.
func (d *DB) Held(sessionID string) bool {
	pid := holder(filepath.Join(d.LockFolder(), sessionID+".lock"))
	return pid != 0 && !ended(pid)
}

// HeldElsewhere returns which sessions other live processes hold, with their process numbers.
func (d *DB) HeldElsewhere() (map[string]int, error) { return heldElsewhere(d.LockFolder()) }

func heldElsewhere(dir string) (map[string]int, error) {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	held := map[string]int{}
	for _, f := range list {
		id, ok := strings.CutSuffix(f.Name(), ".lock")
		if !ok {
			continue
		}
		if pid := holder(filepath.Join(dir, f.Name())); pid != 0 && pid != os.Getpid() && !ended(pid) {
			held[id] = pid
		}
	}
	return held, nil
}

// LockFolder returns the folder of lock files beside the database.
func (d *DB) LockFolder() string { return filepath.Join(filepath.Dir(d.path), "locks") }

// holder reads the process number from a lock file, 0 if there is none.
func holder(path string) int {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid < 1 {
		return 0
	}
	return pid
}
