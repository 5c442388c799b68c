package sessionscli

import "jcode/tools/command"

// Table names the verbs of `jcode sessions`. The chat does such things to its own session, with commands of their own.
func Table() command.Table {
	return command.Table{
		{Name: "list", Help: "list this folder's sessions, the one used last first", On: command.Line},
		{Name: "show", Help: "print a session's transcript", Names: true, On: command.Line},
		{Name: "search", Help: "find words in titles and messages", On: command.Line},
		{Name: "rename", Help: "give a session a title", Names: true, On: command.Line},
		{Name: "rm", Help: "delete sessions with all that belongs to them", Names: true, On: command.Line},
		{Name: "undo", Help: "undo what the last turn that changed files did to them", On: command.Line},
		{Name: "redo", Help: "redo what the last undo reverted", On: command.Line},
		{Name: "export", Help: "write a session as Markdown, JSON or one HTML page", Names: true, On: command.Line},
		{Name: "import", Help: "import sessions of other agents; again, only what is new", On: command.Line},
		{Name: "ps", Help: "list the sessions that are open in other terminals, those that need you first", On: command.Line},
		{Name: "watch", Help: "print what happens in an open session", On: command.Line},
		{Name: "answer", Help: "answer the question that an open session waits with", On: command.Line},
		{Name: "send", Help: "send a prompt to an open session", On: command.Line},
		{Name: "stop", Help: "stop the running turn of an open session", On: command.Line},
	}
}

// Said implements commandline.Tabled.
func (*Cmd) Said() func(verb string) (help string, names bool) { return Table().OnLine }
