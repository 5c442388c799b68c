package startfiles_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/startfiles"
)

// tree writes files into a new folder; names that end in .sh or have no dot may be run.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFilesThatALineStarts(t *testing.T) {
	root := tree(t, map[string]string{
		"srv.py": "import helper\nopen('notes.txt')", "helper.py": "", "s.sh": ". ./lib.sh\n", "lib.sh": "exec sub/tool", "sub/tool": "#!/bin/sh\n",
		"Makefile": "all:\n\t./s.sh\n", "package.json": "{}", "pkg/__main__.py": "", "pkg/deep/mod.py": "", "cmd/x/main.go": "package main", "cmd/x/y.go": "",
		"data/.hidden/z": "", "own/run.sh": "#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"\n", "own/lib.sh": "", "from.py": "from pkg import mod\n", "pkg/mod.py": "",
		"inc.mk": "include rules\n", "rules": "x:\n",
	})
	if err := os.WriteFile(filepath.Join(root, "notes.txt"), []byte("data"), 0o644); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"./srv.py":                     "helper.py srv.py",
		"python3 srv.py --port=1":      "helper.py srv.py",
		"python -m pkg.deep.mod":       "pkg/deep/mod.py",
		"sh -c 'cd . && ./s.sh'":       "lib.sh s.sh sub/tool",
		filepath.Join(root, "s.sh"):    "lib.sh s.sh sub/tool",
		"make all":                     "Makefile lib.sh s.sh sub/tool",
		"npx thing":                    "package.json",
		"go run ./cmd/x":               "cmd/x/main.go cmd/x/y.go",
		"gofmt -w":                     "",
		"/bin/echo hello":              "",
		"cat notes.txt":                "",
		"wc -c notes.txt srv.py":       "",
		"cat >> srv.py":                "",
		"./s.sh notes.txt srv.py":      "lib.sh s.sh sub/tool",
		"bash < lib.sh":                "lib.sh sub/tool",
		`"$CLAUDE_PROJECT_DIR"/s.sh`:   "lib.sh s.sh sub/tool",
		"${CLAUDE_PROJECT_DIR}/s.sh x": "lib.sh s.sh sub/tool",
		"sh own/run.sh":                "own/lib.sh own/run.sh",
		"python3 from.py":              "from.py pkg/__main__.py pkg/mod.py",
		"python3 srv.py > lib.sh":      "helper.py srv.py",
		"make -f inc.mk":               "Makefile inc.mk lib.sh rules s.sh sub/tool",
		"node .":                       "package.json",
		"env A=1 timeout 5 ./s.sh":     "lib.sh s.sh sub/tool",
		"FILE=./s.sh; \"$FILE\"":       "lib.sh s.sh sub/tool",
		"find . -name '*.go' -newer /": "",
	} {
		if got := strings.Join(startfiles.Files(root, line), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestPinChangesWithWhatALineStarts(t *testing.T) {
	root := tree(t, map[string]string{"srv.py": "import helper", "helper.py": "1", "other": "x"})
	pin := func() string { return startfiles.Pin("base", root, "python3 srv.py") }
	first := pin()
	if first == "base" || first != pin() {
		t.Fatalf("%s, %s", first, pin())
	}
	if got := startfiles.Pin("base", root, "echo hello"); got != "base" {
		t.Errorf("a line that starts nothing of the project: %s", got)
	}
	seen := []string{first}
	for _, change := range []struct{ name, text string }{{"srv.py", "import helper; evil"}, {"helper.py", "2"}, {"srv.py", "import helper"}} {
		if err := os.WriteFile(filepath.Join(root, change.name), []byte(change.text), 0o755); err != nil {
			t.Fatal(err)
		}
		if now := pin(); slices.Contains(seen, now) {
			t.Errorf("%s became %q unnoticed", change.name, change.text)
		} else {
			seen = append(seen, now)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "other"), []byte("y"), 0o755); err != nil {
		t.Fatal(err)
	}
	if pin() != seen[len(seen)-1] {
		t.Error("a file that it does not start counts")
	}
}

func TestLinesStartNothingOutsideTheWorkspace(t *testing.T) {
	root, outside := tree(t, nil), tree(t, map[string]string{"evil.sh": "x"})
	if err := os.Symlink(filepath.Join(outside, "evil.sh"), filepath.Join(root, "link.sh")); err != nil {
		t.Skipf("links can't be made here: %v", err)
	}
	if got := startfiles.Files(root, "./link.sh ../"+filepath.Base(outside)+"/evil.sh /"); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
