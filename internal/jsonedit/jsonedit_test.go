package jsonedit_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"jcode/internal/jsonedit"
)

func TestSetAndDeleteKeepTheRest(t *testing.T) {
	const before = `{
	// 27" display
	"a": 1, // one
	/* two */ "b": {"x": [1, 2,]},
	"unknown": "a,]",
	// the end
}
`
	tests := []struct {
		name string
		do   func(o *hujson.Object) error
		want string
	}{
		{
			"change", func(o *hujson.Object) error { return jsonedit.Set(o, []string{"a"}, json.RawMessage(`"new"`)) },
			strings.Replace(before, `"a": 1`, `"a": "new"`, 1),
		},
		{
			"add", func(o *hujson.Object) error { return jsonedit.Set(o, []string{"z"}, json.RawMessage(`true`)) },
			strings.Replace(before, "// the end\n", "// the end\n\t\"z\": true,\n", 1),
		},
		{
			"add below", func(o *hujson.Object) error { return jsonedit.Set(o, []string{"n", "m"}, json.RawMessage(`[1]`)) },
			strings.Replace(before, "// the end\n", "// the end\n\t\"n\": {\n\t\t\"m\": [\n\t\t\t1\n\t\t]\n\t},\n", 1),
		},
		{
			"delete", func(o *hujson.Object) error { jsonedit.Delete(o, "a"); return nil },
			strings.Replace(before, "\t// 27\" display\n\t\"a\": 1, // one\n", "", 1),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "c.json")
			if err := os.WriteFile(file, []byte(before), 0o640); err != nil {
				t.Fatal(err)
			}
			if err := jsonedit.Edit(file, tt.do); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil || string(got) != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestDeletingANameThatOccursTwiceRemovesBoth(t *testing.T) {
	v, err := hujson.Parse([]byte("{\n\t// old\n\t\"a\": 1, // first\n\t// other\n\t\"b\": 2,\n\t// new\n\t\"a\": 3, // second\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !jsonedit.Delete(v.Value.(*hujson.Object), "a") {
		t.Error("it reports that there was none")
	}
	if got, want := string(v.Pack()), "{\n\t// other\n\t\"b\": 2,\n}\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestBrokenFileIsLeftAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.json")
	for _, text := range []string{"{\"a\" 1}", "[1]"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := jsonedit.Edit(file, func(o *hujson.Object) error { return jsonedit.Set(o, []string{"b"}, json.RawMessage("1")) })
		if got, _ := os.ReadFile(file); err == nil || string(got) != text || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("%s: %v, now %s", text, err, got)
		}
	}
}

func FuzzSet(f *testing.F) {
	f.Add(`{"a": {"b": 1}}`, "a", "b")
	f.Add("{\n // c\n}", "x", "")
	f.Add("{\"a\": 1 /* c */ , // d\n}", "b", "c")
	f.Fuzz(func(t *testing.T, text, key, sub string) {
		v, err := hujson.Parse([]byte(text))
		if err != nil {
			return
		}
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return
		}
		path := []string{key}
		if sub != "" {
			path = append(path, sub)
		}
		if jsonedit.Set(o, path, json.RawMessage(`{"n":[1]}`)) != nil {
			return
		}
		again, err := hujson.Parse(v.Pack())
		if err != nil {
			t.Fatalf("no longer parses: %v\n%s", err, v.Pack())
		}
		top := again.Value.(*hujson.Object)
		if strings.ToValidUTF8(key, "") == key && jsonedit.Member(top, key) == nil {
			t.Errorf("%q was not set: %s", key, v.Pack())
		}
		jsonedit.Delete(top, key)
		if _, err := hujson.Parse(again.Pack()); err != nil {
			t.Errorf("after delete: %v\n%s", err, again.Pack())
		}
	})
}
