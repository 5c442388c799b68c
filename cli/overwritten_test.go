//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A command that writes what it read before an edit of another session says what it overwrote.
func TestACommandThatOverwroteTheEditOfAnotherSessionSaysSo(t *testing.T) {
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
{"text":"edited"}
`)
	a := jcode(t.Context(), t, dir, home, "http://127.0.0.1:1", "-p", "--mode", "yolo", "-m", "replay:"+command, "run it")
	var said strings.Builder
	a.Stdout, a.Stderr = &said, &said
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the command does not start")
		}
	}
	if out, err := jcode(t.Context(), t, dir, home, "http://127.0.0.1:1", "-p", "--mode", "yolo", "-m", "replay:"+edit, "edit it").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	write(filepath.Join(dir, "go"), "")
	if err := a.Wait(); err != nil || !strings.Contains(said.String(), "f.txt (changed by ") {
		t.Errorf("%v\n%s", err, said.String())
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "one\ntwo\n" {
		t.Errorf("%q, %v", got, err)
	}
}
