//go:build linux || darwin

package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hosted is a repository that tasks name by its address; r.dir is a clone of it with which commits come there.
type hosted struct {
	*taskRoom
	address, pattern string
}

func newHosted(t *testing.T) *hosted {
	t.Helper()
	r := newTaskRoom(t)
	there := filepath.Join(shortDir(t), "team", "app.git")
	r.git("clone", "-q", "--bare", r.dir, there)
	r.git("remote", "add", "origin", "file://"+there)
	return &hosted{r, "file://" + there, "file://" + filepath.Dir(there) + "/*"}
}

// commit commits all of the folder, and brings it to the host.
func (h *hosted) commit(message string) string {
	h.t.Helper()
	h.git("add", ".")
	h.git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", message)
	h.git("push", "-q", "--force", "origin", "HEAD")
	return h.git("rev-parse", "HEAD")
}

func TestATaskOfAnAddressIsWorkedOnInAClone(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	base := h.git("rev-parse", "HEAD")
	h.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "b.txt"), "--push", "origin", "--repo", h.address, "write b.txt")
	h.write("later.txt", "a commit that came later\n")
	h.commit("later")
	if out := h.must("worker", "--once"); strings.Contains(out, "begins") || h.task(1).State != "queued" {
		t.Errorf("a worker without --repos:\n%s", out)
	}
	if out := h.must("worker", "--once", "--repos", "git@host:team/*"); strings.Contains(out, "begins") || h.task(1).State != "queued" {
		t.Errorf("a worker that takes others:\n%s", out)
	}
	out := h.must("worker", "--once", "--repos", h.pattern)
	v := h.task(1)
	if v.State != "done" || v.Commit == "" {
		t.Fatalf("the task: %+v\n%s", v, out)
	}
	branch := "jcode/task-1-" + v.Session[max(0, len(v.Session)-8):]
	if got := h.git("ls-remote", "origin", branch); !strings.HasPrefix(got, v.Commit) {
		t.Errorf("pushed: %q, not %s as %s", got, v.Commit, branch)
	}
	h.git("fetch", "-q", "origin", branch)
	if got := h.git("rev-parse", "FETCH_HEAD^"); got != base {
		t.Errorf("it began with %s, not with the commit of when it was added, %s", got, base)
	}
	if diff := h.must("tasks", "diff", "1"); !strings.Contains(diff, "+b.txt") || strings.Contains(diff, "later") {
		t.Errorf("the diff:\n%s", diff)
	}
	h.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "c.txt"), "--repo", h.address, "--base", h.git("rev-parse", "--abbrev-ref", "HEAD"), "write c.txt")
	h.write("t.jsonl", fmt.Sprintf("{\"prompt\":\"write d\",\"repo\":%q,\"base\":%q}\n", h.address, base))
	h.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "d.txt"), "--from", "t.jsonl")
	h.must("worker", "--once", "--repos", h.pattern)
	if v, w := h.task(2), h.task(3); v.State != "done" || w.State != "done" {
		t.Errorf("by a branch: %+v\nby a commit of a file: %+v", v, w)
	}
}

func TestAnAddressThatCantBeUsedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	for address, want := range map[string]string{
		"ext::sh -c touch% /tmp/x":        "white space",
		"ext::sh":                         "another program",
		"--upload-pack=touch":             "does not begin with -",
		"-oProxyCommand=x:y":              "does not begin with -",
		"git@-oProxyCommand=x:team/app":   "names no host",
		"ssh://-oProxyCommand=x/team/app": "names no host",
		"https://user:word@host/app":      "credential helper",
		"https://ghp_0123456789@host/app": "credential helper",
		"ssh://git:word@host/app":         "credential helper",
		"git:word@host:app":               "credential helper",
		"http://host/app":                 "encrypted",
		"git@host:team/../other/app":      "no ..",
		"./app":                           "is no address of git",
		"file://" + h.dir + "/../x":       "no ..",
		h.address + "x":                   "check the address",
	} {
		out, err := h.run("tasks", "add", "--mode", "edits", "--repo="+address, "x")
		if err == nil || !strings.Contains(out, want) || strings.Contains(out, "word@") || strings.Contains(out, "ghp_") {
			t.Errorf("%s: %v\n%s", address, err, out)
		}
	}
	for _, args := range [][]string{
		{"--repo", h.address, "--base", "nowhere", "x"}, {"--repo", h.address, "--base", "--exec=x", "x"}, {"--base", "main", "x"}, {"--repo", h.address, "--push", "other", "x"},
	} {
		if out, err := h.run(append([]string{"tasks", "add", "--mode", "edits"}, args...)...); err == nil {
			t.Errorf("%v: %s", args, out)
		}
	}
	if out, err := h.run("worker", "--once", "--repos=--x"); err == nil || !strings.Contains(out, "no pattern") {
		t.Errorf("a pattern that is none: %v\n%s", err, out)
	}
	if list := h.tasks(); len(list) != 0 {
		t.Errorf("some were queued: %+v", list)
	}
	// A commit that is in no repository needs a host only when it is worked on.
	gone := strings.Repeat("0123456789", 4)
	h.must("tasks", "add", "--mode", "edits", "--repo", h.address, "--base", gone, "x")
	h.must("worker", "--once", "--repos", h.pattern)
	if v := h.task(1); v.State != "failed" || !strings.Contains(v.Why, "gone") || !strings.Contains(v.Why, "--base") {
		t.Errorf("a base that is gone: %+v", v)
	}
}

