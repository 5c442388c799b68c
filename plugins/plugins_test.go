package plugins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/plugins"
)

func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAManifestNeverLeadsOutOfThePlugin(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), map[string]string{
		"outside.json":        `{"hooks":{"Stop":[{"hooks":[{"command":"evil"}]}]}}`,
		"p/jcode-plugin.json": `{"name":"p","commands":"../..","skills":["/etc","../p2"],"hooks":"../outside.json","mcpServers":"../outside.json"}`,
	})
	b, err := plugins.Read(filepath.Join(dir, "p"))
	if err != nil || len(b.Rows) > 0 || len(b.Hooks) > 0 || len(b.Commands)+len(b.Skills) > 0 || len(b.Problems) != 5 {
		t.Errorf("%v %+v", err, b)
	}
}

func TestFaultsOfAManifestAreNamedWithoutGoTypes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{`: "jcode-plugin.json", `{"name":1}`: `must not be of the kind number`, `{"name":"UP"}`: "lower-case", `{"name":""}`: "lower-case", `[]`: "must not be of the kind array",
	} {
		_, err := plugins.Read(write(t, t.TempDir(), map[string]string{"jcode-plugin.json": text}))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAPluginIsKeptWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	source := write(t, t.TempDir(), map[string]string{"jcode-plugin.json": `{"name":"p","version":"1"}`, "commands/a.md": "A"})
	s := plugins.Store{Dir: filepath.Join(t.TempDir(), "plugins")}
	address, err := plugins.ParseAddress(source, "")
	if err != nil {
		t.Fatal(err)
	}
	st, err := s.Stage(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	st.Drop()
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Errorf("dropped, and there: %v %v", list, err)
	}
	if st, err = s.Stage(t.Context(), address); err == nil {
		err = s.Keep(st)
	}
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.List()
	if err != nil || len(list) != 1 || !list[0].Intact() || len(list[0].Bundle.Rows) != 1 {
		t.Fatalf("%v %+v", err, list)
	}
	for _, change := range []func(dir string) error{
		func(dir string) error { return os.WriteFile(filepath.Join(dir, "commands/a.md"), []byte("B"), 0o600) },
		func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) },
		func(dir string) error { return os.Chmod(filepath.Join(dir, "new"), 0o700) },
		func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "link")) },
		func(dir string) error { return os.Remove(filepath.Join(dir, "commands/a.md")) },
	} {
		if err := change(filepath.Join(s.Dir, "p")); err != nil {
			t.Fatal(err)
		}
		list, err := s.List()
		if err != nil || list[0].Intact() {
			t.Fatalf("a change is not seen: %v", err)
		}
		if err := s.Accept("p", list[0].Now); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Remove("p"); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(s.Dir)
	if err != nil || len(left) != 1 || left[0].Name() != ".lock" {
		t.Errorf("%v %v", left, err)
	}
}

func TestAnAddressCannotBeAFlagOrAProgram(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"-x", "--upload-pack=evil", "ext::sh -c evil", "", "#x", "https://h/x#-evil", "fd://1"} {
		if a, err := plugins.ParseAddress(s, ""); err == nil {
			t.Errorf("%q is accepted as %+v", s, a)
		}
	}
	for _, s := range []string{"https://h/x.git", "git@h:x/y.git", "ssh://h/x#main", "file:///x"} {
		if _, err := plugins.ParseAddress(s, ""); err != nil {
			t.Error(err)
		}
	}
}

// stage fetches a folder into a new store.
func stage(t *testing.T, from, plugin string) (*plugins.Staged, error) {
	t.Helper()
	address, err := plugins.ParseAddress(from, plugin)
	if err != nil {
		t.Fatal(err)
	}
	return plugins.Store{Dir: filepath.Join(t.TempDir(), "plugins")}.Stage(t.Context(), address)
}

func TestAMarketplaceDescribesAPluginWithoutAManifest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		".claude-plugin/marketplace.json": `{"name": "m", "plugins": [
			{"name": "papers", "description": "Papers", "source": "./", "strict": false, "skills": ["./skills/pdf"]},
			{"name": "rest", "source": "./tools/rest"}]}`,
		"skills/pdf/SKILL.md":        "---\nname: pdf\ndescription: PDFs\n---\nx\n",
		"skills/other/SKILL.md":      "---\nname: other\ndescription: Other\n---\nx\n",
		"tools/rest/commands/run.md": "Run it",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for plugin, want := range map[string]string{"papers": "skill pdf: PDFs", "rest": "command run"} {
		st, err := stage(t, dir, plugin)
		if err != nil {
			t.Fatalf("%s: %v", plugin, err)
		}
		var rows []string
		for _, r := range st.Bundle.Rows {
			rows = append(rows, r.String())
		}
		if st.Name != plugin || strings.Join(rows, "|") != want {
			t.Errorf("%s: %s brings %q, want %q", plugin, st.Name, rows, want)
		}
		st.Drop()
	}
}

func TestWhatAPluginBringsIsReadAsRegularFilesInsideOfIt(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(dir string) error{
		"a marketplace that never ends": func(dir string) error {
			return os.Symlink("/dev/zero", filepath.Join(dir, ".claude-plugin", "marketplace.json"))
		},
		"a link out of the tree": func(dir string) error { return os.Symlink("/etc/hostname", filepath.Join(dir, "README.md")) },
		"a device":               func(dir string) error { return os.Symlink("/dev/zero", filepath.Join(dir, "README.md")) },
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, ".claude-plugin"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".claude-plugin", "plugin.json"), []byte(`{"name": "x"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := make(dir); err != nil {
			t.Skip(err)
		}
		if st, err := stage(t, dir, ""); err == nil || !strings.Contains(err.Error(), "leads out of the plugin") {
			t.Errorf("%s: %v", name, err)
			st.Drop()
		}
	}
}

func TestAServersRowShowsAllThatItStartsAndConnectsTo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"jcode-plugin.json": `{"name": "x"}`,
		".mcp.json":         `{"mcpServers": {"s": {"url": "https://good.example/mcp", "command": "sh", "args": ["-c", "evil"], "env": {"LD_PRELOAD": "x.so"}}}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := plugins.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.Rows[0].String(), "mcp server s: sh -c evil; connects to https://good.example/mcp; environment: LD_PRELOAD"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWhatAKilledFetchLeftIsSweptAway(t *testing.T) {
	t.Parallel()
	store := plugins.Store{Dir: t.TempDir()}
	left, busy := filepath.Join(store.Dir, ".new-1"), filepath.Join(store.Dir, ".new-2")
	for _, dir := range []string{left, busy} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	from := t.TempDir()
	if err := os.WriteFile(filepath.Join(from, "jcode-plugin.json"), []byte(`{"name": "x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := store.Stage(t.Context(), plugins.Address{From: from})
	if err != nil {
		t.Fatal(err)
	}
	st.Drop()
	if _, err := os.Stat(left); err == nil {
		t.Error("what a killed fetch left is still there")
	}
	if _, err := os.Stat(busy); err != nil {
		t.Error("what another fetch is writing is gone")
	}
}
