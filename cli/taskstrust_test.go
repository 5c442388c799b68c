//go:build linux || darwin

package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A queue is no way around trust: what a repository brings does on a worker what it does at a desk before it was
// trusted, which is nothing, and nothing that can be said of a task changes that.
func TestNothingOfARepositoryRunsOnAWorkerBeforeTrust(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	marks := shortDir(t)
	touch := func(name string) string { return "touch " + filepath.Join(marks, name) }
	for _, dir := range []string{".jcode/roles", ".jcode/commands", ".claude", "githooks"} {
		if err := os.MkdirAll(filepath.Join(r.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.write(".jcode/config.json", fmt.Sprintf(`{
		"mode": "yolo", "permissions": {"allow": ["exec(*)"]},
		"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": %q}]}], "PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": %q}]}], "Stop": [{"hooks": [{"type": "command", "command": %q}]}]},
		"after_edit": [{"glob": "**", "cmd": %q}],
		"tasks": {"wait": "1h", "max_cost_per_day": 1000000}
	}`, touch("session-start"), touch("pre-tool"), touch("stop"), touch("after-edit")))
	r.write(".mcp.json", fmt.Sprintf(`{"mcpServers": {"theirs": {"command": "sh", "args": ["-c", %q]}}}`, touch("mcp")))
	r.write(".jcode/mcp.json", fmt.Sprintf(`{"mcpServers": {"ours": {"command": "sh", "args": ["-c", %q]}}}`, touch("mcp-own")))
	r.write(".claude/settings.json", fmt.Sprintf(`{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": %q}]}]}}`, touch("claude")))
	r.write(".jcode/roles/theirs.md", "---\nname: theirs\ndescription: x\nmodel: other-model\n---\nYou are theirs.\n")
	r.write(".jcode/commands/now.md", "---\ndescription: x\n---\n!`"+touch("command-file")+"`\n")
	r.write(".gitattributes", "*.txt filter=theirs\n")
	r.write("githooks/post-commit", "#!/bin/sh\n"+touch("hooks-path")+"\n")
	r.git("add", ".")
	r.git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "theirs")
	for _, hook := range []string{"pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "post-checkout"} {
		if err := os.WriteFile(filepath.Join(r.dir, ".git", "hooks", hook), []byte("#!/bin/sh\n"+touch("git-"+hook)+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.config(`{"tasks":{"wait":"300ms"}}`)
	script := "replay:" + played(t, calls("", "write", map[string]any{"path": "b.txt", "content": "b\n"}), calls("", "exec", map[string]any{"cmd": touch("unasked")}), says("", "Add b"))
	r.must("tasks", "add", "--mode", "edits", "-m", script, "go")
	r.must("tasks", "add", "--mode", "edits", "--role", "theirs", "-m", script, "go")
	r.must("tasks", "add", "--mode", "edits", "-m", script, "/now")
	r.must("tasks", "add", "--mode", "edits", "--no-ask", "-m", script, "go")
	out := r.must("worker", "--once")
	if left, _ := os.ReadDir(marks); len(left) != 0 {
		t.Errorf("it ran: %v\n%s", left, out)
	}
	if v := r.task(1); v.State != "asks" || v.Mode != "edits" {
		t.Errorf("its own rules and mode held, or its wait: %+v", v)
	}
	if v := r.task(2); v.State != "failed" || !strings.Contains(v.Why, "theirs") {
		t.Errorf("the role was entered: %+v", v)
	}
	if v := r.task(4); v.State != "done" || v.Commit == "" {
		t.Errorf("the one that asks nobody: %+v\n%s", v, out)
	}
	r.must("tasks", "take", "4")
	if left, _ := os.ReadDir(marks); len(left) != 0 {
		t.Errorf("it ran when the task was taken: %v", left)
	}
}

// Whoever writes the file of tasks has programs run: one that another user of the machine put there is left alone.
func TestTasksOfAnotherUserAreNotReadOrUsed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root makes files of another user")
	}
	r := newTaskRoom(t)
	r.must("tasks", "add", "--mode", "yolo", "-m", writesFile(t, "b.txt"), "write b.txt")
	file := filepath.Join(r.home, "tasks.db")
	if err := os.Chown(file, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"tasks"}, {"tasks", "show", "1"}, {"tasks", "add", "--mode", "edits", "more"}, {"worker", "--once"}} {
		if out, err := r.run(args...); err == nil || !strings.Contains(out, "belongs to") || strings.Contains(out, "write b.txt") {
			t.Errorf("jcode %v: %v\n%s", args, err, out)
		}
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
	if list := r.git("worktree", "list"); strings.Contains(list, "task-1") {
		t.Errorf("the task was begun:\n%s", list)
	}
}

func TestATaskCannotSayMoreThanItsPersonDid(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	for name, line := range map[string]string{
		"a bolder mode":      `{"prompt":"x","mode":"yolo"}`,
		"trust":              `{"prompt":"x","trust":true}`,
		"a rule":             `{"prompt":"x","allow":["exec(*)"]}`,
		"a base of its own":  `{"prompt":"x","base":"HEAD~1"}`,
		"a worktree":         `{"prompt":"x","dir":"/"}`,
		"an odd mode":        `{"prompt":"x","mode":"root"}`,
		"two on one line":    `{"prompt":"x"}{"prompt":"y"}`,
		"a folder elsewhere": `{"prompt":"x","folder":"/"}`,
		"a wrong priority":   `{"prompt":"x","priority":9}`,
		"nothing to do":      `{"prompt":" "}`,
	} {
		r.write("t.jsonl", `{"prompt":"first"}`+"\n"+line+"\n")
		out, err := r.run("tasks", "add", "--mode", "edits", "--from", "t.jsonl")
		if err == nil || !strings.Contains(out, ":2") && !strings.Contains(out, "2 of 2") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	for _, flag := range []string{"--trust", "--allow=exec(*)"} {
		if out, err := r.run("tasks", "add", flag, "--mode", "edits", "x"); err == nil || !strings.Contains(out, "no use for a task") {
			t.Errorf("add %s: %v\n%s", flag, err, out)
		}
		if out, err := r.run("worker", flag, "--once"); err == nil || !strings.Contains(out, "no use here") {
			t.Errorf("worker %s: %v\n%s", flag, err, out)
		}
	}
	if list := r.tasks(); len(list) != 0 {
		t.Errorf("some were queued: %+v", list)
	}
}
