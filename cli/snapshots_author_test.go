//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// What hooks, commands of sub-agents and merges change is listed under their names, and undone.
func TestAnUndoNamesHooksAgentsAndMerges(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gitRepository(t, dir)
	settings := `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo h > by-hook.txt"}]}]}}`
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	script := scriptOf(t, `{"tool_calls":[{"name":"task","arguments":{"prompt":"change","name":"ann"}},{"name":"task","arguments":{"prompt":"change","name":"bob","isolation":"worktree"}}]}
{"agent":"ann","tool_calls":[{"name":"exec","arguments":{"cmd":"echo a > by-ann.txt"}}]}
{"agent":"ann","text":"Done."}
{"agent":"bob","tool_calls":[{"name":"exec","arguments":{"cmd":"echo two > a.txt"}}]}
{"agent":"bob","text":"Done."}
{"tool_calls":[{"name":"agent","arguments":{"action":"merge","name":"bob"}}]}
{"text":"All done."}
`)
	srv := modeltest.New(t)
	out, err := jcode(t.Context(), t, dir, home, srv.URL(), "-p", "--mode", "yolo", "-m", "replay:"+script, "go").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	told, err := jcode(t.Context(), t, dir, home, srv.URL(), "sessions", "undo", "--yes").CombinedOutput()
	for _, want := range []string{
		"changed by the Stop hook echo h > by-hook.txt:\n    by-hook.txt\n", "changed by ann: echo a > by-ann.txt:\n    by-ann.txt\n", "changed by the merge of bob:\n    a.txt\n",
		"by-hook.txt (removed)", "by-ann.txt (removed)", "a.txt (restored)",
	} {
		if !strings.Contains(string(told), want) {
			t.Errorf("%q is missing (%v):\n%s", want, err, told)
		}
	}
}

// A command of after_edit may change more than the file that was written: that is undone with the turn, and named.
func TestAnUndoTakesBackWhatACommandAfterAnEditChanged(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{
		"a.txt": "one\n", "list.txt": "a\n", "config.json": "",
	} {
		path := filepath.Join(dir, name)
		if name == "config.json" {
			path, content = filepath.Join(home, name), `{"after_edit": [{"glob": "*.txt", "cmd": "echo formatted >> \"$FILE\"; echo made > made.txt; echo b >> list.txt"}]}`
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := scriptOf(t, `{"tool_calls":[{"name":"edit","arguments":{"path":"a.txt","old_string":"one","new_string":"two"}}]}
{"tool_calls":[{"name":"edit","arguments":{"path":"a.txt","old_string":"two","new_string":"three"}}]}
{"text":"All done."}
`)
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	srv := modeltest.New(t)
	out, err := jcode(t.Context(), t, dir, home, srv.URL(), "-p", "--mode", "yolo", "-m", "replay:"+script, "go").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := read("a.txt"); got != "three\nformatted\nformatted\n" {
		t.Fatalf("%q", got)
	}
	told, err := jcode(t.Context(), t, dir, home, srv.URL(), "sessions", "undo", "--yes").CombinedOutput()
	for _, want := range []string{"changed by after_edit echo formatted", "made.txt (removed)", "list.txt (restored)", "a.txt (restored)"} {
		if !strings.Contains(string(told), want) {
			t.Errorf("%q is missing (%v):\n%s", want, err, told)
		}
	}
	if a, list := read("a.txt"), read("list.txt"); a != "one\n" || list != "a\n" {
		t.Errorf("%q %q\n%s", a, list, told)
	}
	if told, err = jcode(t.Context(), t, dir, home, srv.URL(), "sessions", "redo", "--yes").CombinedOutput(); err != nil || read("a.txt") != "three\nformatted\nformatted\n" {
		t.Errorf("redo: %v %s", err, told)
	}
}
