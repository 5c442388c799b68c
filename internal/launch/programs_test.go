package launch_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/launch"
	"jcode/internal/testkit/programs"
)

func list(dirs ...string) string { return strings.Join(dirs, string(os.PathListSeparator)) }

// A program of the project, one that a link leads to, and one in a folder for temporary files are passed over,
// wherever they are in PATH.
func TestProgramsOfTheProjectAndTemporaryOnesAreNotFound(t *testing.T) {
	project := programs.Write(t, map[string]string{"tool": "echo project"})
	linked := programs.Write(t, nil)
	if err := os.Symlink(filepath.Join(project, "tool"), filepath.Join(linked, "tool")); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(linked, "folder")
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	temporary := t.TempDir()
	programs.File(t, filepath.Join(temporary, "tool"), "#!/bin/sh\necho temporary\n", 0o755)
	own := programs.Write(t, map[string]string{"tool": "echo own"})
	p := launch.Programs{Roots: func() []string { return []string{project} }}
	for _, before := range []string{project, linked, link, temporary, "relative", ""} {
		t.Setenv("PATH", list(before, own))
		if got, err := p.Find("tool"); err != nil || got != filepath.Join(own, "tool") {
			t.Errorf("with %q first: %s, %v", before, got, err)
		}
	}
	t.Setenv("PATH", list(project, temporary))
	_, err := p.Find("tool")
	var passed *launch.PassedOver
	if !errors.As(err, &passed) || !errors.Is(err, exec.ErrNotFound) || passed.Path != filepath.Join(project, "tool") || !strings.Contains(err.Error(), "install it elsewhere") {
		t.Errorf("only there: %v", err)
	}
	if _, err := p.Find("no-such-tool"); !errors.Is(err, exec.ErrNotFound) || errors.As(err, &passed) {
		t.Errorf("nowhere: %v", err)
	}
	t.Setenv("PATH", own)
	if cmd, err := p.Command(t.Context(), "tool"); err != nil {
		t.Error(err)
	} else if out, err := cmd.Output(); err != nil || string(out) != "own\n" {
		t.Errorf("it says %q, %v", out, err)
	}
}

// What a program starts is not the project's either, and no variable leads it to code of the project.
func TestEnvironmentLeadsToNoCodeOfTheProject(t *testing.T) {
	project, own := programs.Write(t, nil), programs.Write(t, nil)
	t.Setenv("PATH", list(filepath.Join(project, "bin"), own, t.TempDir()))
	t.Setenv("LD_PRELOAD", filepath.Join(project, "x.so"))
	t.Setenv("GIT_EXEC_PATH", project)
	t.Setenv("MY_SECRET_TOKEN", "s3cr3t-value-of-some-length")
	env := launch.Programs{Roots: func() []string { return []string{project} }}.Env()
	if !slices.Contains(env, "PATH="+own) {
		t.Errorf("PATH: %q", env)
	}
	for _, kv := range env {
		if strings.Contains(kv, project) || strings.Contains(kv, "s3cr3t") {
			t.Errorf("it gets %s", kv)
		}
	}
}
