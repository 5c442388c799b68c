//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

func TestUndoAndRedoInTheTerminal(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(
			tool("c1", "edit", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"}),
			tool("c2", "write", map[string]any{"path": "new.txt", "content": "made by the agent"}),
			tool("c3", "exec", map[string]any{"cmd": "touch side-effect"}),
		),
		modeltest.Text("Both are changed."),
	)
	c.write("a.txt", "one\n")
	c.write("mine.txt", "untracked\n")
	c.start("--mode", "yolo")
	c.say("change them")
	c.wait("Both are changed.")
	c.idle()
	c.say("/undo")
	c.wait("Put back what ")
	c.Press("enter")
	c.wait("a.txt (restored)", "new.txt (removed)", "side-effect (removed)", "only files are undone, nothing else that these did: touch side-effect")
	if got := c.read("a.txt"); got != "one\n" {
		t.Errorf("a.txt is %q", got)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "new.txt")); err == nil {
		t.Error("new.txt is there")
	}
	if got := c.read("mine.txt"); got != "untracked\n" {
		t.Errorf("mine.txt is %q", got)
	}
	c.say("/redo")
	c.wait("new.txt (made again)")
	if a, b := c.read("a.txt"), c.read("new.txt"); a != "two\n" || b != "made by the agent" {
		t.Errorf("a.txt is %q, new.txt %q", a, b)
	}
	c.write("a.txt", "by hand\n")
	c.say("/undo")
	c.wait("Put back what ")
	c.Press("enter")
	c.wait("a.txt left alone: it was changed since")
	if got := c.read("a.txt"); got != "by hand\n" {
		t.Errorf("a.txt is %q", got)
	}
	c.quit()
}

// What a command did, without a question, to files that control git or the agent is reverted by /undo, like
// changes made by tools.
func TestUndoTakesBackWhatACommandDidToProtectedFiles(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "x=.git; echo evil > $x/hooks/post-checkout; echo evil >> $x/config; mkdir -p n/$x && echo x > n/$x/config; y=.mcp; rm $y.json"})),
		modeltest.Text("All are changed."),
	)
	git := exec.Command("git", "init", "-q")
	git.Dir = c.dir
	if out, err := git.CombinedOutput(); err != nil {
		t.Skipf("git: %v %s", err, out)
	}
	c.write(".mcp.json", "{}\n")
	before := c.read(".git/config")
	c.start("--mode", "yolo")
	c.say("change them")
	c.wait("All are changed.", "made or changed protected files", "/undo takes them back")
	c.idle()
	c.say("/undo")
	c.wait("Put back what ")
	c.Press("enter")
	c.wait(".mcp.json (made again)", "post-checkout (removed)", ".git/config (restored)")
	if c.read(".git/config") != before || c.read(".mcp.json") != "{}\n" {
		t.Errorf("config %q, .mcp.json %q", c.read(".git/config"), c.read(".mcp.json"))
	}
	for _, gone := range []string{".git/hooks/post-checkout", "n/.git/config"} {
		if _, err := os.Stat(filepath.Join(c.dir, gone)); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	c.quit()
}

func TestResumePickerFindsWordsInMessages(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("The zebra crossed."), modeltest.Text("Something else."), modeltest.Text("Welcome back."))
	c.start()
	c.say("about animals")
	c.wait("The zebra crossed.")
	c.idle()
	c.titled("A title") // a conversation that is left before keeps the prompt as its title
	c.say("/new")
	c.wait("Carry the last exchange over")
	c.Press("enter")
	c.wait("ask for something")
	c.say("another thing")
	c.wait("Something else.")
	c.idle()
	c.say("/resume")
	c.wait("Sessions of this folder", "● A title")
	c.Press("down")
	c.wait("› about animals")
	c.Press("ctrl+r")
	c.wait("rename: A title")
	c.Press("ctrl+u")
	c.Type("Stripes")
	c.Press("enter")
	c.wait("renamed A title", " ›   Stripes")
	c.Type("zebr")
	// Only the session whose text contains the word remains in the list.
	if _, err := c.Wait(patience, func(s terminal.Screen) bool {
		return s.Contains("zebr") && strings.Count(s.Text(), "2 messages") == 1
	}); err != nil {
		t.Fatal(err)
	}
	c.Press("enter")
	c.wait("The zebra crossed.", "about animals")
	c.say("and now")
	c.wait("Welcome back.")
	if raw := string(c.request(2).Raw); !strings.Contains(raw, "zebra") || strings.Contains(raw, "Something else") {
		t.Errorf("the wrong history was sent: %.2000s", raw)
	}
	c.quit()
}

