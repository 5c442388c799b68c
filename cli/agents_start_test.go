//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// slowFile commits a file that git writes into a new worktree only after the command in smudge has ended.
func slowFile(t *testing.T, c *chat, smudge string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(c.dir, "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.write("deep/x.slow", "slow\n")
	c.write(".gitattributes", "*.slow filter=hold\n")
	gitRepository(t, c.dir)
	for _, set := range [][2]string{{"clean", "cat"}, {"smudge", smudge}, {"required", "true"}} {
		own := filepath.Join(c.home, ".gitconfig") // a filter that the repository brings is not run
		if out, err := exec.Command("git", "config", "--file", own, "filter.hold."+set[0], set[1]).CombinedOutput(); err != nil {
			t.Fatalf("git config: %s", out)
		}
	}
}

// An agent's first request is sent while git still writes the files of its worktree; its calls wait for the
// files.
func TestAgentAsksTheModelBeforeItsWorktreeIsFilled(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	release := filepath.Join(t.TempDir(), "go")
	slowFile(t, c, "while [ ! -e '"+release+"' ]; do sleep 0.02; done; cat")
	c.srv.Route(func(r modeltest.Request) (modeltest.Reply, bool) {
		if r.Last().Content != "look" {
			return modeltest.Reply{}, false
		}
		if err := os.WriteFile(release, nil, 0o600); err != nil { // now git continues
			t.Error(err)
		}
		return modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"deep/x.slow"}`}), true
	})
	c.srv.Add(
		modeltest.Calls(modeltest.Call{Name: "task", Args: `{"prompt":"look","name":"ann","isolation":"worktree"}`}),
		modeltest.Text("I saw it."), modeltest.Text("All done."),
	)
	out, err := c.command("jcode", "-p", "--mode", "yolo", "--output-format", "stream-json", "go").Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), `"name":"read","ok":true`) || !strings.Contains(string(out), "I saw it.") {
		t.Errorf("events:\n%s", out)
	}
}

// An agent whose worktree can't be filled ends with git's reason.
func TestAgentFailsWhereItsWorktreeCannotBeFilled(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	slowFile(t, c, "echo no such filter >&2; false")
	c.srv.Route(func(r modeltest.Request) (modeltest.Reply, bool) {
		return modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"deep/x.slow"}`}), r.Last().Content == "look"
	})
	c.srv.Add(
		modeltest.Calls(modeltest.Call{Name: "task", Args: `{"prompt":"look","name":"ann","background":true,"isolation":"worktree"}`}),
		modeltest.Calls(modeltest.Call{Name: "agent", Args: `{"action":"wait"}`}),
		modeltest.Text("It failed."),
	)
	out, err := c.command("jcode", "-p", "--mode", "yolo", "--output-format", "stream-json", "go").Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "The agent ann ended (failed)") || !strings.Contains(string(out), "fill the worktree") || strings.Contains(string(out), `"name":"read","ok":true`) {
		t.Errorf("events:\n%s", out)
	}
}
