//go:build linux

package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/tools/sandbox"
)

// put writes files below the rig's base folder.
func (r *rig) put(files ...string) {
	r.t.Helper()
	for _, f := range files {
		path := filepath.Join(r.base, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("content of "+f+"\n"), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
}

// told returns the protected files that the last command created or changed, relative to the project.
func (r *rig) told() []string {
	var out []string
	for _, path := range r.made {
		rel, err := filepath.Rel(r.project, path)
		if err != nil {
			r.t.Fatal(err)
		}
		out = append(out, filepath.ToSlash(rel))
	}
	return out
}

// Files that steer git or an agent are protected by their names, at any depth.
func TestProtectedFilesAreLockedWhereverTheyLie(t *testing.T) {
	r := newRig(t)
	if !r.Report().Shields {
		t.Skipf("no namespaces here: %v", r.Report().Why)
	}
	files := []string{
		"project/nested/.git/hooks/post-checkout", "project/nested/.git/config", "project/a/b/c/d/e/.jcode/config.json", "project/sub2/.claude/x", "project/sub2/.mcp.json",
		"project/tree/.git", "project/.husky/pre-commit", "project/bare/HEAD", "project/bare/config", "project/bare/objects/x", "project/own/hooks/pre-push",
		"project/nested/.git/worktrees/w/commondir",
	}
	r.put(files...)
	r.policy.Hooks = []string{filepath.Join(r.project, "own", "hooks")}
	for _, line := range []string{
		"echo evil > nested/.git/hooks/post-checkout", "echo evil > nested/.git/hooks/new", "echo evil >> nested/.git/config", "echo evil > nested/.git/worktrees/w/commondir", "mv nested/.git nested/x",
		"echo evil > a/b/c/d/e/.jcode/config.json", "rm -rf sub2/.claude", "echo evil > sub2/.mcp.json", "echo 'gitdir: evil' > tree/.git", "rm tree/.git", "mv tree/.git tree/x",
		"echo evil > .husky/pre-commit", "echo evil > bare/config", "echo evil > own/hooks/pre-push", "chmod +x own/hooks/pre-push",
	} {
		if out, code := r.sh(line); code == 0 || len(r.made) != 0 {
			t.Errorf("%s: %d %q, told %q", line, code, out, r.told())
		}
	}
	for _, f := range files {
		if !strings.HasPrefix(r.content(f), "content of") {
			t.Errorf("%s is %q", f, r.content(f))
		}
	}
	for _, f := range []string{"project/nested/a.txt", "project/bare/objects/y"} {
		if out, code := r.sh("echo fine > ../" + f); code != 0 {
			t.Errorf("%s: %q", f, out)
		}
	}
}

// The project's own protected files stay locked, however many files with protected names a
// command has created before.
func TestManyProtectedNamesUnlockNothing(t *testing.T) {
	r := newRig(t)
	if !r.Report().Shields {
		t.Skipf("no namespaces here: %v", r.Report().Why)
	}
	for i := range 450 {
		r.put(fmt.Sprintf("project/!/%d/.mcp.json", i))
	}
	for _, line := range []string{"echo evil >> .git/config", "echo evil > .git/hooks/new"} {
		if out, code := r.sh(line); code == 0 || len(r.made) != 0 {
			t.Errorf("%s: %q, told %q", line, out, r.told())
		}
	}
	if _, code := r.sh("echo x > '!/99/.mcp.json'"); code != 0 || !slices.Equal(r.told(), []string{"!/99/.mcp.json"}) {
		t.Errorf("one that is not locked any more: %d, told %q", code, r.told())
	}
}

// Protected files that are created while a command runs are reported, and nothing else.
func TestProtectedFilesThatAreMadeAnywhereAreNamed(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		for line, want := range map[string]string{
			"mkdir -p deep/er && echo fine > deep/er/x":                                        "",
			"mkdir -p p1/.git && echo x > p1/.git/config":                                      "p1/.git",
			"mkdir p2 && echo 'gitdir: ../evil' > p2/.git":                                     "p2/.git",
			"mkdir -p p3/.jcode && echo x > p3/.jcode/config.json":                             "p3/.jcode",
			"mkdir -p p4/x && echo x > p4/HEAD && echo ../x > p4/commondir":                    "p4",
			"mkdir -p p5/q/r/s/t/u/v && echo x > p5/q/r/s/t/u/v/.mcp.json":                     "p5/q/r/s/t/u/v/.mcp.json",
			"mkdir p6 p7 && echo x > p6/.mcp.json && mv p6 p7/moved":                           "p7/moved/.mcp.json",
			"for i in 1 2; do mkdir -p p8/$i/.claude; done":                                    "p8/1/.claude p8/2/.claude",
			"test -n \"$(command -v git)\" || mkdir -p p9/.git; git init -q p9 2>/dev/null; :": "p9/.git",
		} {
			_, code := r.sh(line)
			got := r.told()
			slices.Sort(got)
			if code != 0 || strings.Join(slices.Compact(got), " ") != want {
				t.Errorf("%s: %d, told %q, want %q", line, code, got, want)
			}
		}
	})
}

