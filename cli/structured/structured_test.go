package structured_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/cli/structured"
)

const schema = `{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}`

func TestAnAnswerIsOneValueThatFits(t *testing.T) {
	t.Parallel()
	s, err := structured.Read(schema)
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		`{"n": 1}`: `{"n":1}`, "  {\"n\":2}\n": `{"n":2}`, "```json\n{\"n\": 3}\n```": `{"n":3}`, "```\n{\"n\": 9007199254740993}\n```": `{"n":9007199254740993}`,
	} {
		if got, err := s.Value(answer); err != nil || string(got) != want {
			t.Errorf("%q: %s %v", answer, got, err)
		}
	}
	for answer, want := range map[string]string{
		"": "empty", "Here it is: {\"n\": 1}": "not JSON", `{"n": 1} and more`: "text behind", `{"n": "one"}`: "n", `{"m": 1}`: "n", `[1]`: "type",
	} {
		if got, err := s.Value(answer); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s %v, want %s", answer, got, err, want)
		}
	}
}

func TestASchemaIsAFileOrAnObject(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte(schema), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := structured.Read(file); err != nil || !strings.Contains(s.Instruction(), `"additionalProperties":false`) {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"nowhere.json", `{"type": 3}`, `{"type": "object"`, `{"$ref": "#/none"}`} {
		if _, err := structured.Read(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
