package review_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"jcode/cli/review"
)

const diff = `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -1,3 +1,4 @@ func f()
 one
-two
+zwei
+++ plus
 three
@@ -10 +12 @@
-x
+y
diff --git "a/od\td.go" "b/od\td.go"
--- "a/od\td.go"
+++ "b/od\td.go"
@@ -0,0 +1,2 @@
+same
+same
diff --git a/gone.go b/gone.go
deleted file mode 100644
--- a/gone.go
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/p.png b/p.png
Binary files a/p.png and b/p.png differ
`

func TestADiffSaysWhichLinesItShows(t *testing.T) {
	t.Parallel()
	files := review.Parse(diff)
	if len(files) != 4 {
		t.Fatalf("%+v", files)
	}
	if f := files[0]; f.Path != "a.go" || len(f.Lines) != 5 || f.Lines[2] != "zwei" || f.Lines[3] != "++ plus" || f.Lines[4] != "three" || f.Lines[12] != "y" {
		t.Errorf("%+v", f)
	}
	if f := files[1]; f.Path != "od\td.go" || len(f.Lines) != 2 {
		t.Errorf("%+v", f)
	}
	for _, f := range files[2:] {
		if f.Path != "" || len(f.Lines) != 0 || f.Text == "" {
			t.Errorf("%+v", f)
		}
	}
	whole := ""
	for _, f := range files {
		whole += f.Text
	}
	if whole != diff {
		t.Errorf("%s", whole)
	}
	for _, odd := range []string{"", "no diff", "@@ -1 +1 @@\n+x", "diff --git a/x b/x\n@@ odd @@\n+x\n@@ -1 +99999999999999999999,5 @@\n+y\n"} {
		review.Parse(odd)
	}
}

func TestAChangeThatIsTooLargeIsShownInPart(t *testing.T) {
	t.Parallel()
	big := review.Added("big.txt", func() ([]byte, error) { return []byte(strings.Repeat("a line of text\n", 40<<10)), nil })
	small := review.Added("small.txt", func() ([]byte, error) { return []byte("one\ntwo"), nil })
	shown, left := review.Shown(review.Parse(big + small))
	if len(shown) != 1 || shown[0].Path != "small.txt" || shown[0].Lines[2] != "two" || !slices.Equal(left, []string{"big.txt"}) {
		t.Errorf("%+v, %q", shown, left)
	}
	for _, read := range []func() ([]byte, error){
		func() ([]byte, error) { return []byte("a\x00b"), nil }, func() ([]byte, error) { return nil, errors.New("gone") }, func() ([]byte, error) { return nil, nil },
	} {
		if files := review.Parse(review.Added("odd", read)); len(files) != 1 || files[0].Path != "odd" || len(files[0].Lines) != 0 {
			t.Errorf("%+v", files)
		}
	}
}

func answer(findings ...string) []byte {
	return []byte(`{"summary": "s", "findings": [` + strings.Join(findings, ",") + `]}`)
}

func TestFindingsOffTheChangeAreDropped(t *testing.T) {
	t.Parallel()
	files := review.Parse(diff)
	for finding, want := range map[string]string{
		`{"file": "./a.go", "line": 2, "end_line": 2, "quote": "zwei", "severity": "P1"}`:                      "a.go 2-2",
		`{"file": "a.go", "line": 9, "end_line": 10, "quote": " zwei ", "severity": "P1"}`:                     "a.go 2-3",
		`{"file": "a.go", "line": 4, "end_line": 9, "quote": "three", "severity": "P1", "replacement": "x"}`:   "a.go 4-4",
		`{"file": "a.go", "line": 7, "end_line": 7, "quote": "", "severity": "P1"}`:                            "",
		`{"file": "a.go", "line": 2, "end_line": 2, "quote": "two", "severity": "P1"}`:                         "",
		`{"file": "od\td.go", "line": 9, "end_line": 9, "quote": "same", "severity": "P1"}`:                    "", // two lines say so
		`{"file": "od\td.go", "line": 2, "end_line": 1, "quote": "same", "severity": "P1"}`:                    "od\td.go 2-2",
		`{"file": "b.go", "line": 2, "end_line": 2, "quote": "zwei", "severity": "P1"}`:                        "",
		`{"file": "", "line": 1, "end_line": 1, "quote": "x", "severity": "P1"}`:                               "",
		`{"file": "a.go", "line": 2, "end_line": 2, "quote": "zwei", "severity": "high"}`:                      "",
		`{"file": "a.go", "line": 2, "end_line": 2000000000, "quote": "zwei", "severity": "P0", "title": "x"}`: "a.go 2-4",
	} {
		r, err := review.Read(answer(finding), files)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range r.Findings {
			got = f.File + " " + strings.Join([]string{json.Number(string(rune('0' + f.Line))).String(), json.Number(string(rune('0' + f.EndLine))).String()}, "-")
			if f.Replacement != nil {
				t.Errorf("%s: lines that are not seen are replaced", finding)
			}
		}
		if got != want || (want == "") != (r.Dropped == 1) {
			t.Errorf("%s: %q, want %q", finding, got, want)
		}
	}
	if _, err := review.Read([]byte("{"), files); err == nil {
		t.Error("half an answer is taken")
	}
}

