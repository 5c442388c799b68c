package protected_test

import (
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/protected"
)

func TestProtectedByName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]protected.Kind{
		".git": protected.Git, ".GIT": protected.Git, ".git.": protected.Git, "git~1": protected.Git, ".jcode": protected.Agent, ".mcp.json": protected.Servers, ".husky": protected.Hooks,
		"git": "", ".gitignore": "", ".github": "", "x.git": "", "": "",
	} {
		if got := protected.Name(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for rel, want := range map[string]protected.Kind{".bashrc": protected.Account, ".ssh/id": protected.Account, ".config/fish/x": protected.Account, ".config/x": "", "src/.bashrc": "", ".bashrcx": ""} {
		if got := protected.InHome(rel); got != want {
			t.Errorf("%q: %q, want %q", rel, got, want)
		}
	}
}

func TestFolderThatBecomesARepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) bool { return protected.InGitFolder(filepath.Join(dir, filepath.FromSlash(name))) }
	put("a/config")
	if in("a/HEAD") || in("a/config") || in("a/hooks/x") {
		t.Error("a folder with a config is treated as git's")
	}
	put("a/objects/x")
	if !in("a/HEAD") {
		t.Error("HEAD makes it a repository")
	}
	put("a/HEAD")
	if !in("a/config") || !in("a/hooks/x") || !in("a/commondir") || in("a/readme") {
		t.Error("a bare repository")
	}
	put("b/commondir")
	if !in("b/HEAD") || in("b/x") {
		t.Error("a folder with a commondir")
	}
}
