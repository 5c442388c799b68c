//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// Three agents work while the conversation continues: the changes of one, in a worktree, are tested, merged and
// undone; one asks a question; one is stopped.
func TestThreeAgentsWorkWhileThePersonTalksOn(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.write("a.txt", "one\ntwo\nthree\n")
	gitRepository(t, c.dir)
	lines := `{"tool_calls":[{"name":"task","arguments":{"prompt":"change a","name":"ann","background":true,"isolation":"worktree"}},{"name":"task","arguments":{"prompt":"make","name":"ben","background":true}},{"name":"task","arguments":{"prompt":"wait","name":"cat","background":true}}]}
{"agent":"ann","tool_calls":[{"name":"edit","arguments":{"path":"a.txt","old_string":"two","new_string":"TWO"}},{"name":"write","arguments":{"path":"new.txt","content":"made by ann\n"}},{"name":"exec","arguments":{"cmd":"grep -c TWO a.txt"}}]}
{"agent":"ann","text":"Changed and tested."}
{"agent":"ben","tool_calls":[{"name":"exec","arguments":{"cmd":"touch made-by-ben"}}]}
{"agent":"ben","text":"Made it."}
{"agent":"cat","tool_calls":[{"name":"exec","arguments":{"cmd":"sleep 300"}}]}
{"text":"Three are at work."}
{"text":"Talking on."}
`
	script := scriptOf(t, lines)
	c.start("--mode", "edits", "-m", "replay:"+script)
	c.say("go")
	c.answerable("ben: Run a command", "touch made-by-ben", "the agent ben, in ")
	c.Press("y")
	c.wait("agent ben done: Made it.", "agent ann done: Changed and tested. It changed 2 files", "cat  sleep 300")
	c.say("and you")
	c.wait("Talking on.", "cat  sleep 300", "ann  done, +", " in 2 files")
	if c.read("a.txt") != "one\ntwo\nthree\n" {
		t.Error("ann worked in the main checkout")
	}
	c.read("made-by-ben")
	c.interject("/agents stop cat")
	c.wait("agent cat stopped")
	c.interject("/agents diff ann")
	c.wait("2 + TWO", "1 + made by ann")
	c.interject("/agents merge ann")
	c.wait("Merged 2 files of ann: a.txt, new.txt.")
	if c.read("a.txt") != "one\nTWO\nthree\n" || c.read("new.txt") != "made by ann\n" {
		t.Error("what ann did was not merged")
	}
	c.say("/undo")
	c.answerable("Put back what the merge of ann changed?")
	c.Press("enter")
	c.wait("new.txt (removed)", "a.txt (restored)")
	if _, err := os.Stat(filepath.Join(c.dir, "new.txt")); err == nil || c.read("a.txt") != "one\ntwo\nthree\n" {
		t.Error("the merge was not taken back")
	}
	c.quit()
}
