//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Models send arguments in the forms that other agents taught them. Each of these calls does what it means.
func TestArgumentsInTheFormsOfOtherAgentsAreUnderstood(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool string
		args string
		want string // in the result of the call
		file string // what f.txt holds afterwards
	}{
		"exec: cwd":                  {"exec", `{"cmd":"pwd","cwd":"sub"}`, "/sub", ""},
		"exec: workdir, command":     {"exec", `{"command":"pwd","workdir":"sub"}`, "/sub", ""},
		"exec: dir":                  {"exec", `{"cmd":"pwd","dir":"sub"}`, "/sub", ""},
		"exec: a cwd that is absent": {"exec", `{"cmd":"touch f.txt","cwd":"nowhere"}`, "nowhere", ""},
		"edit: flat":                 {"edit", `{"path":"f.txt","old_string":"two","new_string":"TWO"}`, "edited f.txt", "one\nTWO\n"},
		"edit: flat, other names":    {"edit", `{"file_path":"f.txt","old_str":"two","new_str":"TWO"}`, "edited f.txt", "one\nTWO\n"},
		"edit: a list":               {"edit", `{"path":"f.txt","edits":[{"old_string":"one","new_string":"ONE"},{"old_string":"two","new_string":"TWO"}]}`, "edited f.txt", "ONE\nTWO\n"},
		"edit: both forms":           {"edit", `{"path":"f.txt","old_string":"one","new_string":"ONE","edits":[{"old_string":"two","new_string":"TWO"}]}`, "not both", ""},
		"edit: half of a flat form":  {"edit", `{"path":"f.txt","old_string":"one"}`, "new_string", ""},
		"todo: text and status":      {"todo", `{"items":[{"text":"look","status":"done"},{"text":"mend","status":"in_progress"}]}`, "1 of 2 done", ""},
		"todo: content":              {"todo", `{"todos":[{"content":"look","status":"completed","activeForm":"Looking"},{"content":"mend","status":"pending"}]}`, "1 of 2 done", ""},
		"todo: steps of a plan":      {"todo", `{"plan":[{"step":"look","status":"completed"},{"step":"mend","status":"in-progress"}]}`, "1 of 2 done", ""},
		"todo: words alone":          {"todo", `{"items":["look","mend"]}`, "0 of 2 done", ""},
		"todo: an unknown status":    {"todo", `{"items":[{"text":"look","status":"maybe"}]}`, "status must be pending, in_progress or done", ""},
		"todo: no text":              {"todo", `{"items":[{"status":"done"}]}`, "text is missing", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, home := t.TempDir(), t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "f.txt")
			if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			want, err := json.Marshal(c.want)
			if err != nil {
				t.Fatal(err)
			}
			script := filepath.Join(home, "script.jsonl")
			lines := `{"tool_calls":[{"name":"` + c.tool + `","arguments":` + c.args + `}]}` + "\n" + `{"text":"done","expect":{"tool_result_contains":` + string(want) + `}}` + "\n"
			if err := os.WriteFile(script, []byte(lines), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := jcode(t.Context(), t, dir, home, "http://127.0.0.1:1", "-p", "--mode", "yolo", "-m", "replay:"+script, "go").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "done") {
				t.Errorf("%v\n%s", err, out)
			}
			if c.file == "" {
				c.file = "one\ntwo\n"
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != c.file {
				t.Errorf("f.txt holds %q, %v", got, err)
			}
		})
	}
}
