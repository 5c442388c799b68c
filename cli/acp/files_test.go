package acp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// buffers plays the files of an editor: unsaved text takes precedence over the file on disk.
func (c *client) buffers(unsaved map[string]string) {
	c.on("fs/read_text_file", func(r request) any {
		path := r.Params["path"].(string)
		if text, ok := unsaved[path]; ok {
			return object{"content": text}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			c.send(object{"jsonrpc": "2.0", "id": r.ID, "error": object{"code": -32002, "message": "no such file"}})
			return nil
		}
		return object{"content": string(data)}
	})
	c.on("fs/write_text_file", func(r request) any {
		path := r.Params["path"].(string)
		delete(unsaved, path)
		if err := os.WriteFile(path, []byte(r.Params["content"].(string)), 0o644); err != nil {
			c.t.Error(err)
		}
		return object{}
	})
}

var editorFiles = object{"fs": object{"readTextFile": true, "writeTextFile": true}}

func TestUnsavedTextOfTheEditorIsReadEditedAndUndone(t *testing.T) {
	t.Parallel()
	c := start(t, setup{caps: editorFiles, args: []string{"--mode", "edits"}, script: `{"tool_calls":[{"name":"read","arguments":{"path":"a.txt"}}]}
{"expect":{"tool_result_contains":"not saved"},"tool_calls":[{"name":"edit","arguments":{"path":"a.txt","old_string":"not saved","new_string":"edited"}},{"name":"write","arguments":{"path":"new.txt","content":"made\n"}}]}
{"text":"done","expect":{"tool_result_contains":"new.txt"}}
`})
	path := filepath.Join(c.dir, "a.txt")
	write(t, path, "one\nsaved\n")
	c.buffers(map[string]string{path: "one\nnot saved\n"})
	s := c.open()
	if got := c.stop(c.prompt(s, text("go"))); got != "end_turn" {
		t.Fatalf("stop reason %q", got)
	}
	if got := read(t, path); got != "one\nedited\n" {
		t.Errorf("file %q", got)
	}
	if got := read(t, filepath.Join(c.dir, "new.txt")); got != "made\n" {
		t.Errorf("new file %q", got)
	}
	var written []string
	for _, r := range c.requests("fs/write_text_file") {
		written = append(written, filepath.Base(r.Params["path"].(string))+"="+r.Params["content"].(string))
	}
	if got := strings.Join(written, "|"); got != "a.txt=one\nnot saved\n|a.txt=one\nedited\n|new.txt=made\n" {
		t.Errorf("the editor was asked to write %q", got)
	}
	c.stop(c.prompt(s, text("/undo")))
	if got := read(t, path); got != "one\nnot saved\n" {
		t.Errorf("undone: %q", got)
	}
}

func TestErrorOfTheEditorFailsTheToolInItsWords(t *testing.T) {
	t.Parallel()
	c := start(t, setup{caps: editorFiles, args: []string{"--mode", "edits"}, script: `{"tool_calls":[{"name":"read","arguments":{"path":"a.txt"}}]}
{"expect":{"tool_result_contains":"buffer is locked"},"tool_calls":[{"name":"write","arguments":{"path":"b.txt","content":"x"}}]}
{"text":"done","expect":{"tool_result_contains":"disk is full"}}
`})
	write(t, filepath.Join(c.dir, "a.txt"), "one\n")
	fail := func(words string) func(request) any {
		return func(r request) any {
			c.send(object{"jsonrpc": "2.0", "id": r.ID, "error": object{"code": -32603, "message": words}})
			return nil
		}
	}
	c.on("fs/read_text_file", fail("the buffer is locked"))
	c.on("fs/write_text_file", fail("the disk is full"))
	if got := c.stop(c.prompt(c.open(), text("go"))); got != "end_turn" {
		t.Errorf("stop reason %q", got)
	}
	if got := read(t, filepath.Join(c.dir, "b.txt")); got != "" {
		t.Errorf("a write that the editor refused was made on disk: %q", got)
	}
}

func TestSearchSaysWhichFilesHaveUnsavedChanges(t *testing.T) {
	t.Parallel()
	c := start(t, setup{caps: editorFiles, script: `{"tool_calls":[{"name":"grep","arguments":{"pattern":"needle"}}]}
{"text":"done","expect":{"tool_result_contains":"unsaved changes in the editor: a.txt"}}
`})
	path := filepath.Join(c.dir, "a.txt")
	write(t, path, "needle\n")
	write(t, filepath.Join(c.dir, "b.txt"), "needle\n")
	c.buffers(map[string]string{path: "thread\n"})
	if got := c.stop(c.prompt(c.open(), text("go"))); got != "end_turn" {
		t.Errorf("stop reason %q", got)
	}
}

func TestFilesOutsideTheWorkspaceAreNotTheEditors(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret.txt")
	write(t, outside, "on disk\n")
	c := start(t, setup{caps: editorFiles, args: []string{"--mode", "yolo"}, script: `{"tool_calls":[{"name":"read","arguments":{"path":"` + outside + `"}}]}
{"text":"done","expect":{"tool_result_contains":"on disk"}}
`})
	c.buffers(map[string]string{outside: "from the editor\n"})
	if got := c.stop(c.prompt(c.open(), text("go"))); got != "end_turn" {
		t.Errorf("stop reason %q", got)
	}
	if n := len(c.requests("fs/read_text_file")); n != 0 {
		t.Errorf("the editor was asked %d times", n)
	}
}

