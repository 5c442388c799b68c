package atomicfile

import (
	"os"
	"time"

	"jcode/internal/paths"
)

// still is a file that is held still where the system can: no other program begins to write into it without
// it being seen. Its holder ends it with Close.
type still struct {
	file *os.File
	held bool
}

// openStill opens a file that is to be held.
func openStill(root *os.Root, name string) (*still, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|paths.NoWait, 0)
	return &still{file: f}, err
}

// hold holds the file from now on. It waits a little for a program that has it open for writing, and goes on without
// holding it if that stays so.
func (s *still) hold() {
	for range settleTries {
		var busy bool
		if s.held, busy = leaseOf(s.file); !busy {
			return
		}
		time.Sleep(settlePause)
	}
}

// busyFor is how long after a save a file counts as one that another program works with.
const busyFor = time.Second

// pause lets a program that had begun to open a file come to where it is seen, if the file, last saved then, is one that
// is being worked with.
func pause(saved time.Time) {
	if time.Since(saved) < busyFor {
		time.Sleep(settlePause)
	}
}

// disturbed reports whether another program waits to write into the file.
func (s *still) disturbed() bool { return s.held && leaseWanted(s.file) }

// Close lets go of the file.
func (s *still) Close() error { return s.file.Close() }