// The parts of SARIF 2.1.0 that code scanning reads, as its specification has them; nothing else may be there.
const sarif = `{"type": "object", "required": ["version", "runs", "$schema"], "additionalProperties": false, "properties": {
"$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"},
"runs": {"type": "array", "minItems": 1, "maxItems": 1, "items": {"type": "object", "required": ["tool", "results"], "additionalProperties": false, "properties": {
 "originalUriBaseIds": {"type": "object", "additionalProperties": {"type": "object", "required": ["description"], "additionalProperties": false, "properties": {"description": {"$ref": "#/$defs/text"}}}},
 "tool": {"type": "object", "required": ["driver"], "additionalProperties": false, "properties": {"driver": {"type": "object", "required": ["name", "rules"], "additionalProperties": false, "properties": {
  "name": {"type": "string", "minLength": 1}, "version": {"type": "string"}, "rules": {"type": "array", "uniqueItems": true, "items": {"type": "object", "required": ["id"], "additionalProperties": false, "properties": {
   "id": {"type": "string"}, "shortDescription": {"$ref": "#/$defs/text"}, "defaultConfiguration": {"type": "object", "additionalProperties": false, "properties": {"level": {"$ref": "#/$defs/level"}}}}}}}}}},
 "results": {"type": "array", "items": {"type": "object", "required": ["message", "ruleId", "level", "locations"], "additionalProperties": false, "properties": {
  "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": 0}, "level": {"$ref": "#/$defs/level"}, "message": {"$ref": "#/$defs/text"},
  "locations": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["physicalLocation"], "additionalProperties": false, "properties": {"physicalLocation": {"type": "object", "required": ["artifactLocation"], "additionalProperties": false, "properties": {"artifactLocation": {"$ref": "#/$defs/file"}, "region": {"$ref": "#/$defs/region"}}}}}},
  "fixes": {"type": "array", "uniqueItems": true, "items": {"type": "object", "required": ["artifactChanges"], "additionalProperties": false, "properties": {"description": {"$ref": "#/$defs/text"}, "artifactChanges": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["artifactLocation", "replacements"], "additionalProperties": false, "properties": {
   "artifactLocation": {"$ref": "#/$defs/file"}, "replacements": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["deletedRegion"], "additionalProperties": false, "properties": {"deletedRegion": {"$ref": "#/$defs/region"}, "insertedContent": {"$ref": "#/$defs/content"}}}}}}}}}}}}}}}}},
"$defs": {"text": {"type": "object", "required": ["text"], "additionalProperties": false, "properties": {"text": {"type": "string", "minLength": 1}}}, "content": {"type": "object", "additionalProperties": false, "properties": {"text": {"type": "string"}}}, "level": {"enum": ["none", "note", "warning", "error"]},
 "file": {"type": "object", "required": ["uri"], "additionalProperties": false, "properties": {"uri": {"type": "string", "pattern": "^[!-~]+$"}, "uriBaseId": {"type": "string"}}},
 "region": {"type": "object", "required": ["startLine"], "additionalProperties": false, "properties": {"startLine": {"type": "integer", "minimum": 1}, "endLine": {"type": "integer", "minimum": 1}, "startColumn": {"type": "integer", "minimum": 1}, "endColumn": {"type": "integer", "minimum": 1}}}}}`

func TestTheReportIsValidSARIF(t *testing.T) {
	t.Parallel()
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(sarif), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := review.Read(answer(
		`{"file": "od\td.go", "line": 2, "end_line": 2, "quote": "same", "severity": "P0", "title": "Ünsafe", "reason": "", "replacement": ""}`,
		`{"file": "a.go", "line": 2, "end_line": 3, "quote": "zwei", "severity": "P3", "title": "t", "reason": "r", "replacement": "two\nthree\n"}`), review.Parse(diff))
	if err != nil || len(report.Findings) != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, r := range []review.Report{report, {}} {
		text, err := json.Marshal(r.SARIF("1.2.3"))
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(value); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	}
	text, err := json.Marshal(report.SARIF("1.2.3"))
	for _, want := range []string{`"uri":"od%09d.go"`, `"level":"error"`, `"level":"note"`, `"startLine":2,"startColumn":1,"endLine":3,"endColumn":8`, `"insertedContent":{"text":"two\nthree"}`} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("no %s: %v %s", want, err, text)
		}
	}
}
