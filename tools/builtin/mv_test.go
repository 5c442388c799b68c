package builtin_test

import (
	"os"
	"path/filepath"
	"testing"

	"jcode/tools/builtin"
)

func TestMoveKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("a", "A")
	r.put("b", "B")
	r.refused("mv", args{"src": "a", "dst": "b"}, "exists")
	r.holds("b", "B")
	r.ok("mv", args{"src": "a", "dst": "new/folder/c"})
	r.holds("new/folder/c", "A")
	r.ok("mv", args{"src": "b", "dst": "new"})
	r.holds("new/b", "B")
	r.ok("mv", args{"src": "new/b", "dst": "later/"})
	r.holds("later/b", "B")
	r.refused("write", args{"path": "folder/", "content": "x"}, "names a folder")
	r.refused("mv", args{"src": "new", "dst": "new/folder/x"}, "into itself")
	r.refused("mv", args{"src": "none", "dst": "x"}, "does not exist")
	r.ok("mv", args{"src": "new", "dst": "moved"})
	r.holds("moved/folder/c", "A")
}

func TestMoveAndRemoveMeanTheLinkItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("d/f", "x")
	r.link("d", "l")
	r.ok("mv", args{"src": "l", "dst": "m"})
	if target, err := os.Readlink(filepath.Join(r.dir, "m")); err != nil || target != "d" {
		t.Errorf("the link became %q, %v", target, err)
	}
	r.ok("remove", args{"path": "m"})
	r.holds("d/f", "x")
}

func TestWorkspaceIsNotRemoved(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "x")
	for _, p := range []string{".", "..", r.dir, filepath.Dir(r.dir), "/"} {
		r.refused("remove", args{"path": p}, "not removed")
	}
	r.refused("mv", args{"src": ".", "dst": "x"}, "not removed or moved")
	r.holds("f", "x")
}

func TestMkdirMakesParentsAndIsRepeatable(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.ok("mkdir", args{"path": "a/b/c"})
	has(t, r.ok("mkdir", args{"path": "a/b/c"}).Text, "exists already")
	r.put("f", "")
	r.refused("mkdir", args{"path": "f"}, "not a folder")
	r.refused("mkdir", args{"path": "f/g"})
	r.ok("remove", args{"path": "a"})
	if _, err := os.Lstat(filepath.Join(r.dir, "a")); err == nil {
		t.Error("the tree is still there")
	}
}
