package rolescli

import "jcode/tools/command"

// Table names the verbs of `jcode roles` and of /roles.
func Table() command.Table {
	const ask = "name a role"
	return command.Table{
		{Name: "list", Help: "list roles, and which one wins where names clash", On: command.Line},
		{Name: "show", Help: "print a role as its file is written", Names: true, On: command.Line},
		{
			Name: "edit", Hint: "NAME", Help: "open a role in your editor", Ask: ask, Names: true,
			Line: command.Said{Help: "change a role in your editor, or make one", Why: "in the chat, new makes one"},
		},
		{Name: "new", Hint: "NAME", Help: "make a role and open it in your editor", Ask: ask, On: command.Chat},
		{Name: "save", Hint: "NAME", Help: "keep this session's model, mode and settings as a role", Ask: ask, On: command.Chat},
		{Name: "import", Help: "keep role files in the database, byte for byte", On: command.Line},
		{Name: "export", Hint: "NAME [FILE]", Help: "write a role as a file, byte for byte", Ask: ask, Names: true},
		{Name: "rm", Help: "delete roles of your own", Names: true, On: command.Line},
	}
}

// Said implements commandline.Tabled.
func (*Cmd) Said() func(verb string) (help string, names bool) { return Table().OnLine }
