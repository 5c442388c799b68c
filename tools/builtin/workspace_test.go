package builtin_test

import (
	"os"
	"path/filepath"
	"testing"

	"jcode/tools"
	"jcode/tools/builtin"
)

func TestWorkspaceThatWasMadeAnewIsSeen(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "old")
	r.ok("read", args{"path": "f"})
	if err := os.RemoveAll(r.dir); err != nil {
		t.Skipf("an opened folder can't be removed here: %v", err)
	}
	r.refused("read", args{"path": "f"}, "does not exist")
	r.put("f", "new")
	has(t, r.ok("read", args{"path": "f"}).Text, "new")
	has(t, r.ok("grep", args{"pattern": "new"}).Text, "f:1:new")
	r.ok("write", args{"path": "g", "content": "x"})
	r.holds("g", "x")
}

func TestAddedFoldersBelongToTheWorkspace(t *testing.T) {
	t.Parallel()
	dirs := make([]string, 3)
	for i := range dirs {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		dirs[i] = dir
	}
	ws, err := builtin.OpenWorkspace(dirs[0], dirs[1])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.Close() }()
	for i, want := range []bool{true, true, false} {
		if got := ws.Contains(filepath.Join(dirs[i], "x")); got != want {
			t.Errorf("folder %d: %v", i, got)
		}
	}
	if got := ws.Shown(filepath.Join(dirs[0], "a", "b")); got != "a/b" {
		t.Errorf("shown as %q", got)
	}
	if got := ws.Shown(filepath.Join(dirs[1], "a")); got != filepath.ToSlash(dirs[1])+"/a" {
		t.Errorf("shown as %q", got)
	}
	call := func(name, arguments string) tools.Result {
		t.Helper()
		for _, tool := range fileTools(ws, builtin.Options{}) {
			if tool.Spec().Name == name {
				res, err := tool.Run(t.Context(), tools.Call{Name: name, Arguments: []byte(arguments)})
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
		}
		t.Fatal("no tool ", name)
		return tools.Result{}
	}
	// Also outside the workspace, as after an approval, and from one folder to another.
	for _, dir := range dirs {
		dir = filepath.ToSlash(dir)
		call("write", `{"path":"`+dir+`/sub/f.txt","content":"word\n"}`)
		want := dir + "/sub/f.txt"
		if dir == filepath.ToSlash(dirs[0]) {
			want = "sub/f.txt"
		}
		if got := call("glob", `{"pattern":"**/*.txt","dir":"`+dir+`"}`).Text; got != want {
			t.Errorf("glob in %s: %q", dir, got)
		}
		if got := call("grep", `{"pattern":"word","path":"`+dir+`"}`).Text; got != want+":1:word" {
			t.Errorf("grep in %s: %q", dir, got)
		}
		if got := call("grep", `{"pattern":"word","path":"`+dir+`/sub/f.txt","context":1}`).Text; got != want+":1:word" {
			t.Errorf("grep of a file in %s: %q", dir, got)
		}
	}
	call("mv", `{"src":"sub","dst":"`+filepath.ToSlash(dirs[2])+`/moved"}`)
	if data, err := os.ReadFile(filepath.Join(dirs[2], "moved", "f.txt")); err != nil || string(data) != "word\n" {
		t.Errorf("moved: %q, %v", data, err)
	}
}
