package taskscli

import "jcode/tools/command"

// Table names the verbs of `jcode tasks` and of /tasks.
func Table() command.Table {
	const ask, oneByOne = "name a task by its number", "in the list of the chat, tasks are chosen one by one"
	return command.Table{
		{Name: "list", Help: "list the tasks, those that need you first", On: command.Line},
		{Name: "add", Help: "queue a task for a worker, or many from a file", On: command.Line}, // the chat has /later
		{Name: "show", Hint: "NUMBER", Help: "show all that is known of a task", Ask: ask, Shows: true, Names: true},
		{Name: "log", Hint: "NUMBER", Help: "show the transcript of a task's session", Ask: ask, Shows: true, Names: true},
		{Name: "diff", Hint: "NUMBER", Help: "show what a task changed", Ask: ask, Shows: true, Names: true},
		{
			Name: "answer", Hint: "NUMBER [yes|no|WORDS]", Help: "answer the question that a task waits with", Ask: ask, Names: true,
			Line: command.Said{Hint: "NUMBER [ANSWER …]", Why: "its help says which words"},
		},
		{Name: "cancel", Hint: "NUMBER", Help: "end a task", Ask: ask, Names: true, Line: command.Said{Hint: "NUMBER …", Why: oneByOne}},
		{Name: "retry", Hint: "NUMBER", Help: "queue a task again that failed", Ask: ask, Names: true, Line: command.Said{Hint: "NUMBER …", Why: oneByOne}},
		{Name: "take", Hint: "NUMBER", Help: "merge what a task changed into its repository's folder", Ask: ask, Names: true},
		{Name: "rm", Help: "forget tasks, with their worktrees and branches", Names: true, On: command.Line},
		{Name: "schedules", Help: "list schedules, or remove one", On: command.Line},
	}
}

// Said implements commandline.Tabled.
func (*Cmd) Said() func(verb string) (help string, names bool) { return Table().OnLine }
