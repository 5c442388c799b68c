//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"jcode/internal/testkit/terminal"
)

// The chat shows an agent while it works. Killing the program loses neither the agent's session nor its
// worktree: the agent is resumed, and its changes are merged and undone.
func TestAgentIsResumedAfterAKillAndMerged(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	c := newChat(t)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "first"}} {
		if out, err := c.command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	script := filepath.Join(shortDir(t), "script.jsonl")
	write := func(text string) {
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"tool_calls":[{"name":"task","arguments":{"prompt":"make it","name":"ann","background":true,"isolation":"worktree"}}]}
{"agent":"ann","tool_calls":[{"name":"write","arguments":{"path":"new.txt","content":"made by ann\n"}},{"name":"exec","arguments":{"cmd":"sleep 300"}}]}
{"text":"It is at work."}
`)
	c.start("--mode", "yolo", "-m", "replay:"+script)
	c.say("go")
	c.wait("It is at work.", "ann  sleep 300")
	if err := c.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Exited()

	write(`{"agent":"ann","text":"Went on."}` + "\n")
	c.start("--mode", "yolo", "-c", "-m", "replay:"+script)
	c.wait("ann  left, +", "agent ann was running when jcode ended")
	c.say("/agents")
	c.wait("search:", "enter resume")
	c.until(func(s terminal.Screen) bool { return chosenAgent("ann").MatchString(s.Text()) })
	c.Press("enter")
	c.wait("resumed ann")
	c.Press("esc")
	c.wait("agent ann done: Went on.", "ask for something")
	if _, err := os.Stat(filepath.Join(c.dir, "new.txt")); err == nil {
		t.Error("it worked in the main checkout")
	}
	c.say("/agents merge ann")
	c.wait("Merged 1 file of ann: new.txt")
	if got := c.read("new.txt"); got != "made by ann\n" {
		t.Errorf("new.txt is %q", got)
	}
	c.quit()
}