func TestNewCarriesTheLastExchangeWhenAsked(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("First answer."), modeltest.Text("Second answer."), modeltest.Text("Third answer."))
	c.start()
	c.say("first")
	c.wait("First answer.")
	c.say("second")
	c.wait("Second answer.")
	c.idle()
	c.say("/new")
	c.wait("Carry the last exchange over")
	c.Press("down")
	c.Press("enter")
	if _, err := c.Wait(patience, func(s terminal.Screen) bool {
		return s.Contains("Second answer.") && !s.Contains("First answer.") && s.Contains("ask for something")
	}); err != nil {
		t.Fatal(err)
	}
	c.say("third")
	c.wait("Third answer.")
	if raw := string(c.request(2).Raw); !strings.Contains(raw, "Second answer") || strings.Contains(raw, "First answer") {
		t.Errorf("the wrong history was sent: %.2000s", raw)
	}
	c.quit()
}

func TestExportFromTheTerminal(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Look:\n\n```go\nfunc main() {}\n```\n"))
	c.start()
	c.say("show me")
	c.wait("func main")
	c.idle()
	c.say("/export talk.html")
	c.wait("Written to talk.html")
	page := c.read("talk.html")
	if !strings.Contains(page, `<span class="k">func</span>`) || strings.Contains(page, "<script") {
		t.Errorf("the page is %.3000s", page)
	}
	c.quit()
}

func TestSecondProcessMayLookAndFork(t *testing.T) {
	t.Parallel()
	first := newChat(t, modeltest.Text("The answer of the first."), modeltest.Text("The first goes on."))
	first.start()
	first.say("hello")
	first.wait("The answer of the first.")
	first.idle() // it is kept

	second := newChat(t, modeltest.Text("The fork goes on."))
	second.dir, second.home = first.dir, first.home
	second.startAt("another jcode has this session open", "-c")
	second.wait("The answer of the first.")
	second.say("may I write")
	second.wait("read only here; /fork continues in a copy")
	second.Press("ctrl+c") // the text is still in the input
	second.wait("another jcode has this session open")
	second.say("/fork")
	second.wait("This is a copy of", "ask for something")
	second.say("in the copy")
	second.wait("The fork goes on.")
	if raw := string(second.request(0).Raw); !strings.Contains(raw, "The answer of the first.") {
		t.Errorf("the fork sent %.2000s", raw)
	}
	first.say("and the first")
	first.wait("The first goes on.")
	if raw := string(first.request(1).Raw); strings.Contains(raw, "in the copy") {
		t.Error("the fork's words are in the parent")
	}
	second.quit()
	first.quit()
}

func TestProjectsRoleWaitsForTheFoldersQuestion(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("As you like."))
	if err := os.MkdirAll(filepath.Join(c.dir, ".jcode", "roles"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.write(".jcode/roles/far.md", "---\nmodel: far-model\n---\nYou are far away.\n")
	c.startAt("Trust this folder?")
	c.wait("role far", "model: far-model", "y  yes")
	c.Press("y")
	c.wait("ask for something")
	c.say("/role far")
	c.wait("far-model")
	c.say("hello")
	c.wait("As you like.")
	if r := c.request(0); !strings.Contains(r.System(), "You are far away.") || !strings.Contains(string(r.Raw), `"far-model"`) {
		t.Errorf("sent %.1500s", r.Raw)
	}
	c.quit()
}

func TestSessionOfANameIsBegunAndFoundAgain(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("A plain answer."), modeltest.Text("A named answer."), modeltest.Text("Back in it."))
	c.start()
	c.say("hello")
	c.wait("A plain answer.")
	c.idle()
	c.say("/session Parser work")
	c.wait("Carry the last exchange over")
	c.Press("enter")
	c.until(func(s terminal.Screen) bool {
		return s.Contains("ask for something") && strings.Contains(s.Title, "Parser work")
	})
	c.say("named")
	c.wait("A named answer.")
	c.idle()
	c.say("/new")
	c.wait("Carry the last exchange over")
	c.Press("enter")
	c.wait("ask for something")
	c.say("/session Parser work")
	c.wait("A named answer.")
	c.idle()
	c.say("go on")
	c.wait("Back in it.")
	if raw := string(c.request(2).Raw); !strings.Contains(raw, "A named answer.") || strings.Contains(raw, "A plain answer.") {
		t.Errorf("the wrong history was sent: %.2000s", raw)
	}
	c.quit()
}

