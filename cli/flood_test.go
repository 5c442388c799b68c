//go:build unix

package cli_test

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
)

// An answer of 20 MB goes whole through a pipe whose reader comes late, in every format, and
// in memory that is bounded by a few times the answer.
func TestHugeAnswerGoesThroughASlowPipe(t *testing.T) {
	t.Parallel()
	const size, most = 20 << 20, 1 << 30
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
			// The pipe holds 64 KB: what comes meanwhile waits in the child.
			got, err := io.ReadAll(read)
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(got, []byte("x")); n < size-size/(1<<10) {
				t.Errorf("%d of %d characters came", n, size-size/(1<<10))
			}
			if n := bytes.Count(got, []byte("\n")); lines > 0 && n != lines {
				t.Errorf("%d lines, want %d", n, lines)
			}
			if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" && usage.Maxrss<<10 > most {
				t.Errorf("%d MB resident", usage.Maxrss>>10)
			}
		})
	}
}
