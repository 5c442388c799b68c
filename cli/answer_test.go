package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

const schemaOfN = `{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}`

func exitCode(err error) int {
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // as Wait returns it
		return exit.ExitCode()
	}
	return 0
}

// An answer by a schema is one value on stdout; one that does not fit is asked for again, once, and then ends with a
// code of its own.
func TestAnAnswerBySchemaIsOneValueOrExitsWith4(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	srv := modeltest.New(t, modeltest.Text("Let me think: {\"n\": 1}"), modeltest.Text("```json\n{\"n\": 2}\n```"), modeltest.Text("no"), modeltest.Text("{\"n\": \"x\"}"), modeltest.Text("{\"n\": 3}"))
	run := func(args ...string) (string, string, int) {
		cmd := jcode(t.Context(), t, dir, home, srv.URL(), append([]string{"-p", "--output-schema", schemaOfN}, args...)...)
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		return string(out), said.String(), exitCode(err)
	}
	file := filepath.Join(dir, "answer.json")
	if out, said, code := run("-o", file, "count"); out != "{\"n\":2}\n" || code != 0 {
		t.Errorf("%q %d %s", out, code, said)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "{\"n\":2}\n" {
		t.Errorf("%q %v", data, err)
	}
	requests := srv.Requests()
	told := func(n int, what string) bool {
		return slices.ContainsFunc(requests[n].Messages, func(m modeltest.Message) bool { return m.Role == "user" && strings.Contains(m.Content, what) })
	}
	if !told(0, `"required":["n"]`) {
		t.Error("the model is not told the schema")
	}
	if !told(1, "it is not JSON") {
		t.Error("the model is not told what does not fit")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if out, said, code := run("-o", file, "count"); out != "" || code != 4 || !strings.Contains(said, "does not fit the schema") {
		t.Errorf("%q %d %s", out, code, said)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("an answer that does not fit was written")
	}
	out, said, code := run("--output-format", "json", "count")
	var result struct {
		OK         bool            `json:"ok"`
		Structured json.RawMessage `json:"structured_output"`
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != 0 || !result.OK || string(result.Structured) != `{"n":3}` {
		t.Errorf("%v %q %d %s", err, out, code, said)
	}
	if _, said, code := run("--output-schema", "nowhere.json", "count"); code != 2 || !strings.Contains(said, "nowhere.json") {
		t.Errorf("%d %s", code, said)
	}
}
