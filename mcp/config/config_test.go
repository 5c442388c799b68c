package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func testPaths(t *testing.T) Paths {
	dir := t.TempDir()
	return Paths{ProjectRoot: filepath.Join(dir, "project"), ConfigDir: filepath.Join(dir, "config"), Home: filepath.Join(dir, "home")}
}

func TestOneBadEntryNeverLosesTheRest(t *testing.T) {
	t.Parallel()
	p := testPaths(t)
	writeFile(t, p.UserFile(), `{
  // servers of mine
  "mcpServers": {
    "good": {"command": "a"},
    "bad": {
      "command": 42,
    },
    "also": {"url": "https://example.com/mcp"},
    "worse": "text",
  },
  "servers": {"third": {"command": ["b", "c"]}, "good": {"command": "hidden"}},
}`)
	writeFile(t, filepath.Join(p.Home, ".claude", "mcp.json"), `{"mcpServers": {`)
	c := Load(p)
	for name, want := range map[string]string{"good": "a", "third": "b c", "also": "https://example.com/mcp"} {
		list := c.candidates[name]
		if len(list) != 1 || list[0].Err != nil || list[0].Target.Line() != want {
			t.Errorf("%s: %+v", name, list)
		}
	}
	for name, want := range map[string]string{"bad": ":6: mcpServers.bad.command: must be a string", "worse": ":9: mcpServers.worse: must be an object"} {
		if err := c.candidates[name][0].Err; err == nil || err.Error() != p.UserFile()+want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(c.Files) != 2 || c.Files[1].Error == "" || !strings.Contains(c.Files[1].Error, "mcp.json: line 1") {
		t.Errorf("files %+v", c.Files)
	}
}

func TestKeysOfOtherPrograms(t *testing.T) {
	t.Parallel()
	f, err := parseConfig("f.json", ScopeUser, []byte(`{"servers": {
 "a": {"transport": "streamableHttp", "httpUrl": "https://x/mcp", "http_headers": {"K": "v"}, "bearer_token_env_var": "TOK", "timeout": 4500, "startup_timeout_sec": 20},
 "b": {"command": ["npx", "-y"], "args": ["pkg"], "environment": {"N": 1}, "workingDirectory": "sub", "env_vars": ["FOO"], "disabled": true, "tool_timeout_sec": 90, "includeTools": ["read*"], "excludeTools": ["read_secret"]},
 "c": {"serverUrl": "https://x", "type": "sse", "callTimeout": "2m", "connectTimeout": 500, "odd": 1, "strange": 2},
 "d": {"command": "x", "url": "https://x"},
 "e": {"url": "ftp://x"},
 "f": {"callTimeout": "soon", "command": "x"},
 "répertoire": {"command": "x"}
}}`))
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]Entry{}
	for _, e := range f.entries {
		by[e.Name] = e
	}
	a, b, c := by["a"], by["b"], by["c"]
	if a.Target.Type != HTTP || a.Target.URL != "https://x/mcp" || a.Target.Headers["K"] != "v" || a.Target.Headers["Authorization"] != "Bearer ${TOK}" || a.CallTimeout != 4500*time.Millisecond || a.ConnectTimeout != 20*time.Second {
		t.Errorf("a: %+v", a)
	}
	if b.Target.Line() != "npx -y pkg" || b.Target.Env["N"] != "1" || b.Target.Cwd != "sub" || b.Enabled || b.CallTimeout != 90*time.Second || len(b.Target.InheritEnv) != 1 {
		t.Errorf("b: %+v", b)
	}
	if !b.AllowsTool("read_file") || b.AllowsTool("read_secret") || b.AllowsTool("write") {
		t.Error("tool filters of b")
	}
	if c.Target.Type != SSE || c.CallTimeout != 2*time.Minute || len(c.Warnings) != 2 || !strings.Contains(strings.Join(c.Warnings, "\n"), "odd, strange") {
		t.Errorf("c: %+v", c)
	}
	for name, want := range map[string]string{"d": "both command and url", "e": "only http and https", "f": "callTimeout"} {
		if err := by[name].Err; err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "f.json:") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if e, ok := by[KeyFor("répertoire")]; !ok || len(e.Warnings) != 1 {
		t.Errorf("a foreign name: %+v", e)
	}
}

