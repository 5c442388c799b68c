package attach

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"

	"jcode/tui/screen"
)

// Job is a window on the terminal of a command.
type Job interface {
	// Copy writes what the command draws until it ends or the window is closed.
	Copy(out io.Writer) error
	Type(b []byte) error
	Resize(cols, rows int)
	Close()
}

// Take shows a job in a terminal, whose keys go there, until the person presses ctrl+], the job ends, or ctx does. open
// opens the window in a size.
func Take(ctx context.Context, in, out *os.File, open func(cols, rows int) (Job, error)) error {
	size := func() (cols, rows int) {
		s := New(in, out).Size()
		return s.Cols, s.Rows
	}
	job, err := open(size())
	if err != nil {
		return err
	}
	defer job.Close()
	cooked, err := term.MakeRaw(in.Fd())
	if err != nil {
		return fmt.Errorf("terminal: %w", err)
	}
	defer func() { _ = term.Restore(in.Fd(), cooked) }()             // a terminal that is gone needs nothing
	defer func() { _, _ = io.WriteString(out, screen.Restored()) }() // as above
	keys, err := cancelreader.NewReader(in)
	if err != nil {
		return fmt.Errorf("terminal: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	var pumps sync.WaitGroup
	defer pumps.Wait()
	defer job.Close()
	defer stop()
	defer keys.Cancel()
	pumps.Go(func() {
		defer stop()
		_ = job.Copy(out) // a terminal that is gone ends the program
	})
	pumps.Go(func() {
		defer stop()
		typeInto(job, keys)
	})
	changed, still := resized()
	defer still()
	for {
		select {
		case <-changed:
			job.Resize(size())
		case <-ctx.Done():
			return nil
		}
	}
}

// typeInto passes keys on until the person leaves.
func typeInto(job Job, keys io.Reader) {
	b := make([]byte, 4<<10)
	for {
		n, err := keys.Read(b)
		typed, leave := untilLeft(b[:n])
		if len(typed) > 0 && job.Type(typed) != nil || leave || err != nil {
			return
		}
	}
}

// untilLeft returns what is before ctrl+], and whether that is pressed.
func untilLeft(b []byte) (before []byte, leave bool) {
	end := len(b)
	for _, s := range [][]byte{{0x1d}, []byte("\x1b[93;5u"), []byte("\x1b[27;5;93~")} {
		if i := bytes.Index(b[:end], s); i >= 0 {
			end, leave = i, true
		}
	}
	return b[:end], leave
}
