//go:build unix

package keyboard

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// readable waits until a file can be read, at most d. It uses select: polling a terminal does not work
// everywhere.
func readable(fd uintptr, d time.Duration) bool {
	if fd >= unix.FD_SETSIZE {
		return false
	}
	deadline := time.Now().Add(d)
	for {
		var set unix.FdSet
		set.Set(int(fd))
		wait := unix.NsecToTimeval(max(time.Until(deadline), 0).Nanoseconds())
		n, err := unix.Select(int(fd)+1, &set, nil, nil, &wait)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && n > 0
	}
}