// What a repository brings does nothing on a worker before its person trusted exactly that, however it is named, and
// whatever changes between the time when a task is added and when it is worked on.
func TestNothingOfAnAddressRunsOnAWorkerBeforeTrust(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	marks := t.TempDir() // confined programs may write below the folder for temporary files
	touch := func(name string) string { return "touch " + filepath.Join(marks, name) }
	ran := func() []string {
		list, _ := os.ReadDir(marks)
		return names(list)
	}
	hooks := func(mark string) string {
		return fmt.Sprintf(`{"mode": "yolo", "permissions": {"allow": ["exec(*)"]}, "after_edit": [{"glob": "**", "cmd": %q}]}`, touch(mark))
	}
	plain := h.git("rev-parse", "HEAD")
	outside := shortDir(t)
	if err := os.WriteFile(filepath.Join(outside, "config.json"), []byte(hooks("linked")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(h.dir, ".jcode")); err != nil {
		t.Fatal(err)
	}
	h.commit("a link to settings elsewhere")
	linked := h.git("rev-parse", "HEAD")
	if err := os.Remove(filepath.Join(h.dir, ".jcode")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(h.dir, ".jcode"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.write(".jcode/config.json", hooks("first"))
	h.write(".mcp.json", fmt.Sprintf(`{"mcpServers": {"theirs": {"command": "sh", "args": ["-c", %q]}}}`, touch("mcp")))
	h.write(".gitattributes", "* filter=theirs\n")
	h.write(".gitmodules", fmt.Sprintf("[submodule \"s\"]\n\tpath = s\n\turl = ext::sh -c %q\n\tupdate = !%s\n", touch("ext"), touch("update")))
	h.git("update-index", "--add", "--cacheinfo", "160000,"+plain+",s")
	first := h.commit("settings, servers, filters and submodules")
	add := func(base string) {
		h.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "b.txt"), "--repo", h.address, "--base", base, "x")
	}
	add(first)
	add(linked)
	out := h.must("worker", "--once", "--repos", h.pattern)
	if list := ran(); len(list) != 0 {
		t.Errorf("it ran before trust: %v\n%s", list, out)
	}
	if v, w := h.task(1), h.task(2); v.State != "done" || v.Mode != "edits" || w.State != "failed" || !strings.Contains(w.Why, "leads out of the project") {
		t.Errorf("without it, and with settings that are a link: %+v\n%+v", v, w)
	}
	// The clone's own settings, changed by what was done in one of its worktrees, steer nothing later.
	clones, err := filepath.Glob(filepath.Join(h.home, "clones", "app-*", "app", ".git"))
	if err != nil || len(clones) != 1 {
		t.Fatalf("the clones: %v, %v", clones, err)
	}
	for key, value := range map[string]string{
		"core.fsmonitor": touch("fsmonitor"), "core.sshCommand": touch("ssh"), "filter.theirs.smudge": touch("smudge") + ";cat", "filter.theirs.clean": touch("clean") + ";cat",
		"remote.origin.uploadpack": touch("uploadpack"), "core.hooksPath": marks, "url.ext::sh.insteadOf": h.address, "credential.helper": "!" + touch("helper"),
	} {
		if out, err := exec.Command("git", "--git-dir", clones[0], "config", key, value).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	h.write("new.txt", "one more\n")
	second := h.commit("one more")
	add(second)
	h.must("worker", "--once", "--repos", h.pattern)
	if list := ran(); len(list) != 0 || h.task(3).State != "done" {
		t.Errorf("by the clone's settings ran %v: %+v", list, h.task(3))
	}
	// Trust is given at a version, and ends with it.
	if out, err := h.run("worker", "--trust", "ext::sh"); err == nil {
		t.Errorf("trusted: %s", out)
	}
	trust := jcode(t.Context(), t, h.dir, h.home, h.srv.URL(), "worker", "--trust", h.address, "--base", second)
	trust.Stdin = strings.NewReader("no\n")
	if out, err := trust.CombinedOutput(); err == nil || !strings.Contains(string(out), touch("first")) || !strings.Contains(string(out), touch("mcp")) {
		t.Errorf("the question, answered with no: %v\n%s", err, out)
	}
	trust = jcode(t.Context(), t, h.dir, h.home, h.srv.URL(), "worker", "--trust", h.address, "--base", second)
	trust.Stdin = strings.NewReader("yes\n")
	if out, err := trust.CombinedOutput(); err != nil || !strings.Contains(string(out), "trusted") {
		t.Fatalf("the question, answered with yes: %v\n%s", err, out)
	}
	if list := ran(); len(list) != 0 {
		t.Errorf("it ran when it was shown: %v", list)
	}
	h.write(".jcode/config.json", hooks("second"))
	h.commit("other settings")
	add(h.git("rev-parse", "HEAD"))
	h.must("worker", "--once", "--repos", h.pattern)
	if list := ran(); strings.Contains(strings.Join(list, " "), "second") || h.task(4).State != "done" {
		t.Errorf("what was changed after trust ran: %v: %+v", list, h.task(4))
	}
	add(second)
	h.must("worker", "--once", "--repos", h.pattern)
	if list := strings.Join(ran(), " "); h.task(5).State != "done" || !strings.Contains(list, "first") {
		t.Errorf("what was trusted did not run, but %q: %+v", list, h.task(5))
	}
	if list := strings.Join(ran(), " "); strings.Contains(list, "smudge") || strings.Contains(list, "ext") || strings.Contains(list, "update") {
		t.Errorf("ran: %s", list)
	}
}

// Whoever writes the queue may change rows past jcode tasks add. A worker checks each address itself.
func TestAnAddressThatWasChangedInTheQueueIsCheckedByEachWorker(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	server := h.onPostgres()
	address := queueAddress(t, read(t, h.home, "config.json"))
	ran := filepath.Join(shortDir(t), "ran")
	h.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "b.txt"), "--repo", h.address, "x")
	for _, repo := range []string{"ext::touch " + ran, "--upload-pack=touch " + ran, "ssh://-oProxyCommand=touch%20" + ran + "/x", "file:///etc", h.address + "/../app.git"} {
		server.Exec(t, address, "UPDATE tasks SET repo = '"+repo+"', job = 0")
		if out := h.must("worker", "--once", "--repos", "**", "--repos", "git@host:**"); strings.Contains(out, "begins") || h.task(1).State != "queued" {
			t.Errorf("%s: %+v\n%s", repo, h.task(1), out)
		}
	}
	server.Exec(t, address, "UPDATE tasks SET base = '--upload-pack=touch "+ran+"', repo = '"+h.address+"', job = 0")
	h.must("worker", "--once", "--repos", h.pattern)
	if v := h.task(1); v.State != "failed" || !strings.Contains(v.Why, "no name of a branch") {
		t.Errorf("a base that is an option: %+v", v)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("it ran")
	}
}

func names(list []os.DirEntry) (out []string) {
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}
