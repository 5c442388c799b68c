//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// Where the contents of files can't be kept for an undo, a turn goes on, it is said once, and the undo names what it
// can't bring back.
func TestAFullDiskForUndoIsSaidOnceAndStopsNothing(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	dir, home := t.TempDir(), t.TempDir()
	var calls []modeltest.Reply
	for i := range 4 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i)), []byte(fmt.Sprintf("old %d\n", i)), 0o644); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, modeltest.Calls(tool(fmt.Sprint("c", i), "exec", map[string]any{"command": fmt.Sprintf("echo new > f%d.txt; echo made > g%d.txt", i, i)})))
	}
	if err := os.MkdirAll(filepath.Join(home, "snapshots"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Nothing can be written below this link to a device that is always full.
	if err := os.Symlink("/dev/full", filepath.Join(home, "snapshots", "contents")); err != nil {
		t.Skip(err)
	}
	srv := modeltest.New(t, append(calls, modeltest.Text("done"))...)
	cmd := jcode(t.Context(), t, dir, home, srv.URL(), "-p", "--mode", "yolo", "go")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || strings.TrimSpace(string(out)) != "done" {
		t.Fatalf("%q %v: %s", out, err, said.String())
	}
	if n := strings.Count(said.String(), "can't be kept"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, said.String())
	}
	for i := range 4 {
		if data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i))); err != nil || string(data) != "new\n" {
			t.Errorf("%q %v", data, err)
		}
	}
	undo := jcode(t.Context(), t, dir, home, srv.URL(), "sessions", "undo", "--yes")
	told, err := undo.CombinedOutput()
	if err == nil || !strings.Contains(string(told), "f0.txt left alone: it could not be kept") || !strings.Contains(string(told), "g0.txt (removed)") {
		t.Errorf("%v: %s", err, told)
	}
}
