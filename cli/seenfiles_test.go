//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What was seen of a file is what was shown, also after the session was continued or forked.
func TestWhatWasSeenOfAFileIsKeptWithTheSession(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "f.txt")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(script string, args ...string) string {
		t.Helper()
		path := filepath.Join(home, "script.jsonl")
		write(path, script)
		out, err := jcode(t.Context(), t, dir, home, "http://127.0.0.1:1", append([]string{"-p", "--mode", "yolo", "-m", "replay:" + path}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	call := func(content string) string {
		return `{"tool_calls":[{"name":"write","arguments":{"path":"f.txt","content":"` + strings.ReplaceAll(content, "\n", `\n`) + `"}}]}` + "\n"
	}
	write(file, "one\ntwo\nthree\nfour\n")
	run(`{"tool_calls":[{"name":"read","arguments":{"path":"f.txt"}}]}
{"text":"read"}
`, "read it")
	write(file, "one\ntwo\nthree\nFOREIGN\n")
	run(call("MINE\ntwo\nthree\nfour\n")+`{"text":"done","expect":{"tool_result_contains":"line 4 is new since you read"}}
`, "-c", "change it")
	for i, flag := range []string{"-c", "--fork"} {
		mine := strings.Repeat("MINE", i+2)
		args := []string{flag, "again"}
		if flag == "--fork" {
			args = []string{"-c", flag, "again"}
		}
		run(call(mine+"\ntwo\nthree\nfour\n")+`{"text":"done","expect":{"tool_result_contains":"stayed"}}
`, args...)
		got, err := os.ReadFile(file)
		if err != nil || string(got) != mine+"\ntwo\nthree\nFOREIGN\n" {
			t.Errorf("%s: %q, %v", flag, got, err)
		}
	}
	// A session that never read it is shown what it would remove.
	run(call("mine\n")+`{"text":"done","expect":{"tool_result_contains":"never shown to you"}}
`, "new")
}
