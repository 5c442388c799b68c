package permissionscli

import "jcode/tools/command"

// Table names the verbs of `jcode permissions` and of /permissions.
func Table() command.Table {
	const ask = "write a rule, such as exec(go test *)"
	return command.Table{
		{Name: "list", Help: "list the rules and grants that apply in this project", On: command.Line},
		{
			Name: "explain", Hint: "LINE", Help: "say what would happen to a shell line, or to a call such as 'write(src/a.go)', and why",
			Ask: "write a shell line, or a call such as write(src/a.go)", Shows: true,
		},
		{Name: "allow", Hint: "RULE", Help: "allow something always in this project", Ask: ask, On: command.Chat},
		{Name: "ask", Hint: "RULE", Help: "ask before something, until jcode ends", Ask: ask, On: command.Chat},
		{Name: "deny", Hint: "RULE", Help: "refuse something, until jcode ends", Ask: ask, On: command.Chat},
		{
			Name: "revoke", Hint: "RIGHT", Help: "take back what a program of the project or a plugin may do besides, as the list names it: 'network mcp github'",
			Ask: "write a right as the list does, such as network mcp github", Names: true,
		},
	}
}

// Said implements commandline.Tabled.
func (*Cmd) Said() func(verb string) (help string, names bool) { return Table().OnLine }
