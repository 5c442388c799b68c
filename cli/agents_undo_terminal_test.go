//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A merge that replaces a folder by a file, and a file by a folder, is undone and redone as one change.
func TestMergeThatReplacesFoldersAndFilesIsUndone(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.write("a.txt", "one\n")
	if err := os.Mkdir(filepath.Join(c.dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.write("d/x", "x\n")
	gitRepository(t, c.dir)
	lines := `{"tool_calls":[{"name":"task","arguments":{"prompt":"change","name":"ann","isolation":"worktree"}}]}
{"agent":"ann","tool_calls":[{"name":"exec","arguments":{"cmd":"rm -r d; echo file > d; rm a.txt; mkdir a.txt; echo in > a.txt/in"}}]}
{"agent":"ann","text":"Done."}
{"text":"Ann is done."}
`
	script := scriptOf(t, lines)
	c.start("--mode", "yolo", "-m", "replay:"+script)
	c.say("go")
	c.wait("Ann is done.", "done, +", " in 4 files")
	c.idle()
	c.interject("/agents merge ann")
	c.wait("Merged 4 files of ann: a.txt, a.txt/in, d, d/x.")
	if c.read("d") != "file\n" || c.read("a.txt/in") != "in\n" {
		t.Error("the merge is not there")
	}
	c.say("/undo")
	c.answerable("Put back what the merge of ann changed?")
	c.Press("enter")
	c.wait("a.txt/in (removed)", "d/x (made again)")
	if c.read("d/x") != "x\n" || c.read("a.txt") != "one\n" {
		t.Error("the merge was not taken back")
	}
	c.idle()
	c.say("/redo")
	c.wait("a.txt/in (made again)")
	if c.read("d") != "file\n" || c.read("a.txt/in") != "in\n" {
		t.Error("the merge was not repeated")
	}
	c.quit()
}
