package cli

import (
	"slices"
	"strings"

	"jcode/internal/commandline"
	"jcode/tui"
)

// noCommand returns an explanation if a command line without flags is meant for a command that jcode does not
// have, and "" if it is a prompt. Such a command is a single known word, or a known noun with a verb:
// `agents`, `plugin install x`.
func noCommand(line *commandline.Command, args []string) string {
	if len(args) == 0 || len(args) > 3 || line.Child(args[0]) != nil || slices.ContainsFunc(args, func(a string) bool {
		return a == "" || a[0] == '-' || strings.ContainsAny(a, " \t\n")
	}) {
		return ""
	}
	word := args[0]
	if len(args) > 1 && !(isNoun(word) && isVerb(args[1])) {
		return ""
	}
	advice := insteadOf(line, word)
	if advice == "" {
		return ""
	}
	return "there is no command " + word + ": " + advice + ". To send it as a prompt: jcode -- " + strings.Join(args, " ")
}

// insteadOf says what to use in place of a command that does not exist; "" for an unknown word.
func insteadOf(line *commandline.Command, word string) string {
	switch word {
	case "chat", "start":
		return "jcode alone begins a chat"
	case "continue":
		return "jcode -c continues the last session of this folder"
	case "resume", "session":
		return "jcode -r continues an earlier session, jcode sessions lists them"
	case "exec", "run", "print":
		return "jcode -p PROMPT answers once"
	case "model", "models":
		return "jcode -m ID chooses the model, /model in the chat lists them"
	case "mode":
		return "jcode --mode MODE chooses it, /mode in the chat too"
	case "export":
		return "jcode sessions export writes a session to a file"
	case "login", "auth":
		return "/login in the chat takes a key, and so does the environment: jcode doctor says which"
	case "detach":
		return "jcode --detach PROMPT begins a session in the background, /detach in the chat takes one there"
	case "worktree", "worktrees":
		return "jcode --worktree begins a session in a git worktree, /worktree in the chat continues in one"
	case "remote", "phone", "browser", "web":
		return "jcode serve shows open sessions in a browser, /remote in the chat too"
	case "ps", "watch", "answer":
		return "jcode sessions " + word + " is the command"
	case "queue", "schedule", "schedules":
		return "jcode tasks queues work, lists it and has schedules; jcode worker does it"
	case "set", "settings":
		return "jcode config set KEY VALUE changes a setting"
	case "hooks", "hook":
		return "hooks are settings: /hooks in the chat lists them, docs/hooks.md describes them"
	case "man", "manual":
		return "jcode help TOPIC shows the manual, jcode --help lists commands and flags"
	case "upgrade":
		return "jcode update says whether there is a newer release"
	case "install", "uninstall":
		return "jcode is one program: it comes and goes with its package or its file"
	}
	if plural := word + "s"; line.Child(plural) != nil {
		return "it is called jcode " + plural
	}
	if word == "agent" || word == "job" {
		word += "s"
	}
	if slices.Contains(tui.OwnCommands(), word) || slices.Contains(commandsOfTheChat(), word) {
		return "in the chat /" + word + " does that"
	}
	return ""
}

// commandsOfTheChat returns the slash commands that neither the terminal nor the command line has.
func commandsOfTheChat() []string {
	return []string{"agents", "init", "jobs", "lsp", "redo", "regenerate", "private", "save", "reload-skills", "recall", "btw", "later", "loop", "goal"}
}

// isNoun reports whether a word names something that is listed, added and removed.
func isNoun(word string) bool {
	nouns := []string{"agent", "agents", "hook", "hooks", "job", "jobs", "lsp", "model", "models", "role", "session", "skill", "plugin", "tool", "doc", "permission"}
	return slices.Contains(nouns, word)
}

// isVerb reports whether a word names such an action.
func isVerb(word string) bool {
	verbs := []string{
		"add", "check", "create", "delete", "disable", "edit", "enable", "export", "get", "import", "info", "install",
		"list", "ls", "new", "remove", "rm", "run", "show", "uninstall", "update",
	}
	return slices.Contains(verbs, word)
}
