package manifest_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/lua/manifest"
)

func TestManifestFaultsNameFileLineAndKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                                 "t/mcp_tool.json: the manifest must be a JSON object",
		`{}`:                                 `"description" is required`,
		"{\n\"description\": 5}":             `t/mcp_tool.json:2: "description" must be a text`,
		`{"description":"d","timeout_ms":0}`: `"timeout_ms" must be a number from 1 to 120000`,
		`{"description":"d","timeout_ms":120001}`:                                      `from 1 to 120000`,
		`{"description":"d","approval":"never"}`:                                       `"approval" can only be "always"`,
		`{"description":"d","parameters":[{"name":"a-b"}]}`:                            "must be a Lua identifier",
		`{"description":"d","parameters":[{"name":"print"}]}`:                          "a global already",
		`{"description":"d","parameters":[{"name":"a"},{"name":"a"}]}`:                 "declared twice",
		`{"description":"d","parameters":[{"name":"a","type":"text"}]}`:                "type must be one of",
		`{"description":"d","permissions":{"network":{}}}`:                             "allowed_hosts is required",
		`{"description":"d","permissions":{"network":{"allowed_hosts":["http://x"]}}}`: "bad host",
		`{"description":"d","permissions":{"network":{"allowed_hosts":"x"}}}`:          "permissions.network.allowed_hosts must be an array of texts",
		`{"description":"d","permissions":{"fs":{"read":["../x"]}}}`:                   "bad glob",
		`{"description":"d","permissions":{"exec":["git"]}}`:                           "word lists",
		`{"description":"d","permissions":{"mcp_admin":true}}`:                         "for plugins only",
	} {
		_, err := manifest.Parse("t/mcp_tool.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	m, err := manifest.Parse("t", []byte(`{"description":"d","colour":"red"}`))
	if err != nil || len(m.Warnings) != 1 {
		t.Errorf("%v %+v", err, m)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`// with a comment
	{"description": "d", "parameters": [{"name": "a", "type": "string", "description": "Text."}], "permissions": {"network": {"allowed_hosts": ["api.example.com"]}}}`))
	f.Add([]byte(`{"description":"d","parameters":[{"name":"a","enum":[1],"items":{}}],"permissions":{"fs":{"read":["**"]},"exec":[["a"]]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := manifest.Parse("t/mcp_tool.json", text)
		if err != nil {
			return
		}
		if !json.Valid(m.Schema()) {
			t.Fatalf("schema %s", m.Schema())
		}
	})
}

func TestASchemaKeepsTheOrderOfTheParameters(t *testing.T) {
	t.Parallel()
	m, err := manifest.Parse("t", []byte(`{"description": "d", "parameters": [
		{"name": "z", "description": "First."},
		{"name": "a", "type": "integer", "default": 3},
		{"name": "m", "type": "array", "items": {"type": "string"}, "required": false, "enum": ["x"]},
	]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{"z":{"type":"string","description":"First."},"a":{"type":"integer","default":3},` +
		`"m":{"type":"array","enum":["x"],"items":{"type":"string"}}},"required":["z"]}`
	if got := string(m.Schema()); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := manifest.None(); string(got.Schema()) != `{"type":"object","properties":{}}` || got.Timeout != manifest.DefaultTimeout {
		t.Errorf("%s %v", got.Schema(), got.Timeout)
	}
}

func TestPermissionsCoverOnlyWhatTheyDeclare(t *testing.T) {
	t.Parallel()
	m, err := manifest.Parse("t", []byte(`{"description": "d", "permissions": {
		"fs": {"read": ["src/**", "*.md"], "write": ["out/*.txt"]},
		"exec": [["git", "log"]], "mcp": ["docs:find"],
		"network": {"allowed_hosts": ["api.example.com", "*.example.org:8443"]},
	}}`))
	if err != nil {
		t.Fatal(err)
	}
	p := &m.Permissions
	for path, want := range map[string][2]bool{ // read, write
		"src/a/b.go": {true, false}, "src": {true, false}, "a.md": {true, false}, "doc/a.md": {false, false},
		"out/a.txt": {true, true}, "out/a/b.txt": {false, false}, "srcs/a": {false, false},
	} {
		if got := [2]bool{p.CoversFile(path, false), p.CoversFile(path, true)}; got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	for command, want := range map[string]bool{"git log": true, "git log -1": true, "git": false, "git push": false, "": false} {
		if p.CoversCommand(strings.Fields(command)) != want {
			t.Errorf("command %q: %v", command, !want)
		}
	}
	for tool, want := range map[string]bool{"mcp:docs:find": true, "docs:find": false, "mcp:docs:change": false} {
		if p.CoversMCP(tool) != want {
			t.Errorf("tool %q: %v", tool, !want)
		}
	}
	for address, want := range map[string][2]bool{ // listed, and listed by name
		"https://api.example.com/x": {true, true}, "https://API.example.com": {true, true}, "https://api.example.com:8443": {false, false},
		"https://a.example.org:8443": {true, false}, "https://example.org:8443": {false, false}, "https://api.example.com.evil.net": {false, false},
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		ok, literal := p.Network.Allows(u)
		if got := [2]bool{ok, literal}; got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	var nothing manifest.Permissions
	if !nothing.Empty() || nothing.CoversFile("a", false) || nothing.CoversCommand([]string{"a"}) || nothing.CoversMCP("mcp:a:b") {
		t.Error("the zero value covers something")
	}
}

func TestAStampDiffersWhenOneOfTheFilesDoes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	write("b/"+manifest.FileName, "{}")
	write("b/"+manifest.MainName, "return 1")
	write("a/"+manifest.FileName, "{}")
	write(".hidden/"+manifest.FileName, "{}")
	write("file", "")
	list, err := manifest.Folders(root)
	if err != nil || len(list) != 2 || list[0].Name != "a" || list[0].Both || list[1].Name != "b" || !list[1].Both {
		t.Fatalf("%+v %v", list, err)
	}
	dir := filepath.Join(root, "b")
	before, ok := manifest.StampOf(dir)
	if !ok || before != list[1].Stamp || !before.Filled() {
		t.Errorf("%+v and %+v", before, list[1].Stamp)
	}
	for _, name := range []string{manifest.FileName, manifest.MainName} {
		write("b/"+name, "longer than it was")
		after, ok := manifest.StampOf(dir)
		if !ok || after == before || after.Newest().Before(before.Newest()) {
			t.Errorf("%s: %+v after %+v", name, after, before)
		}
		before = after
	}
	write("b/"+manifest.MainName, "")
	if st, ok := manifest.StampOf(dir); !ok || st.Filled() {
		t.Error("an empty file counts as filled")
	}
	if list, err := manifest.Folders(filepath.Join(root, "absent")); list != nil || err != nil {
		t.Errorf("an absent root: %v %v", list, err)
	}
}
