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
