package mcpcli

import "jcode/tools/command"

// Table names the verbs of `jcode mcp` and of /mcp.
func Table() command.Table {
	const ask, anyAddress = "name a server", "a terminal can sign in to an address that is not configured"
	return command.Table{
		{Name: "list", Help: "list the configured servers; starts nothing without --check", On: command.Line},
		{Name: "get", Help: "show one server's merged entry and the files that define it", Names: true, On: command.Line},
		{Name: "add", Help: "add a server: NAME URL, or NAME -- COMMAND ARGS…", On: command.Line},
		{Name: "add-json", Help: "add a server given as JSON", On: command.Line},
		{Name: "remove", Help: "remove a server from the file that has it", Names: true, On: command.Line},
		{Name: "connect", Hint: "NAME", Help: "connect a server, or restart it", Ask: ask, Names: true, On: command.Chat},
		{Name: "disconnect", Hint: "NAME", Help: "disconnect a server; its tools are gone", Ask: ask, Names: true, On: command.Chat},
		{Name: "reconnect", Hint: "NAME", Help: "restart a server", Ask: ask, Names: true, On: command.Chat},
		{Name: "test", Help: "connect a server, list its tools, disconnect, and say what was seen", Names: true, On: command.Line},
		{
			Name: "tools", Hint: "NAME", Help: "list a server's tools, and those that were left out", Ask: ask, Names: true, Shows: true, Line: command.Said{
				Hint: "[NAME]", Help: "list a server's tools with their schemas as received: NAME, --url URL, or -- COMMAND ARGS…",
				Why: "it connects the server, which need not be configured",
			},
		},
		{Name: "call", Help: "call a tool: NAME TOOL [JSON|-|@FILE], --url URL TOOL [JSON], or TOOL [JSON] -- COMMAND ARGS…", Names: true, On: command.Line},
		{Name: "log", Hint: "NAME", Help: "show a server's log and the end of stderr", Ask: ask, Names: true, Shows: true, On: command.Chat},
		{Name: "enable", Hint: "NAME", Help: "switch a server on", Ask: ask, Names: true},
		{Name: "disable", Hint: "NAME", Help: "switch a server off", Ask: ask, Names: true},
		{Name: "approve", Hint: "NAME", Help: "let a server of the project run as its files have it now", Ask: ask, Names: true, On: command.Chat},
		{Name: "allow", Hint: "NAME network|outside", Help: "let a server use the network, or write outside the project", Ask: ask, On: command.Chat},
		{Name: "login", Hint: "NAME", Help: "sign in to a server", Ask: ask, Names: true, Line: command.Said{Hint: "[NAME]", Help: "sign in to a server: NAME, or --url URL", Why: anyAddress}},
		{Name: "logout", Hint: "NAME", Help: "forget the sign-in to a server", Ask: ask, Names: true, Line: command.Said{Hint: "[NAME]", Help: "forget the sign-in to a server: NAME, or --url URL", Why: anyAddress}},
		{Name: "reload", Hint: "[NAME]", Help: "read the files of servers again, and apply what changed", Names: true, On: command.Chat},
		{Name: "direct", Help: "offer all tools of servers to the model", On: command.Chat},
		{Name: "deferred", Help: "let the model find tools of servers by a search", On: command.Chat},
		{Name: "auto", Help: "offer tools of servers, or let the model find them, by how many there are", On: command.Chat},
		{Name: "serve", Help: "serve jcode's own tools over stdio", On: command.Line},
	}
}

// Said implements commandline.Tabled.
func (*Cmd) Said() func(verb string) (help string, names bool) { return Table().OnLine }
