package builtin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The limits of kept outputs.
const (
	maxLog     = 1 << 30            // bytes of one log
	maxLogs    = 2 << 30            // bytes of all
	maxLogAge  = 7 * 24 * time.Hour // then it goes
	logPattern = ".log"
)

// pruneLogs removes old outputs, and the oldest when they are too big together. What can't
// be removed stays: this is housekeeping.
func pruneLogs(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	type log struct {
		path string
		size int64
		at   time.Time
	}
	var logs []log
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(e.Name(), logPattern) {
			continue
		}
		logs = append(logs, log{filepath.Join(dir, e.Name()), info.Size(), info.ModTime()})
	}
	slices.SortFunc(logs, func(a, b log) int { return b.at.Compare(a.at) })
	var total int64
	for _, l := range logs {
		total += l.size
		if total > maxLogs || time.Since(l.at) > maxLogAge {
			_ = os.Remove(l.path) // another jcode may have been faster
		}
	}
}