// A rewind restores what was typed, not the prompt that was built from it, and can go back to before a summary.
func TestRewindGivesBackWhatWasTyped(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("One."), modeltest.Text("Two."), modeltest.Text("Three."), modeltest.Text("Four."), modeltest.Text("Anew."))
	c.srv.Route(func(r modeltest.Request) (modeltest.Reply, bool) {
		return modeltest.Text("A summary."), strings.Contains(string(r.Raw), "Summarise this conversation")
	})
	c.project(".jcode/skills/greeting/SKILL.md", "---\nname: greeting\ndescription: Greets people.\n---\nSay ahoy.\n")
	c.start()
	c.say("first")
	c.wait("One.")
	c.say("/greeting the captain")
	c.wait("Two.")
	c.say("third")
	c.wait("Three.")
	c.say("fourth")
	c.wait("Four.")
	c.say("/compact")
	c.wait("was summarised")
	c.say("/rewind")
	c.wait("Go back to before which prompt?", "/greeting the captain")
	c.Type("captain")
	c.Press("enter")
	c.wait("What goes back?")
	c.Press("enter")
	if _, err := c.Wait(patience, func(s terminal.Screen) bool {
		return s.Contains("› /greeting the captain") && s.Contains("back in the input") && !s.Contains("Four.") && !s.Contains("Two.")
	}); err != nil {
		t.Fatal(err)
	}
	c.Press("enter")
	c.wait("Anew.")
	raw := string(c.last().Raw)
	if !strings.Contains(raw, "One.") || !strings.Contains(raw, "Say ahoy.") || strings.Contains(raw, "Two.") || strings.Contains(raw, "A summary.") {
		t.Errorf("sent %.4000s", raw)
	}
	c.quit()
}

// What a `!` line did is undone apart from what the agent and other lines did.
func TestAShellLineIsUndoneByItself(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "echo agent > agents.txt; rm gone.txt"})), modeltest.Text("It is made."))
	c.write("gone.txt", "still needed\n")
	c.write("mine.txt", "one\n")
	c.start("--mode", "yolo")
	c.say("make it")
	c.wait("It is made.")
	c.idle()
	for _, line := range []string{"echo two > mine.txt", "echo three > other.txt", "echo four > mine.txt"} {
		c.say("!" + line)
		c.wait("✓ ! " + line)
		c.idle()
	}
	undo := func(said ...string) {
		c.say("/undo")
		c.wait("Put back what ")
		c.Press("enter")
		c.wait(said...)
	}
	undo("mine.txt (restored)", "a ! line", "changed by echo four > mine.txt")
	if mine, other := c.read("mine.txt"), c.read("other.txt"); mine != "two\n" || other != "three\n" {
		t.Errorf("after one undo: %q %q", mine, other)
	}
	undo("other.txt (removed)", "changed by echo three > other.txt")
	undo("mine.txt (restored)", "changed by echo two > mine.txt")
	if mine, theirs := c.read("mine.txt"), c.read("agents.txt"); mine != "one\n" || theirs != "agent\n" {
		t.Errorf("%q %q", mine, theirs)
	}
	undo("agents.txt (removed)", "gone.txt (made again)", "changed by echo agent > agents.txt; rm gone.txt")
	if got := c.read("gone.txt"); got != "still needed\n" {
		t.Errorf("%q", got)
	}
	c.quit()
}
