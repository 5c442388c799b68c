//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// besides returns the worktrees of sessions below a home.
func besides(t *testing.T, home string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(home, "worktrees", "*-sessions", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// With -w the session works in a worktree, by the rules of agents; the checkout stays as it is, and a later run of the
// session is in the worktree again.
func TestASessionWorksInAWorktreeAndResumesThere(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	write := func(path, content string) {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "a.txt"), "one\n")
	write(filepath.Join(dir, ".gitignore"), ".env\n")
	gitRepository(t, dir)
	write(filepath.Join(dir, ".env"), "KEY=1\n")
	write(filepath.Join(dir, "a.txt"), "one\nmine\n")
	write(filepath.Join(home, "config.json"), `{"worktree": {"copy": [".env"]}}`)
	original, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(id, line string) modeltest.Reply {
		return modeltest.Calls(tool(id, "exec", map[string]any{"command": line}))
	}
	srv := modeltest.New(t, exec("c1", "cat a.txt .env; git branch --show-current; echo two > new.txt"), exec("c2", "echo gone > "+original+"/a.txt"), modeltest.Text("done"),
		exec("c3", "cat new.txt"), modeltest.Text("again"), exec("c4", "cat a.txt"), modeltest.Text("carried"))
	run := func(args ...string) string {
		t.Helper()
		cmd := jcode(t.Context(), t, dir, home, srv.URL(), args...)
		var said strings.Builder
		cmd.Stderr = &said
		if out, err := cmd.Output(); err != nil {
			t.Fatalf("%q: %v: %s%s", args, err, out, said.String())
		}
		return said.String()
	}
	last := func() string { // the result of the newest call
		for _, r := range slices.Backward(srv.Requests()) {
			for _, m := range slices.Backward(r.Messages) {
				if m.Role == "tool" {
					return m.Content
				}
			}
		}
		return ""
	}
	if said := run("-p", "--mode", "yolo", "-w", "fix-it", "do it"); !strings.Contains(said, "worktree fix-it stays for changes of 1 file") {
		t.Errorf("%s", said)
	}
	if refused := last(); !strings.Contains(refused, "main checkout") {
		t.Errorf("the checkout may be written from the worktree: %s", refused)
	}
	trees := besides(t, home)
	if len(trees) != 1 || filepath.Base(trees[0]) != "fix-it" {
		t.Fatalf("%q", trees)
	}
	if _, err := os.Stat(filepath.Join(dir, "new.txt")); err == nil {
		t.Error("the checkout was written")
	}
	for name, want := range map[string]string{"new.txt": "two\n", ".env": "KEY=1\n", "a.txt": "one\n"} {
		if data, err := os.ReadFile(filepath.Join(trees[0], name)); err != nil || string(data) != want {
			t.Errorf("%s: %q %v", name, data, err)
		}
	}
	run("-p", "--mode", "yolo", "-c", "go on")
	if got := last(); !strings.Contains(got, "two") {
		t.Errorf("it went on elsewhere: %s", got)
	}
	// A new one takes what is not committed along, and goes when nothing was done in it.
	run("-p", "--mode", "yolo", "--carry", "-w", "look only at it")
	if got := last(); !strings.Contains(got, "mine") {
		t.Errorf("what is not committed did not come along: %s", got)
	}
	if after := besides(t, home); len(after) != 1 {
		t.Errorf("%q", after)
	}
}

// What a command changed in the worktree is undone as in the checkout.
func TestAnUndoReachesTheWorktreeOfASession(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gitRepository(t, dir)
	srv := modeltest.New(t, modeltest.Calls(tool("c1", "exec", map[string]any{"command": "echo two > a.txt; echo made > new.txt"})), modeltest.Text("done"))
	if out, err := jcode(t.Context(), t, dir, home, srv.URL(), "-p", "--mode", "yolo", "-w", "x", "go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	trees := besides(t, home)
	if len(trees) != 1 {
		t.Fatalf("%q", trees)
	}
	if out, err := jcode(t.Context(), t, dir, home, srv.URL(), "sessions", "undo", "--yes").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if data, err := os.ReadFile(filepath.Join(trees[0], "a.txt")); err != nil || string(data) != "one\n" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(trees[0], "new.txt")); err == nil {
		t.Error("what the command made is still there")
	}
}

func TestAWorktreeForASessionNeedsANameAndARepository(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	srv := modeltest.New(t)
	for want, args := range map[string][]string{
		"has letters, digits": {"-p", "-w=a b", "x"}, "is in no git repository": {"-p", "-w", "name", "x"}, "of a private conversation": {"-p", "--private", "-w", "name", "x"},
	} {
		out, err := jcode(t.Context(), t, dir, home, srv.URL(), args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v %s", args, err, out)
		}
	}
}
