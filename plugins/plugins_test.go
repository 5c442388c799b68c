package plugins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
