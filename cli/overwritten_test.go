//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/eventually"
)

// A command that writes what it read before an edit of another session says what it overwrote, and so does the other
// session at its next step.
func TestACommandThatOverwroteTheEditOfAnotherSessionIsSaidToBoth(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	write := func(path, text string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write(filepath.Join(dir, "f.txt"), "one\ntwo\n")
	command := write(filepath.Join(home, "a.jsonl"), `{"tool_calls":[{"name":"exec","arguments":{"cmd":"cp f.txt old; touch started; while [ ! -e go ]; do sleep 0.02; done; cp old f.txt"}}]}
{"text":"done","expect":{"tool_result_contains":"the command wrote over it what it had read before: f.txt"}}
`)
	edit := write(filepath.Join(home, "b.jsonl"), `{"tool_calls":[{"name":"edit","arguments":{"path":"f.txt","old_string":"two","new_string":"TWO"}}]}
{"tool_calls":[{"name":"exec","arguments":{"cmd":"touch edited; while [ ! -e over ]; do sleep 0.02; done"}}]}
{"text":"edited"}
`)
	a := jcode(t.Context(), t, dir, home, "http://127.0.0.1:1", "-p", "--mode", "yolo", "-m", "replay:"+command, "run it")
	var said strings.Builder
	a.Stdout, a.Stderr = &said, &said
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	await := func(name string) {
		t.Helper()
		eventually.File(t, filepath.Join(dir, name))
	}
	await("started")
	b := jcode(t.Context(), t, dir, home, "http://127.0.0.1:1", "-p", "--mode", "yolo", "-m", "replay:"+edit, "edit it")
	var other strings.Builder
	b.Stdout, b.Stderr = &other, &other
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	await("edited")
	write(filepath.Join(dir, "go"), "")
	if err := a.Wait(); err != nil || !strings.Contains(said.String(), "f.txt (changed by ") {
		t.Errorf("%v\n%s", err, said.String())
	}
	write(filepath.Join(dir, "over"), "")
	if err := b.Wait(); err != nil || !strings.Contains(other.String(), "a change of this session is no longer in f.txt (by a command of the session ") {
		t.Errorf("the other session: %v\n%s", err, other.String())
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "one\ntwo\n" {
		t.Errorf("%q, %v", got, err)
	}
}