// A locked file can't be changed, but a folder above it can be moved and replaced by another
// one.
func TestProtectedFilesThatAreReplacedWithTheirFolderAreNamed(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		r.put("project/nested/.git/config", "project/a/b/.jcode/config.json", "project/.git/worktrees/w/commondir")
		for line, want := range map[string]string{
			"mv nested n2 && mkdir -p nested/.git && echo evil > nested/.git/config": "nested/.git/config",
			"mv a a2 && mkdir -p a/b/.jcode && echo evil > a/b/.jcode/config.json":   "a/b/.jcode",
			"cd .git/worktrees && mv w x && mkdir w && echo evil > w/commondir":      ".git/worktrees/w/commondir",
		} {
			_, code := r.sh(line)
			if got := r.told(); code != 0 || !slices.ContainsFunc(got, func(path string) bool { return strings.HasPrefix(want, path) }) {
				t.Errorf("%s: %d, told %q, want %q", line, code, got, want)
			}
		}
	})
}

// Worktrees, also those of other agents, are added and removed while a command runs: only files of
// a worktree that is kept can steer git.
func TestWorktreesThatComeOrGoAreNoFinding(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		r.put("project/.git/worktrees/w/commondir", "project/.git/worktrees/w/HEAD")
		for line, want := range map[string]string{
			"cd .git/worktrees && mkdir n && echo ../.. > n/commondir && echo x > n/config.worktree": "",
			"cd .git/worktrees && echo x > w/config.worktree":                                        ".git/worktrees/w/config.worktree",
		} {
			_, code := r.sh(line)
			if got := strings.Join(r.told(), " "); code != 0 || got != want {
				t.Errorf("%s: %d, told %q, want %q", line, code, got, want)
			}
		}
	})
	r := newRig(t)
	r.WithoutNamespaces()
	r.put("project/.git/worktrees/w/commondir")
	if _, code := r.sh("rm -r .git/worktrees/w"); code != 0 || len(r.told()) != 0 {
		t.Errorf("a worktree that was removed: %d, told %q", code, r.told())
	}
}

// If the workspace is the home folder, it contains start-up files.
func TestStartUpFilesOfAHomeThatIsWorkedInAreLocked(t *testing.T) {
	r := newRig(t)
	if !r.Report().Shields {
		t.Skipf("no namespaces here: %v", r.Report().Why)
	}
	r.put("home/.bashrc", "home/.config/fish/config.fish", "home/.profile")
	r.policy.Roots, r.policy.Home = []string{r.home}, r.home
	for _, line := range []string{"echo evil >> ../home/.bashrc", "rm ../home/.profile", "echo evil > ../home/.config/fish/config.fish", "mv ../home/.bashrc ../home/x"} {
		if out, code := r.sh(line); code == 0 {
			t.Errorf("%s: %q", line, out)
		}
	}
	if out, code := r.sh("echo new > ../home/notes.txt"); code != 0 {
		t.Errorf("%q", out)
	}
}