func TestPrecedenceAndApproval(t *testing.T) {
	t.Parallel()
	p := testPaths(t)
	p.Run = filepath.Join(t.TempDir(), "run.json")
	writeFile(t, p.Run, `{"mcpServers":{"r":{"command":"run"}}}`)
	writeFile(t, filepath.Join(p.ProjectRoot, ".mcp.json"), `{"mcpServers":{"r":{"command":"project"},"x":{"command":"project"},"own":{"command":"project"}}}`)
	writeFile(t, p.UserFile(), `{"mcpServers":{"x":{"command":"mine"}},"overrides":{"imported":{"enabled":false}}}`)
	writeFile(t, filepath.Join(p.Home, ".claude.json"), fmt.Sprintf(`{"other":1,"projects":{%q:{"mcpServers":{"imported":{"command":"folder"}}}},"mcpServers":{"imported":{"command":"top"},"y":{"command":"top"}}}`, p.ProjectRoot))
	c := Load(p)
	got := c.Choose(func(Entry) bool { return false })
	for name, want := range map[string]string{"r": "run", "x": "mine", "own": "project", "imported": "folder", "y": "top"} {
		if got[name].Entry.Target.Command != want {
			t.Errorf("%s: %s, want %s", name, got[name].Entry.Target.Command, want)
		}
	}
	if got["x"].Pending == nil || got["own"].Pending == nil || got["r"].Pending != nil || got["imported"].Entry.Enabled {
		t.Errorf("pending: x %v own %v r %v; imported enabled %v", got["x"].Pending, got["own"].Pending, got["r"].Pending, got["imported"].Entry.Enabled)
	}
	if got = c.Choose(func(Entry) bool { return true }); got["x"].Entry.Target.Command != "project" {
		t.Errorf("an approved project entry counts: %+v", got["x"].Entry)
	}
}

