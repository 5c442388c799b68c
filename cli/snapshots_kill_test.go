//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
)

// An undo or redo in whose middle jcode is killed is finished when the session goes on, and said.
func TestAnUndoThatWasKilledIsFinishedAtTheNextStart(t *testing.T) {
	t.Parallel()
	const files = 200
	dir, home := t.TempDir(), t.TempDir()
	name := func(i int) string { return filepath.Join(dir, fmt.Sprintf("f%03d.txt", i)) }
	for i := range files {
		if err := os.WriteFile(name(i), fmt.Appendln(nil, "old", i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wait := fmt.Sprintf("touch z; while [ $(find %s/snapshots/contents -type f | wc -l) -lt %d ]; do sleep 0.05; done", home, files) // what is in the files is kept in the background
	srv := modeltest.New(t, modeltest.Calls(tool("c0", "exec", map[string]any{"command": wait})), modeltest.Text("kept"), modeltest.Calls(tool("c1", "exec", map[string]any{"command": "for f in f*.txt; do echo new > $f; done"})), modeltest.Text("done"),
		modeltest.Text("one"), modeltest.Text("two"), modeltest.Text("three"), modeltest.Text("four"))
	for _, args := range [][]string{{"read"}, {"-c", "go"}} {
		if out, err := jcode(t.Context(), t, dir, home, srv.URL(), append([]string{"-p", "--mode", "yolo"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	count := func(word string) (n int) {
		for i := range files {
			if data, err := os.ReadFile(name(i)); err == nil && strings.HasPrefix(string(data), word) {
				n++
			}
		}
		return n
	}
	was, will := "new", "old"
	killed := 0
	for round, at := range []int{1, files / 4, files / 2, files - 10} {
		verb := "undo"
		if was == "old" {
			verb = "redo"
		}
		cmd := jcode(t.Context(), t, dir, home, srv.URL(), "sessions", verb, "--yes")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for over := false; !over; {
			select {
			case <-ended:
				over = true
			case <-time.After(time.Millisecond):
				if count(will) >= at {
					_ = cmd.Process.Kill()
					<-ended
					over = true
				}
			}
		}
		half := count(will) < files
		said, err := jcode(t.Context(), t, dir, home, srv.URL(), "-p", "-c", "go on").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		if n := count(will); n != files {
			t.Fatalf("round %d: %d of %d files are %s after the next start: %s", round, n, files, will, said)
		}
		if half {
			killed++
			if !strings.Contains(string(said), "it is finished now") {
				t.Errorf("round %d: nothing is said: %s", round, said)
			}
		}
		was, will = will, was
	}
	if killed == 0 {
		t.Log("it was always faster than the kill")
	}
}
