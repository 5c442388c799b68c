//go:build unix

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
)

// An answer of 20 MB passes completely through a pipe whose reader starts late, in every format, and memory
// stays within a few times the size of the answer.
func TestHugeAnswerGoesThroughASlowPipe(t *testing.T) {
	t.Parallel()
	const size, limit = 20 << 20, slack * 512 << 20
	if testing.Short() {
		t.Skip("moves 60 MB")
	}
	line := strings.Repeat("x", 1<<10-1) + "\n"
	piece := strings.Repeat(line, 16)
	pieces := make([]string, size/len(piece))
	for i := range pieces {
		pieces[i] = piece
	}
	for format, lines := range map[string]int{"text": size / len(line), "json": 1, "stream-json": 0} {
		t.Run(format, func(t *testing.T) {
			srv := modeltest.New(t, modeltest.Text(pieces...).Burst())
			cmd := jcode(t.Context(), t, t.TempDir(), t.TempDir(), srv.URL(), "-p", "--output-format", format, "go")
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = read.Close() }()
			cmd.Stdout = write
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = write.Close() // the child has its own
			if _, ok := srv.Wait(1, time.Minute); !ok {
				t.Fatal("no request came")
			}
			// The pipe holds 64 KB: further output waits in the child.
			got, most := readWatched(t, read, cmd.Process.Pid)
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(got, []byte("x")); n < size-size/(1<<10) {
				t.Errorf("%d of %d characters came", n, size-size/(1<<10))
			}
			if n := bytes.Count(got, []byte("\n")); lines > 0 && n != lines {
				t.Errorf("%d lines, want %d", n, lines)
			}
			t.Logf("%d MB resident", most>>20)
			if most > limit {
				t.Errorf("%d MB resident", most>>20)
			}
		})
	}
}

// readWatched reads all output of a program, and returns its peak resident memory where the system provides
// that. The figure of a program that has ended includes the memory of this process, from which it was forked.
func readWatched(t *testing.T, from io.Reader, pid int) (all []byte, most int) {
	t.Helper()
	chunk := make([]byte, 1<<16)
	for {
		n, err := from.Read(chunk)
		all, most = append(all, chunk[:n]...), max(most, highWater(pid))
		if errors.Is(err, io.EOF) {
			return all, most
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// highWater returns the peak resident memory of a running program, in bytes.
func highWater(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kb, err := strconv.Atoi(strings.Fields(rest + " 0")[0])
	if err != nil {
		return 0
	}
	return kb << 10
}