func TestBufferThatDidNotLoadAChangeOnDiskIsNotUnsavedWork(t *testing.T) {
	t.Parallel()
	c := start(t, setup{caps: editorFiles, args: []string{"--mode", "yolo"}, script: `{"tool_calls":[{"name":"read","arguments":{"path":"a.txt"}}]}
{"tool_calls":[{"name":"exec","arguments":{"cmd":"printf 'ONE\\ntwo\\nthree\\n' > a.txt"}}]}
{"tool_calls":[{"name":"edit","arguments":{"path":"a.txt","old_string":"three","new_string":"THREE"}}]}
{"expect":{"tool_result_contains":"the editor still shows the text from before"},"tool_calls":[{"name":"exec","arguments":{"cmd":"printf 'ONE\\ntwo\\nTHREE\\nfour\\nfive\\n' > a.txt"}}]}
{"tool_calls":[{"name":"edit","arguments":{"path":"a.txt","old_string":"five","new_string":"FIVE"}}]}
{"text":"done","expect":{"tool_result_contains":"this is both together"}}
`})
	path := filepath.Join(c.dir, "a.txt")
	write(t, path, "one\ntwo\nthree\n")
	buffer := "one\ntwo\nthree\n" // it loads nothing by itself
	c.on("fs/read_text_file", func(request) any { return object{"content": buffer} })
	c.on("fs/write_text_file", func(r request) any {
		buffer = r.Params["content"].(string)
		write(t, path, buffer)
		if strings.Contains(buffer, "THREE") {
			buffer = strings.Replace(buffer, "ONE", "typed", 1) // the person goes on typing
		}
		return object{}
	})
	if got := c.stop(c.prompt(c.open(), text("go"))); got != "end_turn" {
		t.Fatalf("stop reason %q", got)
	}
	if got := read(t, path); got != "typed\ntwo\nTHREE\nfour\nFIVE\n" {
		t.Errorf("file %q", got)
	}
}

func TestFileThatExistsOnlyInTheEditorIsReadAndKept(t *testing.T) {
	t.Parallel()
	c := start(t, setup{caps: editorFiles, args: []string{"--mode", "edits"}, script: `{"tool_calls":[{"name":"write","arguments":{"path":"new.txt","content":"mine\n"}}]}
{"expect":{"tool_result_contains":"1\ttyped, never saved"},"tool_calls":[{"name":"read","arguments":{"path":"new.txt"}}]}
{"expect":{"tool_result_contains":"exists only in the editor"},"tool_calls":[{"name":"write","arguments":{"path":"new.txt","content":"mine\n"}}]}
{"text":"done","expect":{"tool_result_contains":"saved first"}}
`})
	path := filepath.Join(c.dir, "new.txt")
	unsaved := map[string]string{path: "typed, never saved\n"}
	c.buffers(unsaved)
	s := c.open()
	if got := c.stop(c.prompt(s, text("go"))); got != "end_turn" {
		t.Fatalf("stop reason %q", got)
	}
	if got := read(t, path); got != "mine\n" {
		t.Errorf("file %q", got)
	}
	unsaved[path] = "mine\nand typed\n"
	c.stop(c.prompt(s, text("/undo")))
	if got := read(t, path); got != "mine\n" {
		t.Errorf("an undo went below unsaved work: %q", got)
	}
}

// What a command changed is undone from an editor too; a file of which the editor has unsaved text stays, and is named.
func TestWhatACommandChangedIsUndoneFromAnEditor(t *testing.T) {
	t.Parallel()
	c := start(t, setup{caps: editorFiles, args: []string{"--mode", "yolo"}, script: `{"tool_calls":[{"name":"exec","arguments":{"cmd":"echo two > a.txt; echo two > b.txt; echo made > made.txt; rm gone.txt"}}]}
{"text":"done"}
`})
	for _, name := range []string{"a.txt", "b.txt", "gone.txt"} {
		write(t, filepath.Join(c.dir, name), "one\n")
	}
	unsaved := map[string]string{}
	c.buffers(unsaved)
	s := c.open()
	c.stop(c.prompt(s, text("go")))
	unsaved[filepath.Join(c.dir, "b.txt")] = "three\n"
	c.stop(c.prompt(s, text("/undo")))
	said := c.said(s, "agent_message_chunk")
	if a, gone := read(t, filepath.Join(c.dir, "a.txt")), read(t, filepath.Join(c.dir, "gone.txt")); a != "one\n" || gone != "one\n" {
		t.Errorf("%q %q\n%s", a, gone, said)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "made.txt")); err == nil {
		t.Errorf("made.txt is there\n%s", said)
	}
	if b := read(t, filepath.Join(c.dir, "b.txt")); b != "two\n" || !strings.Contains(said, "b.txt left alone") || !strings.Contains(said, "changed by echo two > a.txt") {
		t.Errorf("%q\n%s", b, said)
	}
}
