//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// action is action.yml, as far as the test looks at it.
type action struct {
	Inputs map[string]struct{ Description, Default string }
	Runs   struct {
		Using string
		Steps []struct {
			Name, ID, If, Shell, Run string
			Env                      map[string]string
		}
	}
}

// The action's own steps review a repository: with a stub for the program of GitHub, and a scripted model.
func TestTheActionReviewsAndComments(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	text, err := os.ReadFile("../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil || a.Runs.Using != "composite" || len(a.Runs.Steps) != 4 {
		t.Fatalf("%v: %+v", err, a)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	bin, repo := filepath.Join(dir, "bin"), filepath.Join(dir, "repo")
	for _, d := range []string{bin, repo} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(file, body string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, file), []byte(body), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(exe, filepath.Join(bin, "jcode")); err != nil {
		t.Skip(err)
	}
	write("bin/gh", "#!/bin/sh\necho \"$@\" > \"$RUNNER_TEMP/gh\"\n", 0o755)
	write("answer.jsonl", `{"text": "{\"summary\": \"s\", \"findings\": [{\"file\": \"a.txt\", \"line\": 1, \"end_line\": 1, \"quote\": \"two\", \"severity\": \"P1\", \"title\": \"Odd $(touch bad)\", \"reason\": \"r\", \"replacement\": null}]}"}`+"\n", 0o644)
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+dir, "JCODE_HOME="+filepath.Join(dir, "home"), "RUNNER_TEMP="+dir,
		"GITHUB_OUTPUT="+filepath.Join(dir, "output"), "GITHUB_PATH="+filepath.Join(dir, "path"), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	sh := func(script string, more ...string) (string, int) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), bash, "-c", script)
		cmd.Dir, cmd.Env = repo, append(env, more...)
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := sh("git init -q -b main && echo one > a.txt && git add . && git -c user.name=a -c user.email=a@example.org commit -q -m one && echo two > a.txt"); code != 0 {
		t.Skip(out)
	}
	values := map[string]string{"MODEL": "replay:" + filepath.Join(dir, "answer.jsonl"), "BASE": "main", "FAIL_ON": "P1", "MAX_COST": a.Inputs["max-cost"].Default, "SARIF": a.Inputs["sarif"].Default, "GH_TOKEN": "-", "NUMBER": "7", "VERSION": "", "RELEASES": ""}
	for i, want := range []int{0, 0, 0, 6} {
		step := a.Runs.Steps[i]
		if strings.Contains(step.Run, "${{") || step.Shell != "bash" {
			t.Errorf("%s: what others may write is put into a script", step.Name)
		}
		var more []string
		for name := range step.Env {
			value, known := values[name]
			if !known {
				t.Fatalf("%s: the test does not know %s", step.Name, name)
			}
			more = append(more, name+"="+value)
		}
		if out, code := sh(step.Run, more...); code != want {
			t.Errorf("%s: exit code %d: %s", step.Name, code, out)
		}
	}
	for file, want := range map[string]string{"output": "code=6", "review.md": "P1 a.txt:1: Odd $(touch bad)", "gh": "pr comment 7 --edit-last", "repo/jcode.sarif": `"uri": "a.txt"`} {
		if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %v %s", file, err, got)
		}
	}
	if _, err := os.Stat(filepath.Join(repo, "bad")); err == nil {
		t.Error("a finding was run")
	}
}
