//go:build unix

package worktree_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/programs"
	"jcode/internal/worktree"
)

// A git that is killed in the middle of "git worktree add" leaves the repository broken. It is
// asked to end when its work is canceled, and has time to clean up.
func TestCanceledGitMayCleanUp(t *testing.T) {
	root := repository(t)
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	said := t.TempDir()
	script := "case \"$*\" in *'worktree add'*) ;; *) exec '" + git + "' \"$@\" ;; esac\n" +
		"trap 'echo >" + said + "/ended; exit 1' TERM\necho >" + said + "/begun\nwhile :; do sleep 0.05; done\n"
	t.Setenv("PATH", programs.First(programs.Write(t, map[string]string{"git": script})))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	made := make(chan error, 1)
	go func() {
		_, err := worktree.Add(ctx, worktree.Options{Root: root, Dir: filepath.Join(t.TempDir(), "x"), Branch: "jcode/x"})
		made <- err
	}()
	eventually.File(t, filepath.Join(said, "begun"))
	cancel()
	if err := <-made; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(said, "ended")); err != nil {
		t.Error("git was killed without having been asked to end")
	}
}
