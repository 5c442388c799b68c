//go:build !linux && !windows

package pool

import (
	"context"
	"strconv"
	"strings"
	"time"

	"jcode/internal/launch"
)

// ResidentMemory returns the resident memory of a process in bytes; 0 if unknown.
func ResidentMemory(pid int) int64 {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	cmd, err := launch.Programs{}.Command(ctx, "/bin/ps", "-o", "rss=", "-p", strconv.Itoa(pid))
	if err != nil {
		return 0
	}
	out, err := cmd.Output()
	if err != nil {
		return 0
	}
	kib, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
