package luacli

import "jcode/tools/command"

// Table names the verbs of `jcode lua` and of /lua.
func Table() command.Table {
	return command.Table{
		{Name: "errors", Help: "show what is wrong with tools and plugins", Shows: true, On: command.Chat},
		{Name: "reload", Hint: "[NAME]", Help: "load a script again, or all", Names: true, On: command.Chat},
		{Name: "log", Hint: "[NAME]", Help: "show what scripts, or one, have logged", Shows: true, Names: true, On: command.Chat},
		{Name: "allow", Hint: "[PLUGIN] network|outside", Help: "let commands of the project's Lua, or of a plugin's, use the network, or write outside the project", On: command.Chat},
		{Name: "new", Help: "write a commented, working tool or plugin", On: command.Line},
		{Name: "check", Help: "look for faults in manifests and sources, without running them", On: command.Line},
		{Name: "run", Help: "call a Lua tool: same host, gate and limits as for a model", On: command.Line},
		{Name: "stubs", Help: "write type annotations of the Lua API for editors", On: command.Line},
	}
}

// Said implements commandline.Tabled.
func (*Cmd) Said() func(verb string) (help string, names bool) { return Table().OnLine }
