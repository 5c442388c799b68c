package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/session"
)

func TestProjectsOfLikeNamesAreApart(t *testing.T) {
	t.Parallel()
	s := open(t)
	base := t.TempDir()
	seen := map[string]string{}
	for _, name := range []string{"a_b", "a-b", "a.b", "a b"} {
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		id, root, err := session.ProjectID(dir)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(root) != name || seen[id] != "" || strings.ContainsAny(id, `/\ .`) {
			t.Errorf("%s has ID %s, root %s, as %s", name, id, root, seen[id])
		}
		seen[id] = newSession(t, s, id).ID
	}
	for id, want := range seen {
		v, err := s.Latest(t.Context(), id)
		if err != nil || v.ID != want {
			t.Errorf("latest of %s is %s, %v", id, v.ID, err)
		}
	}
	if _, err := s.Latest(t.Context(), "none"); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
}

func TestProjectIsTheGitTopLevelOrTheFolder(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mk := func(name string) string {
		t.Helper()
		p := filepath.Join(base, name)
		if err := os.MkdirAll(p, 0o755); err != nil {
			t.Fatal(err)
		}
		return p
	}
	mk("repo/.git")
	write(t, filepath.Join(base, "repo/.git/HEAD"), "ref: refs/heads/main\n")
	deep := mk("repo/a/b")
	tree := mk("tree/x")
	write(t, filepath.Join(base, "tree/.git"), "gitdir: ../repo/.git/worktrees/tree\n")
	fake := mk("fake/x")
	mk("fake/.git") // not a repository
	for dir, want := range map[string]string{deep: "repo", tree: "tree", fake: "fake/x"} {
		id, root, err := session.ProjectID(dir)
		if err != nil || root != filepath.Join(base, want) {
			t.Errorf("%s: root %s, %v", dir, root, err)
		}
		link := filepath.Join(base, "link")
		_ = os.Remove(link)
		if os.Symlink(dir, link) == nil {
			if other, _, err := session.ProjectID(link); err != nil || other != id {
				t.Errorf("through a link: %s, want %s (%v)", other, id, err)
			}
		}
	}
	if _, _, err := session.ProjectID(filepath.Join(base, "missing")); err == nil {
		t.Error("a missing folder has a project")
	}
}

// All working trees of a repository, and its folders, have one key; other repositories of the same name have others.
func TestWorkingTreesOfARepositoryShareAKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(path, content string) {
		t.Helper()
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, repo := range []string{"a/shop", "b/shop"} {
		file(repo+"/.git/HEAD", "ref: refs/heads/main\n")
		file(repo+"/.git/worktrees/fix/HEAD", "ref: refs/heads/fix\n")
		file(repo+"/.git/worktrees/fix/commondir", "../..\n")
		file(repo+"-fix/.git", "gitdir: "+filepath.Join(dir, repo, ".git/worktrees/fix")+"\n")
	}
	file("bare.git/HEAD", "ref: refs/heads/main\n")
	file("bare.git/worktrees/x/HEAD", "ref: refs/heads/x\n")
	file("bare.git/worktrees/x/commondir", "../..\n")
	file("x/.git", "gitdir: ../bare.git/worktrees/x\n")
	file("broken/.git", "gitdir: /nowhere\n")
	file("plain/a.txt", "")
	key := func(path string) string { return session.RepositoryKey(filepath.Join(dir, path)) }
	if key("a/shop") != key("a/shop-fix") || key("a/shop") == key("b/shop") || key("b/shop") != key("b/shop-fix") {
		t.Errorf("%s %s %s %s", key("a/shop"), key("a/shop-fix"), key("b/shop"), key("b/shop-fix"))
	}
	for path, name := range map[string]string{"a/shop-fix": "shop-", "x": "bare-", "broken": "broken-", "plain": "plain-"} {
		if got := key(path); !strings.HasPrefix(got, name) {
			t.Errorf("%s: %s", path, got)
		}
	}
}
