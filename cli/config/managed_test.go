//go:build linux || darwin

package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/agent/model/provider"
	"jcode/cli/config"
	"jcode/tools"
)

// managedIn writes files of an administrator's settings, and returns their place.
func managedIn(t *testing.T, files map[string]string) config.ManagedPlace {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "etc")
	if err := os.MkdirAll(filepath.Join(dir, "managed.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, 0o644); err != nil { // whatever the umask
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir, filepath.Join(dir, "managed.d")} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return config.ManagedPlace{Dir: dir, Owner: os.Getuid()}
}

func TestEveryFaultOfManagedSettingsStopsWithItsPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":                   {"{\n\"deny\": [\n", "managed.json:"},
		"an unknown key":            {"{\n\"denny\": [\"exec\"]}", "managed.json:2: denny: is not known"},
		"a key twice":               {"{\"deny\": [\"exec\"],\n\"deny\": []}", "managed.json:2: deny: is set here a second time"},
		"a rule that says nothing":  {"{\n\"deny\": [\n\"exec(\"]}", "managed.json:3: deny[0]: rule"},
		"a rule for no tool":        {"{\"deny\": [\"excec\"]}", "managed.json:1: deny[0]"},
		"null":                      {"{\n\n\"models\": null}", "managed.json:3: models: null says nothing"},
		"a mode that isn't one":     {"{\"max_mode\": \"careful\"}", "managed.json:1: max_mode: must be one of"},
		"an empty entry":            {"{\"models\": [\" \"]}", "managed.json:1: models[0]: is empty"},
		"no list":                   {"{\"plugins\": \"x\"}", "managed.json:1: plugins: must be a list"},
		"an address that is none":   {"{\"endpoints\": [\"a*b.example\"]}", "managed.json:1: endpoints[0]"},
		"an address of a server":    {"{\"mcp_servers\": [\"ftp://x\"]}", "managed.json:1: mcp_servers[0]"},
		"a pattern of files":        {"{\"protect\": [\"[\"]}", "managed.json:1: protect[0]"},
		"an event that isn't one":   {"{\"hooks\": {\n\"PreTool\": [{\"hooks\": [{\"command\": \"x\"}]}]}}", "managed.json:2: hooks.PreTool"},
		"a hook without a command":  {"{\"hooks\": {\"Stop\": [{\"hooks\": [{}]}]}}", "managed.json:1: hooks.Stop"},
		"a program without a path":  {"{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"x\", \"args\": [\"y\"]}]}]}}", "whole path"},
		"remote that isn't a truth": {"{\"remote\": \"no\"}", "managed.json:1: remote: must be true or false"},
		"something else":            {"[]", "managed.json:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := config.ReadManaged(managedIn(t, map[string]string{"managed.json": c.text})); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestManagedSettingsCountOnlyIfNobodyElseCanChangeThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(place *config.ManagedPlace) error
		want  string
	}{
		"others may write the file": {func(p *config.ManagedPlace) error { return os.Chmod(filepath.Join(p.Dir, "managed.json"), 0o666) }, "managed.json: can be changed by others"},
		"others may write a fragment": {func(p *config.ManagedPlace) error {
			return os.Chmod(filepath.Join(p.Dir, "managed.d", "a.json"), 0o664)
		}, "a.json: can be changed by others"},
		"others may write the folder": {func(p *config.ManagedPlace) error { return os.Chmod(p.Dir, 0o777) }, "etc: can be changed by others"},
		"others may write managed.d":  {func(p *config.ManagedPlace) error { return os.Chmod(filepath.Join(p.Dir, "managed.d"), 0o775) }, "managed.d: can be changed by others"},
		"others can't read the file":  {func(p *config.ManagedPlace) error { return os.Chmod(filepath.Join(p.Dir, "managed.json"), 0o600) }, "can't be read by all users"},
		"another owner":               {func(p *config.ManagedPlace) error { p.Owner++; return nil }, "must belong to user"},
		"the file is a link":          {func(p *config.ManagedPlace) error { return linked(filepath.Join(p.Dir, "managed.json")) }, "managed.json: is a link"},
		"managed.d is a link":         {func(p *config.ManagedPlace) error { return linked(filepath.Join(p.Dir, "managed.d")) }, "managed.d: is a link"},
		"the folder is a link":        {func(p *config.ManagedPlace) error { return linked(p.Dir) }, "etc: is a link"},
		"the file is a folder":        {func(p *config.ManagedPlace) error { return swapped(filepath.Join(p.Dir, "managed.json")) }, "managed.json: is not a regular file"},
		"a fragment's fault is its own": {func(p *config.ManagedPlace) error {
			return os.WriteFile(filepath.Join(p.Dir, "managed.d", "a.json"), []byte("{\n\"x\":1}"), 0o600)
		}, "a.json:2: x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := managedIn(t, map[string]string{"managed.json": "{}", "managed.d/a.json": "{}"})
			if _, err := config.ReadManaged(place); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(&place); err != nil {
				t.Fatal(err)
			}
			if _, err := config.ReadManaged(place); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// linked puts a link to something in its place.
func linked(path string) error {
	if err := os.Rename(path, path+".real"); err != nil {
		return err
	}
	return os.Symlink(path+".real", path)
}

// swapped puts a folder in the place of a file.
func swapped(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Mkdir(path, 0o755)
}

func TestSeveralManagedFilesAddUp(t *testing.T) {
	t.Parallel()
	m, err := config.ReadManaged(managedIn(t, map[string]string{
		"managed.json":        `{"max_mode": "auto", "deny": ["exec(curl *)"], "models": ["anthropic/*", "openai/*"], "memory": "auto", "protect": [".env"]}`,
		"managed.d/20.json":   "{\n\"max_mode\": \"edits\", \"models\": [\"*/claude-*\"], \"memory\": \"off\"}",
		"managed.d/10.json":   `{"max_mode": "yolo", "deny": ["fetch"], "remote": false, "telemetry": "figures"}`,
		"managed.d/.30.json":  `nonsense`,
		"managed.d/note.text": `nonsense`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	if mode, from := m.Highest(); mode != tools.ModeEdits || !strings.HasSuffix(from, "20.json:2") {
		t.Errorf("the highest mode is %s of %s", mode, from)
	}
	var denied []string
	for _, l := range m.Denied() {
		denied = append(denied, l.Text)
	}
	if got := strings.Join(denied, ", "); got != "exec(curl *), fetch" {
		t.Errorf("denied: %s", got)
	}
	for id, ok := range map[string]bool{"anthropic claude-x": true, "openai gpt-x": false, "other claude-x": false} {
		maker, name, _ := strings.Cut(id, " ")
		if err := m.Model(maker, name); (err == nil) != ok {
			t.Errorf("%s: %v", id, err)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"telemetry": {"content": true}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	l := config.Load(config.Options{Paths: config.Paths{Config: dir}, Managed: m})
	if origin, off := m.NoTelemetry(); off || l.Config.Telemetry.Content {
		t.Errorf("telemetry: off %v by %q, content %v", off, origin, l.Config.Telemetry.Content)
	}
	if c := l.Config; c.Memory != "off" || c.Remote == nil || *c.Remote || len(c.Sandbox.Protect) != 1 {
		t.Errorf("memory %q, remote %v, protected %q", c.Memory, c.Remote, c.Sandbox.Protect)
	}
	if from := l.Origin("sandbox.protect", 0); !strings.HasSuffix(from, "managed.json:1") {
		t.Errorf("what is protected comes from %s", from)
	}
}

func TestWhatAListNamesIsAllThatMayBeReached(t *testing.T) {
	t.Parallel()
	m, err := config.ReadManaged(managedIn(t, map[string]string{"managed.json": `{
		"endpoints": ["api.example.com", "*.corp.example", "http://localhost:11434/v1", "https://gw.example/team/a/*"],
		"mcp_servers": ["https://mcp.example/", "corp-mcp --read *", ["/opt/our tools/mcp", "serve"]],
		"models": ["corp/*"], "plugins": ["https://git.example/ours/*", "sha256:abcd"]}`}))
	if err != nil {
		t.Fatal(err)
	}
	for address, ok := range map[string]bool{
		"https://api.example.com/v1": true, "https://API.example.com.:443/v1": true, "http://api.example.com/v1": false, "https://api.example.com:8443/v1": false,
		"https://api.example.com.evil.example/v1": false, "https://evil.example/?x=api.example.com": false, "https://api.example.com@evil.example/": false,
		"https://a.corp.example/": true, "https://corp.example/": false, "https://evilcorp.example/": false, "https://evil.example/.corp.example/": false,
		"http://localhost:11434/v1": true, "http://localhost:11434/v1/x": true, "http://localhost:11434/": false, "http://localhost:11435/v1": false, "http://localhost:11434/v12": false,
		"https://gw.example/team/a": true, "https://gw.example/team/a/v1": true, "https://gw.example/team/a/../b": false, "https://gw.example/team/b": false, "https://gw.example/team/a%2f..%2f..%2fb": false,
		"https://{model}.corp.example/": false, ":// ": false,
	} {
		if err := m.Endpoint(address); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	for line, ok := range map[string]bool{
		"corp-mcp --read": true, "corp-mcp --read a b": true, "corp-mcp": false, "corp-mcp --write": false, "/tmp/corp-mcp --read": false,
		"/opt/our tools/mcp|serve": true, "/opt/our tools/mcp|serve|more": false, "https://mcp.example/": false,
	} {
		words := strings.Fields(line)
		if strings.Contains(line, "|") {
			words = strings.Split(line, "|")
		}
		if err := m.Server(words, ""); (err == nil) != ok {
			t.Errorf("%s: %v", line, err)
		}
	}
	for address, ok := range map[string]bool{"https://mcp.example/x": true, "https://other.example/": false, "corp-mcp --read": false} {
		if err := m.Server(nil, address); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := m.Server(nil, ""); err == nil || !strings.Contains(err.Error(), "functions of the program") {
		t.Errorf("functions of a program: %v", err)
	}
	lends, err := config.ReadManaged(managedIn(t, map[string]string{"managed.json": `{"mcp_servers": ["program"]}`}))
	if err != nil || lends.Server(nil, "") != nil || lends.Server(nil, "https://mcp.example/") == nil {
		t.Errorf("an entry for functions of a program: %v", err)
	}
	for from, ok := range map[string]bool{"https://git.example/ours/x": true, "https://git.example/others/x": false} {
		if err := m.Plugin("x", from, "1234"); (err == nil) != ok {
			t.Errorf("%s: %v", from, err)
		}
	}
	if err := m.Plugin("x", "/home/u/x", "ABCD"); err != nil {
		t.Error(err)
	}
	for name, p := range map[string]provider.Config{
		"another model in the body": {Name: "corp", BaseURL: "https://a.corp.example/", ExtraBody: map[string]any{"model": "x"}},
		"other models in the body":  {Name: "corp", BaseURL: "https://a.corp.example/", ExtraBody: map[string]any{"Models": []string{"x"}}},
		"another address":           {Name: "corp", BaseURL: "https://evil.example/"},
		"another provider":          {Name: "mine", BaseURL: "https://a.corp.example/"},
	} {
		if err := m.Permit(p, "good"); err == nil {
			t.Errorf("%s is allowed", name)
		}
	}
	if err := m.Permit(provider.Config{Name: "corp", BaseURL: "https://a.corp.example/", ExtraBody: map[string]any{"top_k": 1}}, "good"); err != nil {
		t.Error(err)
	}
}

func TestWithoutManagedSettingsNothingIsLimited(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]config.ManagedPlace{
		"no folder":       {Dir: filepath.Join(t.TempDir(), "none")},
		"an empty folder": managedIn(t, nil),
	} {
		m, err := config.ReadManaged(place)
		if m != nil || err != nil {
			t.Errorf("%s: %v, %v", name, m, err)
		}
		if mode, _ := m.Highest(); mode != "" || m.Endpoint("http://x") != nil || m.Permit(provider.Config{}, "x") != nil || m.Server([]string{"x"}, "") != nil || m.Plugin("x", "y", "z") != nil || m.Show() != nil {
			t.Errorf("%s: something is limited", name)
		}
	}
}

func TestHooksKeepTheArgumentsOfTheirPrograms(t *testing.T) {
	t.Parallel()
	paths := config.Paths{Config: t.TempDir()}
	if err := os.WriteFile(paths.File(), []byte(`{"hooks": {"PreToolUse": [{"hooks": [{"command": "check", "args": ["--all"], "if": "exec(git push *)", "once": true, "async": true}]}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	l := config.Load(config.Options{Paths: paths})
	hook := l.Config.Hooks["PreToolUse"][0].Hooks[0]
	if len(l.Problems) > 0 || len(hook.Args) != 1 || hook.If == "" || !hook.Once || !hook.Async {
		t.Errorf("%v: %+v", l.Problems, hook)
	}
}
