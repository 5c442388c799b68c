//go:build linux || darwin

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// A note that another session adds is told at the next step, after all that was sent before: what a provider keeps of
// the prompt stays usable.
func TestANoteOfAnotherSessionIsToldAtTheNextStep(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("One."), remember("c1", "The port is 8080."), modeltest.Text("Kept."), modeltest.Text("Two."), modeltest.Text("Three."))
	c.start()
	c.say("hello")
	c.wait("One.")
	c.idle()
	if out, err := c.jcode("", "-p", "--memory", "write", "--allow", "remember", "note the port"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.say("go on")
	c.wait("Two.")
	c.say("and on")
	c.wait("Three.")
	first, next, last := c.request(0), c.request(3), c.request(4)
	for i, pair := range [][2]modeltest.Request{{first, next}, {next, last}} {
		if before, after := pair[0].Messages, pair[1].Messages; len(after) <= len(before) || !reflect.DeepEqual(before, after[:len(before)]) {
			t.Errorf("request %d does not begin with the one before: %+v\n%+v", i+1, before, after)
		}
	}
	told := 0
	for _, m := range last.Messages {
		if strings.Contains(m.Content, "added meanwhile") && strings.Contains(m.Content, "The port is 8080.") {
			told++
		}
	}
	if raw := string(next.Raw); told != 1 || !strings.Contains(raw, "The port is 8080.") {
		t.Errorf("told %d times: %s", told, raw)
	}
	c.quit()
}

// A compaction replaces what was said before; the notes are told anew if it replaced them, and once in all. So is the
// date.
func TestTheNotesAreToldAgainAfterACompaction(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text(strings.Repeat("A long answer. ", 400)+"One."), modeltest.Text("Two."), modeltest.Text("The user said hello."), modeltest.Text("Six."))
	note := filepath.Join(c.home, "memory", "user", "style.md")
	if err := os.MkdirAll(filepath.Dir(note), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(note, []byte("- Answer in French.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start()
	c.say("hello")
	c.wait("One.")
	c.say("fill")
	c.wait("Two.")
	c.say("/compact")
	c.wait("was summarised")
	c.say("after it")
	c.wait("Six.")
	for _, line := range []string{"Answer in French.", "[jcode] Today is "} {
		told := 0
		for _, m := range c.last().Messages {
			told += strings.Count(m.Content, line)
		}
		if told != 1 {
			t.Errorf("%q is told %d times", line, told)
		}
	}
	c.quit()
}

// With memory_drafts, the tenth prompt of a session has notes proposed, which are drafts.
func TestTheTenthPromptMakesDrafts(t *testing.T) {
	t.Parallel()
	var replies []modeltest.Reply
	for i := range 10 {
		replies = append(replies, modeltest.Text(fmt.Sprintf("Answer %d.", i+1)))
	}
	c := newChat(t, append(replies, modeltest.Text(`[{"text": "Tests run with make check.", "topic": "tests"}]`))...)
	c.config(`{"memory_drafts": true}`)
	c.start()
	for i := range 10 {
		c.say(fmt.Sprint("question ", i+1))
		c.wait(fmt.Sprintf("Answer %d.", i+1))
		if i == 8 && c.notesOf() != "" {
			t.Error("drafts were made before")
		}
	}
	c.wait("1 draft of notes: /memory accepts or drops them")
	if got := c.notesOf(); !strings.Contains(got, "Tests run with make check.") || !strings.Contains(got, "topic tests · about project") {
		t.Errorf("%s", got)
	}
	if raw := string(c.request(10).Raw); !strings.Contains(raw, "USER: question 10") || strings.Contains(raw, `"tools"`) {
		t.Errorf("%s", raw)
	}
	c.quit()
}

// The memories of three other agents are read, each in its form.
func TestMemoriesOfThreeAgentsBecomeDrafts(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	root, err := filepath.EvalSymlinks(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	claude := filepath.Join(c.home, ".claude", "projects", strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(root), "memory")
	for file, body := range map[string]string{
		filepath.Join(claude, "MEMORY.md"):                                 "- [testing](testing.md): how tests run\n",
		filepath.Join(claude, "testing.md"):                                "---\nname: testing\ntype: project\n---\n\nTests need a database.\n",
		filepath.Join(c.home, ".codex", "memories", "a.md"):                "# Habits\n\n- Run the linter first.\n",
		filepath.Join(c.home, ".gemini", "GEMINI.md"):                      "# Rules\n\n- This is an instruction of the user.\n\n## Gemini Added Memories\n- The user likes tabs.\n\n## More\n- not this\n",
		filepath.Join(c.home, ".claude", "projects", "-other/memory/x.md"): "- of another project\n",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := c.jcode("", "memory", "import")
	if err != nil || !strings.Contains(out, "3 drafts from the memory of Claude Code, Codex, Gemini") {
		t.Errorf("%v: %s", err, out)
	}
	got := c.notesOf()
	for text, want := range map[string]bool{
		"- Tests need a database.": true, "imported from Claude%20Code": true, "- Run the linter first.": true, "- The user likes tabs.": true,
		"how tests run": false, "instruction of the user": false, "not this": false, "another project": false, "type: project": false,
	} {
		if strings.Contains(got, text) != want {
			t.Errorf("%q: %v\n%s", text, !want, got)
		}
	}
	if out, err := c.jcode("", "memory", "import"); err != nil || strings.Count(c.notesOf(), "- The user likes tabs.") != 1 {
		t.Errorf("again: %v: %s", err, out)
	}
}
