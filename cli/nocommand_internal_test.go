package cli

import (
	"strings"
	"testing"

	"jcode/tui"
)

// A word that names a chat command is never sent to a model by mistake, and what a hint names exists.
func TestNamesOfChatCommandsAreNoPrompts(t *testing.T) {
	known, line := slashCommands(t), wholeLine(t)
	names := map[string]bool{}
	for _, name := range known {
		names[name] = true
		if line.Child(name) == nil && name != "help" && noCommand(line, []string{name}) == "" { // jcode help is --help
			t.Errorf("jcode %s would be sent as a prompt", name)
		}
	}
	for _, name := range commandsOfTheChat() {
		if !names[name] || line.Child(name) != nil {
			t.Errorf("/%s is no command of the chat alone", name)
		}
	}
	if len(known) <= len(tui.OwnCommands()) {
		t.Error("the other rooms' commands are missing")
	}
}

func TestPromptsAreNotTakenForCommands(t *testing.T) {
	t.Parallel()
	line := wholeLine(t)
	for _, words := range []string{
		"hello", "agents are broken", "models of the solar system", "find tests", "run the tests", "fix undo", "skill issue", "tool calls",
		"new file", "sessions", "mcp add x y", "-p undo", "undo --plain", "-- undo", "update", "role model",
	} {
		if hint := noCommand(line, strings.Fields(words)); hint != "" {
			t.Errorf("%s: %s", words, hint)
		}
	}
	if hint := noCommand(line, []string{"agents list"}); hint != "" {
		t.Errorf("a quoted prompt: %s", hint)
	}
	for _, words := range []string{"session list", "skill new x", "agents", "job", "model list", "man", "upgrade", "tool"} {
		if noCommand(line, strings.Fields(words)) == "" {
			t.Errorf("%s is sent as a prompt", words)
		}
	}
}
