package worktree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/launch"
	"jcode/internal/worktree"
)

func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, "init", "-q", "-b", "main")
	write(t, dir, "a.txt", "one\n")
	write(t, dir, "sub/b.txt", "two\n")
	write(t, dir, ".gitignore", ".env\nnode_modules/\n")
	run(t, dir, "add", ".")
	run(t, dir, "commit", "-q", "-m", "first")
	return dir
}

func add(t *testing.T, o worktree.Options) worktree.Tree {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o.Dir, o.Branch = filepath.Join(dir, "copies", "x"), "jcode/x"
	tree, err := worktree.Add(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// unified returns the changes as a diff.
func unified(t *testing.T, tree worktree.Tree) (string, error) {
	t.Helper()
	work, err := tree.Work(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tree.Diff(t.Context(), work.Changes)
}

func changes(t *testing.T, tree worktree.Tree) map[string]worktree.Change {
	t.Helper()
	work, err := tree.Work(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]worktree.Change{}
	for _, c := range work.Changes {
		out[c.Path] = c
	}
	return out
}

// What was copied in the same moment in which the work began is what it was, although its times tell nothing.
func TestWhatWasCopiedJustBeforeTheStartIsNoChange(t *testing.T) {
	t.Parallel()
	root := repository(t)
	write(t, root, ".env", "SECRET=1\n")
	write(t, root, "node_modules/m/index.js", "x\n")
	tree := add(t, worktree.Options{Root: root, Copy: []string{".env", "node_modules"}})
	found, err := filepath.Glob(filepath.Join(root, ".git", "worktrees", "*", "jcode-start"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Split(string(data), "\x00")
	for i := 3; i+2 < len(fields); i += 3 { // what the file system says, a hash, a name
		fields[i] = ""
	}
	if err := os.WriteFile(found[0], []byte(strings.Join(fields, "\x00")), 0o600); err != nil {
		t.Fatal(err)
	}
	work, err := tree.Work(t.Context())
	if err != nil || !work.None() {
		t.Errorf("a fresh copy differs: %+v %v", work, err)
	}
	write(t, tree.Dir, ".env", "SECRET=2\n")
	if work, err := tree.Work(t.Context()); err != nil || len(work.Left) != 1 || !strings.HasPrefix(work.Left[0], ".env (changed") {
		t.Errorf("%+v %v", work, err)
	}
}

func TestWorkInACopyIsSeenAsChangesAndLeavesTheRepositoryAlone(t *testing.T) {
	t.Parallel()
	root := repository(t)
	write(t, root, ".env", "SECRET=1\n")
	write(t, root, "node_modules/m/index.js", "x\n")
	tree := add(t, worktree.Options{Root: root, Copy: []string{".env", "node_modules", "absent"}})
	if b, err := os.ReadFile(filepath.Join(tree.Dir, "node_modules", "m", "index.js")); err != nil || string(b) != "x\n" {
		t.Errorf("node_modules: %q, %v", b, err)
	}
	if got := changes(t, tree); len(got) != 0 {
		t.Errorf("a fresh copy differs: %v", got)
	}
	write(t, tree.Dir, "a.txt", "changed\n")
	write(t, tree.Dir, "new file.txt", "new\n")
	if err := os.Remove(filepath.Join(tree.Dir, "sub", "b.txt")); err != nil {
		t.Fatal(err)
	}
	got := changes(t, tree)
	if len(got) != 3 || string(got["a.txt"].Base.Data) != "one\n" || string(got["a.txt"].Theirs.Data) != "changed\n" ||
		got["new file.txt"].Base != nil || got["sub/b.txt"].Theirs != nil {
		t.Errorf("changes %+v", got)
	}
	if diff, err := unified(t, tree); err != nil || !strings.Contains(diff, "+changed") {
		t.Errorf("diff %q, %v", diff, err)
	}
	if s := run(t, root, "status", "--porcelain"); s != "" {
		t.Errorf("the repository is %q", s)
	}
	if err := tree.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := run(t, root, "worktree", "list"); strings.Contains(s, tree.Dir) {
		t.Errorf("still there: %s", s)
	}
	if s := run(t, root, "branch", "--list", "jcode/*"); s != "" {
		t.Errorf("branches %q", s)
	}
	if err := tree.Remove(t.Context()); err != nil {
		t.Errorf("a second removal: %v", err)
	}
	if err := tree.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("check: %v", err)
	}
}

// A change right after the checkout may leave the size and time of a file unchanged.
func TestChangeInTheMomentOfTheCheckoutIsSeen(t *testing.T) {
	t.Parallel()
	root := repository(t)
	run(t, root, "config", "core.trustctime", "false") // else the ctime of a change that is made a moment later would show it
	tree := add(t, worktree.Options{Root: root})
	moment := time.Now().Add(-time.Hour).Truncate(time.Second)
	at := func(path string) {
		if err := os.Chtimes(path, moment, moment); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(tree.Dir, "a.txt")
	at(path)
	run(t, tree.Dir, "update-index", "--refresh")
	at(filepath.Join(run(t, tree.Dir, "rev-parse", "--absolute-git-dir"), "index"))
	write(t, tree.Dir, "a.txt", "two\n")
	at(path)
	if got := changes(t, tree); len(got) != 1 || string(got["a.txt"].Theirs.Data) != "two\n" {
		t.Errorf("changes %+v", got)
	}
}

func TestUncommittedChangesComeAlongAndAreNotSeenAsTheWork(t *testing.T) {
	t.Parallel()
	root := repository(t)
	write(t, root, "a.txt", "mine\n")
	write(t, root, "untracked.txt", "mine too\n")
	tree := add(t, worktree.Options{Root: root, Uncommitted: true})
	for name, want := range map[string]string{"a.txt": "mine\n", "untracked.txt": "mine too\n"} {
		if b, err := os.ReadFile(filepath.Join(tree.Dir, name)); err != nil || string(b) != want {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
	if got := changes(t, tree); len(got) != 0 {
		t.Errorf("the person's changes count as work: %v", got)
	}
	write(t, tree.Dir, "a.txt", "mine and more\n")
	if got := changes(t, tree); len(got) != 1 || string(got["a.txt"].Base.Data) != "mine\n" {
		t.Errorf("changes %+v", got)
	}
	if s := run(t, root, "status", "--porcelain"); !strings.Contains(s, "M a.txt") || !strings.Contains(s, "?? untracked.txt") {
		t.Errorf("the repository is %q", s)
	}
	plain := repository(t)
	write(t, plain, "a.txt", "mine\n")
	tree = add(t, worktree.Options{Root: plain})
	if b, err := os.ReadFile(filepath.Join(tree.Dir, "a.txt")); err != nil || string(b) != "one\n" {
		t.Errorf("what was not asked for came along: %q, %v", b, err)
	}
}

func TestCopiesOfASubmoduleAndOfAWorktree(t *testing.T) {
	t.Parallel()
	inner, outer := repository(t), repository(t)
	run(t, outer, "submodule", "add", "-q", inner, "mod")
	run(t, outer, "commit", "-q", "-m", "mod")
	for name, root := range map[string]string{"submodule": filepath.Join(outer, "mod"), "worktree": add(t, worktree.Options{Root: inner}).Dir} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			tree, err := worktree.Add(t.Context(), worktree.Options{Root: root, Dir: dir, Branch: "jcode/of-" + name})
			if err != nil {
				t.Fatal(err)
			}
			write(t, tree.Dir, "a.txt", "changed\n")
			if got := changes(t, tree); len(got) != 1 {
				t.Errorf("changes %+v", got)
			}
			if err := tree.Remove(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhatCannotBeCopiedIsSaid(t *testing.T) {
	t.Parallel()
	root := repository(t)
	_, err := worktree.Add(t.Context(), worktree.Options{Root: root, Dir: filepath.Join(root, "copies", "x"), Branch: "b"})
	if err == nil || !strings.Contains(err.Error(), "inside the repository") {
		t.Errorf("inside: %v", err)
	}
	empty := t.TempDir()
	run(t, empty, "init", "-q")
	_, err = worktree.Add(t.Context(), worktree.Options{Root: empty, Dir: filepath.Join(t.TempDir(), "x"), Branch: "b"})
	if err == nil || !strings.Contains(err.Error(), "no commit") {
		t.Errorf("without a commit: %v", err)
	}
}

func TestCopyIsFoundByItsFolder(t *testing.T) {
	t.Parallel()
	root := repository(t)
	made := add(t, worktree.Options{Root: root})
	tree, err := worktree.Find(t.Context(), launch.Git{}, root, made.Dir)
	if err != nil || tree.Branch != made.Branch || tree.Base != made.Base {
		t.Errorf("found %+v, %v, made %+v", tree, err, made)
	}
	if tree, err := worktree.Find(t.Context(), launch.Git{}, root, t.TempDir()); err == nil {
		t.Errorf("a folder that is no copy: %+v", tree)
	}
	if err := tree.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
}