func TestExpansion(t *testing.T) {
	t.Parallel()
	env := Environment{Base: []string{"TOKEN=abc", "EMPTY=", "REC=${TOKEN}"}, Root: "/p", Home: "/h"}
	for in, want := range map[string]string{
		"${TOKEN}": "abc", "${env:TOKEN}": "abc", "${X:-d}": "d", "${EMPTY:-d}": "d", "${EMPTY}": "", "$TOKEN": "$TOKEN",
		"${REC}": "${TOKEN}", "a${TOKEN}b${X:-}c": "aabcbc", "Bearer ${TOKEN}": "Bearer abc", "${not a name}": "${not a name}",
	} {
		if got, err := env.expand(in); err != nil || got != want {
			t.Errorf("expand(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	if _, err := env.expand("${Y}"); err == nil || err.Error() != "environment variable Y is not set" {
		t.Errorf("%v", err)
	}
	if _, err := env.expand("${input:key}"); err == nil || !strings.Contains(err.Error(), "not supported") {
		t.Errorf("%v", err)
	}
	r, err := env.Resolve(Entry{Target: Target{Type: Stdio, Command: "./bin/x", Cwd: "~/d"}})
	if err != nil || filepath.ToSlash(r.Program) != "/p/bin/x" || filepath.ToSlash(r.Dir) != "/h/d" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestKeysTellTargetsApart(t *testing.T) {
	t.Parallel()
	env := Environment{Root: "/p"}
	key := func(target Target) string {
		r, err := env.Resolve(Entry{Target: target, Source: Source{Scope: ScopeUser}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Key
	}
	base := Target{Type: Stdio, Command: "x", Args: []string{"a", "b"}, Env: map[string]string{"E": "1"}}
	other := []Target{
		{Type: Stdio, Command: "x", Args: []string{"b", "a"}, Env: map[string]string{"E": "1"}},
		{Type: Stdio, Command: "x", Args: []string{"a", "b"}, Env: map[string]string{"E": "2"}},
		{Type: Stdio, Command: "x", Args: []string{"a", "b"}, Env: map[string]string{"E": "1"}, Cwd: "/q"},
		{Type: HTTP, URL: "http://x"},
	}
	for _, o := range other {
		if key(base) == key(o) || base.Hash() == o.Hash() {
			t.Errorf("%+v has the key of %+v", o, base)
		}
	}
	if base.Hash() != (Target{Type: Stdio, Command: "x", Args: []string{"a", "b"}, Env: map[string]string{"E": "1"}}).Hash() {
		t.Error("equal targets, two hashes")
	}
}

func TestMasking(t *testing.T) {
	t.Parallel()
	got := Mask(Target{Type: Stdio, Command: "x", Args: []string{"--api-key", "s3cret", "--token=s3cret", "API_KEY=s3cret", "https://u:s3cret@h/p?key=s3cret&q=1", "plain", "--verbose"}, Env: map[string]string{"A": "s3cret", "B": "${B}"}, Headers: map[string]string{"Authorization": "Bearer ${T}", "X": "s3cret"}, URL: "https://u:s3cret@h/mcp?api_key=s3cret&v=2"})
	text := fmt.Sprintf("%+v", got)
	if strings.Contains(text, "s3cret") {
		t.Errorf("a secret shows: %s", text)
	}
	for _, keep := range []string{"Bearer ${T}", "B:${B}", "plain", "--verbose", "v=2", "q=1"} {
		if !strings.Contains(text, keep) {
			t.Errorf("%q is gone: %s", keep, text)
		}
	}
	if s := Scrub("token is topsecret!", []string{"topsecret", "is"}); s != "token is ***!" {
		t.Error(s)
	}
}

const commented = `// my servers
{
  "mcpServers": {
    // the first
    "one": {"command": "a", "odd": [1, 2]}, // keep me
    /* two */
    "two": {
      "command": "b", // with a comment
    },
  },
  "other": {"x": 1.50}
}
`

func TestWritesKeepCommentsAndUnknownKeys(t *testing.T) {
	t.Parallel()
	path := writeFile(t, filepath.Join(t.TempDir(), "mcp.json"), commented)
	read := func() string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if err := putServer(path, "three", []byte(`{"command":"c","args":["x"]}`), false); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(commented, "      \"command\": \"b\", // with a comment\n    },\n", "      \"command\": \"b\", // with a comment\n    },\n    \"three\": {\n      \"command\": \"c\",\n      \"args\": [\n        \"x\"\n      ]\n    },\n", 1)
	if got := read(); got != want {
		t.Errorf("after add:\n%s\nwant\n%s", got, want)
	}
	if err := putServer(path, "three", []byte(`{}`), false); err == nil {
		t.Error("an existing name must be refused")
	}
	if err := putEnabled(path, "two", false); err != nil {
		t.Fatal(err)
	}
	if got := read(); !strings.Contains(got, "\"command\": \"b\", // with a comment\n      \"enabled\": false,\n") {
		t.Errorf("after disable:\n%s", got)
	}
	if err := dropServer(path, "two"); err != nil {
		t.Fatal(err)
	}
	if err := dropServer(path, "three"); err != nil {
		t.Fatal(err)
	}
	if got := read(); strings.Contains(got, "two\":") || !strings.Contains(got, "// the first\n    \"one\": {\"command\": \"a\", \"odd\": [1, 2]}, // keep me") || !strings.Contains(got, `"other": {"x": 1.50}`) {
		t.Errorf("after remove:\n%s", got)
	}
	if err := dropServer(path, "two"); err == nil {
		t.Error("a missing server must be named")
	}
}

func TestWriteRefusesABrokenFile(t *testing.T) {
	t.Parallel()
	path := writeFile(t, filepath.Join(t.TempDir(), "mcp.json"), `{"mcpServers": {`)
	if err := putServer(path, "a", []byte(`{}`), false); err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("%v", err)
	}
}

func TestTwoWritersLoseNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sub", "mcp.json")
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			if err := putServer(path, fmt.Sprint("s", i), []byte(`{"command":"x"}`), false); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parseConfig(path, ScopeUser, data)
	if err != nil || len(f.entries) != 8 {
		t.Errorf("%d entries, %v:\n%s", len(f.entries), err, data)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
}

func TestGlobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{{"*", "x/y", true}, {"read*", "read", true}, {"r?d", "red", true}, {"[a]", "a", false}, {"[a]", "[a]", true}, {"a*b*c", "aXbYc", true}, {"a*b", "aXc", false}} {
		if matchGlob(c.pattern, c.name) != c.want {
			t.Errorf("matchGlob(%q, %q)", c.pattern, c.name)
		}
	}
}
