package memory

import "jcode/tools/command"

// Table names the verbs of `jcode memory` and of /memory.
func Table() command.Table {
	return command.Table{
		{Name: "list", Help: "list the notes of this project and yours, and drafts", Shows: true},
		{Name: "show", Hint: "ID|TOPIC", Help: "show a note, or all notes of a topic, with where they are from", Ask: "name a note or a topic, as the list does", Shows: true, Names: true},
		{Name: "search", Help: "search notes and the text of earlier sessions", On: command.Line}, // the chat has /recall
		{Name: "forget", Hint: "ID …", Help: "remove notes or drafts", Ask: "name a note by the ID that the list shows", Names: true},
		{
			Name: "export", Hint: "FILE", Help: "write all notes into one file: JSON, or Markdown", Ask: "name a file, .json, or .md to read",
			Line: command.Said{Hint: "[FILE]", Why: "a terminal has a standard output"},
		},
		{Name: "import", Hint: "[FILE]", Help: "read notes as drafts: from a file, or from the memories of Claude Code, Codex and Gemini"},
		{Name: "learn", Help: "have the model propose notes from this conversation, as drafts", On: command.Chat},
	}
}

// Said implements commandline.Tabled.
func (*Cmd) Said() func(verb string) (help string, names bool) { return Table().OnLine }
