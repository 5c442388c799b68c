package skillscli

import "jcode/tools/command"

// Table names the verbs of `jcode skills` and of /skills.
func Table() command.Table {
	return command.Table{
		{Name: "list", Help: "list the skills of this folder with their state", On: command.Line},
		{Name: "check", Help: "tell what is wrong with skills and command files, with file, line and cure", On: command.Line},
		{
			Name: "new", Hint: "NAME", Help: "write a new skill of the project from a template", Ask: "name the skill",
			Line: command.Said{Help: "write a new skill from a template", Why: "--user writes one for all projects"},
		},
	}
}

// Said implements commandline.Tabled.
func (*Cmd) Said() func(verb string) (help string, names bool) { return Table().OnLine }
