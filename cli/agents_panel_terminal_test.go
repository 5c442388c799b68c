//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/terminal"
)

// chosenAgent matches the row under the cursor in the panel of agents if it has this name, whatever its mark says.
func chosenAgent(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^ *› +(\S +)?` + name + " ")
}

// Each key of the panel of agents does what it says after it is pressed a second time; prune removes the
// worktrees that are unused and have no changes.
func TestKeysOfTheAgentsPanel(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.write("a.txt", "one\n")
	gitRepository(t, c.dir)
	task := func(name, more string) string {
		return `{"name":"task","arguments":{"prompt":"x","name":"` + name + `","background":true` + more + `}}`
	}
	lines := `{"tool_calls":[` + task("ann", `,"isolation":"worktree"`) + `,` + task("ben", `,"isolation":"worktree"`) + `,` + task("cat", "") + `]}
{"agent":"ann","tool_calls":[{"name":"write","arguments":{"path":"ann.txt","content":"by ann\n"}}]}
{"agent":"ann","text":"Ann wrote."}
{"agent":"ben","tool_calls":[{"name":"write","arguments":{"path":"ben.txt","content":"by ben\n"}}]}
{"agent":"ben","text":"Ben wrote."}
{"agent":"cat","tool_calls":[{"name":"exec","arguments":{"cmd":"sleep 300"}}]}
{"text":"Three are at work."}
`
	script := scriptOf(t, lines)
	c.start("--mode", "yolo", "-m", "replay:"+script)
	c.say("go")
	c.wait("Three are at work.", "agent ann done", "agent ben done", "cat  sleep 300")
	for _, step := range []struct{ agent, keys, key, asks, after string }{
		{"ann", "esc close · ctrl+e merge · ctrl+x discard", "ctrl+e", "merge", "Merged 1 file of ann: ann.txt"},
		{"ben", "esc close · ctrl+e merge · ctrl+x discard", "ctrl+x", "discard", "discarded the changes of ben"},
		{"cat", "esc close · ctrl+d stop", "ctrl+d", "stop", "stopped cat"},
	} {
		c.interject("/agents")
		c.wait("search:")
		c.Type(step.agent)
		c.until(func(s terminal.Screen) bool { return slices.Contains(s.Lines(), " "+step.keys) })
		c.until(func(s terminal.Screen) bool { return chosenAgent(step.agent).MatchString(s.Text()) })
		c.Press(step.key)
		c.wait("press " + step.key + " again to " + step.asks)
		c.Press(step.key)
		c.wait(step.after)
		c.Press("esc")
		c.until(func(s terminal.Screen) bool { return s.Contains("ask for something") })
	}
	if s := c.Screen(); s.Contains("protected files") { // git's configuration is not touched while the command of the agent cat runs
		t.Errorf("what jcode does to worktrees is taken for the work of a command:\n%s", s.Text())
	}
	if c.read("ann.txt") != "by ann\n" {
		t.Error("ann was not merged")
	}
	if _, err := os.Stat(filepath.Join(c.dir, "ben.txt")); err == nil {
		t.Error("what ben did was not discarded")
	}

	// A worktree that belongs to no agent, as a kill leaves it, is removed when it is old enough.
	found, err := filepath.Glob(filepath.Join(c.home, "worktrees", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("worktrees of the project: %v, %v", found, err)
	}
	orphan := filepath.Join(found[0], "lost")
	if out, err := exec.Command("git", "-C", c.dir, "worktree", "add", "-q", "--no-checkout", "-b", "jcode/lost", orphan).CombinedOutput(); err != nil {
		t.Fatalf("git worktree add: %s", out)
	}
	fresh := time.Now().Add(time.Hour) // however slow the machine is
	if err := os.Chtimes(orphan, fresh, fresh); err != nil {
		t.Fatal(err)
	}
	c.interject("/agents prune")
	c.wait("removed 0 worktrees", "/lost (of")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(orphan, old, old); err != nil {
		t.Fatal(err)
	}
	c.interject("/agents prune")
	c.wait("removed 1 worktree")
	out, err := exec.Command("git", "-C", c.dir, "worktree", "list").Output()
	if err != nil || strings.Contains(string(out), "lost") {
		t.Errorf("git knows %s, %v", out, err)
	}
	c.quit()
}

// ctrl+o opens the file of a definition in the editor; a running agent has no such file.
func TestADefinitionIsEditedFromTheAgentsPanel(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	lines := `{"tool_calls":[{"name":"task","arguments":{"prompt":"x","name":"ann","background":true}}]}
{"agent":"ann","text":"Done."}
{"text":"It is at work."}
`
	script := scriptOf(t, lines)
	roles := filepath.Join(c.home, "roles")
	if err := os.MkdirAll(roles, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(roles, "tester.md")
	if err := os.WriteFile(file, []byte("---\ndescription: Runs tests\n---\nYou run tests.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.editor("s/Runs tests/Runs $line/")
	c.start("-m", "replay:"+script)
	c.say("go")
	c.wait("It is at work.", "agent ann done: Done.")
	c.idle()
	c.interject("/agents")
	c.wait("search:", "Runs tests")
	c.until(func(s terminal.Screen) bool { return chosenAgent("ann").MatchString(s.Text()) })
	if s := c.Screen(); s.Contains("ctrl+o edit") {
		t.Errorf("a key is named that ann has no use for:\n%s", s.Text())
	}
	c.Press("ctrl+o")
	c.wait("ann is at work: only definitions can be edited")
	c.Press("down")
	c.until(func(s terminal.Screen) bool {
		return chosenAgent("tester").MatchString(s.Text()) && s.Contains("esc close · ctrl+o edit")
	})
	c.Press("ctrl+o")
	c.until(func(s terminal.Screen) bool {
		return s.Contains("editing ") && strings.Contains(c.Output(), "tester.md")
	})
	c.Type("benchmarks")
	c.Press("enter")
	c.wait("Runs benchmarks", "ctrl+o edit")
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), "Runs benchmarks") {
		t.Errorf("%s, %v", b, err)
	}
	c.Press("esc")
	c.wait("ask for something")
	c.quit()
}
