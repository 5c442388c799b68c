package worktree_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/launch"
	"jcode/internal/worktree"
	"jcode/internal/worktree/merge"
)

func work(t *testing.T, tree worktree.Tree) worktree.Work {
	t.Helper()
	w, err := tree.Work(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func names(w worktree.Work) (out []string) {
	for _, c := range w.Changes {
		out = append(out, c.Path)
	}
	return out
}

// What git does not see is work, too: it can't be merged, and is named.
func TestWorkThatGitIgnoresIsNamed(t *testing.T) {
	t.Parallel()
	root := repository(t)
	write(t, root, ".env", "SECRET=1\n")
	inner := repository(t)
	run(t, root, "submodule", "add", "-q", inner, "mod")
	run(t, root, "commit", "-q", "-m", "mod")
	tree := add(t, worktree.Options{Root: root, Copy: []string{".env"}})
	if w := work(t, tree); !w.None() {
		t.Fatalf("a fresh copy: %+v", w)
	}
	write(t, tree.Dir, "node_modules/m/index.js", "mine\n")
	write(t, tree.Dir, ".env", "SECRET=2\n")
	write(t, tree.Dir, "sub/.env", "SECRET=3\n")
	write(t, tree.Dir, "new/__pycache__/x.pyc", "a cache\n")
	write(t, tree.Dir, "new/deep/file.txt", "new\n")
	run(t, tree.Dir, "submodule", "update", "-q", "--init")
	run(t, tree.Dir, "init", "-q", "own")
	write(t, tree.Dir, "own/x.txt", "mine\n")
	w := work(t, tree)
	if got := names(w); !slices.Equal(got, []string{"new/deep/file.txt"}) {
		t.Errorf("changes %q", got)
	}
	left := strings.Join(w.Left, "\n")
	for _, want := range []string{"node_modules/ (1 file, ignored by git)", ".env (changed; it was copied", "sub/.env (ignored by git)", "mod/ (a submodule)", "own/ (a git repository of its own)"} {
		if !strings.Contains(left, want) {
			t.Errorf("not named: %s, in\n%s", want, left)
		}
	}
	if len(w.Left) != 5 {
		t.Errorf("left:\n%s", left)
	}
}

// Files outside the cone of a sparse checkout are changes like any other.
func TestWorkOutsideASparseConeIsSeen(t *testing.T) {
	t.Parallel()
	root := repository(t)
	write(t, root, "other/c.txt", "three\n")
	run(t, root, "add", ".")
	run(t, root, "commit", "-q", "-m", "other")
	run(t, root, "sparse-checkout", "set", "sub")
	tree := add(t, worktree.Options{Root: root})
	if w := work(t, tree); !w.None() {
		t.Fatalf("a fresh copy: %+v", w)
	}
	start := filepath.Join(run(t, tree.Dir, "rev-parse", "--absolute-git-dir"), "jcode-start")
	if err := os.Rename(start, start+".away"); err != nil {
		t.Fatal(err)
	}
	if w := work(t, tree); !w.None() {
		t.Errorf("a fresh copy of which nothing is known: %+v", w)
	}
	if err := os.Rename(start+".away", start); err != nil {
		t.Fatal(err)
	}
	write(t, tree.Dir, "other/new.txt", "new\n")
	write(t, tree.Dir, "other/c.txt", "changed\n")
	w := work(t, tree)
	if got := names(w); !slices.Equal(got, []string{"other/c.txt", "other/new.txt"}) || len(w.Left) > 0 {
		t.Fatalf("changes %q, left %q", got, w.Left)
	}
	if b := w.Changes[0].Base; b == nil || string(b.Data) != "three\n" || !tree.Sparse(t.Context(), "other/c.txt") || tree.Sparse(t.Context(), "sub/b.txt") {
		t.Errorf("base %+v", b)
	}
	steps, conflicts, err := merge.Steps(root, w.Changes, func(name string) bool { return tree.Sparse(t.Context(), name) })
	if err != nil || len(conflicts) > 0 || len(steps) != 2 {
		t.Fatalf("%+v, %q, %v", steps, conflicts, err)
	}
	if _, err := merge.Apply(root, root, steps); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"other/c.txt": "changed\n", "other/new.txt": "new\n"} {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A commit whose files are as before is not lost with the copy, and a file that is only touched is no work.
func TestCommitsOfACopyAreNamedAndTouchedFilesAreNot(t *testing.T) {
	t.Parallel()
	root := repository(t)
	tree := add(t, worktree.Options{Root: root})
	now, err := os.ReadFile(filepath.Join(tree.Dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, tree.Dir, "a.txt", string(now))
	write(t, tree.Dir, "sub/.b.txt.0123456789abcdef.tmp", "half a fi")
	if w := work(t, tree); !w.None() {
		t.Errorf("touched: %+v", w)
	}
	write(t, tree.Dir, "a.txt", "two\n")
	run(t, tree.Dir, "commit", "-q", "-am", "two")
	write(t, tree.Dir, "a.txt", string(now))
	if w := work(t, tree); len(w.Left) != 1 || !strings.Contains(w.Left[0], "commits of the branch jcode/x (1") {
		t.Errorf("commits: %+v", w)
	}
}

// Files that are moved are seen as moved, whatever their attributes.
func TestMovedFilesAreSeen(t *testing.T) {
	t.Parallel()
	root := repository(t)
	long := strings.Repeat("a line of text\n", 50)
	write(t, root, "long.txt", long)
	run(t, root, "add", ".")
	run(t, root, "commit", "-q", "-m", "long")
	tree := add(t, worktree.Options{Root: root})
	if err := os.Rename(filepath.Join(tree.Dir, "long.txt"), filepath.Join(tree.Dir, "sub", "moved \"x\".txt")); err != nil {
		t.Fatal(err)
	}
	write(t, tree.Dir, "sub/moved \"x\".txt", long+"more\n")
	w := work(t, tree)
	if len(w.Changes) != 1 || w.Changes[0].From != "long.txt" || string(w.Changes[0].Base.Data) != long {
		t.Errorf("changes %+v", w)
	}
}

// A copy that an earlier version made is compared without what it did not write down.
func TestCopyWithoutAStartIsComparedWithGitsTree(t *testing.T) {
	t.Parallel()
	root := repository(t)
	tree := add(t, worktree.Options{Root: root})
	if err := os.Remove(filepath.Join(run(t, tree.Dir, "rev-parse", "--absolute-git-dir"), "jcode-start")); err != nil {
		t.Fatal(err)
	}
	if w := work(t, tree); !w.None() {
		t.Errorf("unchanged: %+v", w)
	}
	write(t, tree.Dir, "a.txt", "two\n")
	if err := os.Remove(filepath.Join(tree.Dir, "sub", "b.txt")); err != nil {
		t.Fatal(err)
	}
	if got := names(work(t, tree)); !slices.Equal(got, []string{"a.txt", "sub/b.txt"}) {
		t.Errorf("changes %q", got)
	}
}

// What worktree.copy names never brings along anything from outside the original.
func TestCopyTakesNothingFromOutside(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, "key", "a key\n")
	for name, lay := range map[string]func(root string) error{
		"a folder": func(root string) error { return os.Symlink(home, filepath.Join(root, "node_modules")) },
		"a file": func(root string) error {
			return os.Symlink(filepath.Join(home, "key"), filepath.Join(root, "node_modules"))
		},
		"a folder in between": func(root string) error { return os.Symlink(home, filepath.Join(root, "deep")) },
		"the original itself": func(root string) error { return os.Symlink(root, filepath.Join(root, "node_modules")) },
	} {
		root := repository(t)
		if err := lay(root); err != nil {
			t.Fatal(err)
		}
		o := worktree.Options{Root: root, Copy: []string{"node_modules", "deep/key"}, Dir: filepath.Join(t.TempDir(), "x"), Branch: "jcode/x"}
		if _, err := worktree.Add(t.Context(), o); err == nil || !strings.Contains(err.Error(), "worktree.copy") {
			t.Errorf("%s: %v", name, err)
		}
	}
	root := repository(t)
	write(t, root, "node_modules/m.js", "x\n")
	tree := add(t, worktree.Options{Root: root, Copy: []string{"node_modules"}})
	if got := tree.Linked(); len(got) != 1 {
		t.Fatalf("linked %q", got)
	}
	link := filepath.Join(tree.Dir, "node_modules")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	if got := tree.Linked(); len(got) != 0 {
		t.Errorf("a link that was turned counts: %q", got)
	}
}

// A repository that makes git run something is not copied.
func TestNothingIsCopiedAgainstAnObjection(t *testing.T) {
	t.Parallel()
	root := repository(t)
	by := launch.Git{Look: func(string) string { return "the test objects" }}
	_, err := worktree.Add(t.Context(), worktree.Options{Git: by, Root: root, Dir: filepath.Join(t.TempDir(), "x"), Branch: "jcode/x"})
	if err == nil || !strings.Contains(err.Error(), "the test objects") || run(t, root, "branch", "--list", "jcode/x") != "" {
		t.Errorf("error %v", err)
	}
}