// Permissions, times and attributes of files outside are kept, too.
func TestConfinedCommandsChangeNothingAboutFilesOutside(t *testing.T) {
	r := newRig(t)
	if !r.Report().Shields {
		t.Skipf("no namespaces here: %v", r.Report().Why)
	}
	file := filepath.Join(r.base, "other", "x")
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"chmod 777 " + file, "chown 0:0 " + file, "touch -d 2001-01-01 " + file, "chmod 777 " + filepath.Dir(file), "chmod 700 /etc/hostname /etc/passwd"} {
		if out, code := r.sh(line); code == 0 {
			t.Errorf("%s: %q", line, out)
		}
	}
	after, err := os.Stat(file)
	if err != nil || after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("%v %v, was %v %v", after.Mode(), after.ModTime(), before.Mode(), before.ModTime())
	}
	if out, code := r.sh("chmod 700 a.txt && touch -d 2001-01-01 a.txt && echo x > /dev/null && mktemp"); code != 0 {
		t.Errorf("inside: %q", out)
	}
}

// A confined command can't change shared memory or limits of other processes.
func TestConfinedCommandsLeaveOtherProcessesAlone(t *testing.T) {
	r := newRig(t)
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	if _, err := exec.LookPath("prlimit"); err == nil && r.Report().OthersKept {
		if out, code := r.sh(fmt.Sprintf("prlimit --pid %d --nofile=5:5", other.Process.Pid)); code == 0 {
			t.Errorf("prlimit: %q", out)
		}
		if out, code := r.sh("ulimit -n 100 && ulimit -n"); code != 0 || strings.TrimSpace(out) != "100" {
			t.Errorf("its own limits: %d %q", code, out)
		}
	}
	if _, err := exec.LookPath("renice"); err == nil && r.Report().OthersKept {
		if out, code := r.sh(fmt.Sprintf("renice -n 19 -p %d", other.Process.Pid)); code == 0 {
			t.Errorf("renice: %q", out)
		}
	}
	if _, err := exec.LookPath("ipcmk"); err == nil && r.Report().Shields {
		out, err := exec.Command("ipcmk", "-M", "64").CombinedOutput()
		if err != nil {
			t.Skipf("ipcmk: %v %s", err, out)
		}
		id := string(out[strings.LastIndexByte(strings.TrimSpace(string(out)), ' ')+1:])
		defer func() { _ = exec.Command("ipcrm", "-m", strings.TrimSpace(id)).Run() }()
		if seen, code := r.sh("ipcs -m -i " + strings.TrimSpace(id)); code == 0 && !strings.Contains(seen, "not found") && strings.Contains(seen, "bytes=64") {
			t.Errorf("it sees shared memory of others: %q", seen)
		}
	}
}

// Without confinement, as in mode yolo, changes of protected files are found by comparing their
// state before and after, whatever the command says.
func TestWatchNamesWhatAnUnconfinedCommandChanged(t *testing.T) {
	r := newRig(t)
	for line, want := range map[string]string{
		"true":                                      "",
		"echo fine > b.txt":                         "",
		"x=.git; echo evil > $x/hooks/g":            ".git/hooks",
		"bash <<< 'echo evil >> .g*/config'":        ".git/config",
		"for f in .jcode/*; do echo > $f; done":     ".jcode",
		"mkdir -p n/.git && echo x > n/.git/config": "n/.git",
		"echo x > sub/.env":                         "sub/.env",
	} {
		before := r.Watch()
		cmd := exec.Command("bash", "-c", line)
		cmd.Dir = r.project
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%s: %v %s", line, err, out)
		}
		r.made = before.Changed()
		if got := r.told(); strings.Join(got, " ") != want {
			t.Errorf("%s: told %q, want %q", line, got, want)
		}
	}
}

func TestFindingOutWhatTheMachineHasLeavesNothing(t *testing.T) {
	r := newRig(t)
	if !r.Report().Shields {
		t.Skipf("no namespaces here: %v", r.Report().Why)
	}
	left, err := os.ReadDir(r.tmp)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name() != "x" { // which existed before
		t.Errorf("the temporary folder holds %v", left)
	}
}

func BenchmarkLookingForProtectedFiles(b *testing.B) {
	root := b.TempDir()
	for i := range 100 {
		for j := range 100 {
			if err := os.MkdirAll(filepath.Join(root, fmt.Sprint(i), fmt.Sprint(j)), 0o755); err != nil {
				b.Fatal(err)
			}
		}
	}
	box := sandbox.New("", func() sandbox.Policy { return sandbox.Policy{Roots: []string{root}} })
	box.Watch()
	time.Sleep(60 * time.Millisecond) // a folder that changed just now is read again
	for b.Loop() {
		box.Watch()
	}
}
