//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

// A role from any layer can be edited from the list. It is re-entered if the session is in it, and can be
// deleted if it is the person's own.
func TestRolesAreEditedAndDeletedFromTheList(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("One."), modeltest.Text("Two."), modeltest.Text("Three."))
	file := c.roleFile("pirate", "---\ndescription: Talks like one\n---\nSay hello.\n")
	c.editor("s/Say .*/Say $line./; s/careful software/$line software/; s/Talks like one/Talks loudly/")
	c.env = append(c.env, "TMPDIR=/tmp") // its path is part of a line that must fit the screen
	c.start()
	c.say("/role pirate")
	c.wait("test-model  pirate")
	c.say("first")
	c.wait("One.")

	c.say("/roles")
	c.wait("Talks like one", "ctrl+e edit", "ctrl+d delete")
	c.Type("pirate")
	c.Press("ctrl+e")
	c.until(func(terminal.Screen) bool { return strings.Contains(c.Output(), "editing "+file) }) // however it wraps
	c.Type("ahoy")
	c.Press("enter")
	c.wait("Talks loudly", "entered again")
	c.Press("esc")
	c.wait("ask for something")
	c.say("second")
	c.wait("Two.")
	if sys := c.request(1).System(); !strings.Contains(sys, "Say ahoy.") || strings.Contains(sys, "Say hello.") {
		t.Errorf("after the edit the system prompt is %s", sys)
	}

	// A change by another program is noticed too.
	c.roleFile("pirate", "---\ndescription: Talks loudly\n---\nSay avast.\n")
	c.wait("roles: changed pirate, which is entered again")
	c.say("third")
	c.wait("Three.")
	if sys := c.request(2).System(); !strings.Contains(sys, "Say avast.") {
		t.Errorf("after the change the system prompt is %s", sys)
	}

	// A builtin role is edited as a copy in the database, which is then deleted.
	c.say("/roles")
	c.wait("ctrl+e edit")
	c.Type("coder")
	c.wait("the default")
	c.Press("ctrl+e")
	c.wait("coder.md")
	c.Type("reckless")
	c.Press("enter")
	c.wait("coder is kept", "database")
	c.Press("ctrl+d")
	c.wait("press ctrl+d again to delete")
	c.Press("ctrl+d")
	c.wait("deleted coder; the name means the builtin one now")
	c.Press("ctrl+d")
	c.Press("ctrl+d")
	c.wait("role coder is built in")
	c.Press("esc")
	c.wait("ask for something")

	c.say("/roles")
	c.wait("ctrl+e edit")
	c.Type("pirate")
	c.wait("Talks loudly")
	c.Press("ctrl+d")
	c.wait("press ctrl+d again to delete")
	c.Press("ctrl+d")
	c.wait("deleted pirate", "stays in it until /role")
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still there")
	}
	c.Press("esc")
	c.wait("ask for something")
	c.quit()
}

// /roles edit and /roles new open the editor too.
func TestRolesAreEditedAndMadeByName(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	file := c.roleFile("pirate", "---\ndescription: Talks like one\n---\nSay hello.\n")
	c.editor("s/description:.*/description: $line/")
	c.start()
	c.say("/roles edit pirate")
	c.until(func(terminal.Screen) bool { return strings.Contains(c.Output(), "editing "+file) })
	c.Type("talks softly")
	c.Press("enter")
	c.wait("pirate is kept")
	c.say("/roles new captain")
	c.until(func(terminal.Screen) bool {
		return strings.Contains(c.Output(), "editing "+filepath.Join(c.home, "roles", "captain.md"))
	})
	c.Type("commands")
	c.Press("enter")
	c.wait("captain is kept")
	for name, want := range map[string]string{"pirate.md": "description: talks softly", "captain.md": "description: commands"} {
		if data, err := os.ReadFile(filepath.Join(c.home, "roles", name)); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v %s", name, err, data)
		}
	}
	c.say("/roles edit nobody")
	c.wait("nobody", "/roles new nobody makes it")
	c.say("/roles new pirate")
	c.wait("already exists: /roles edit pirate")
	c.quit()
}

// What the editor saved is not applied if it is not a valid role, but it is not lost.
func TestFaultyEditOfARoleIsSaid(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.roleFile("pirate", "---\ndescription: Talks like one\n---\nSay hello.\n")
	c.editor("s/description: .*/mode: $line/")
	c.env = append(c.env, "TMPDIR=/tmp") // its path is part of a line that must fit the screen
	c.start()
	for _, name := range []string{"pirate", "coder"} {
		c.say("/roles")
		c.wait("ctrl+e edit")
		c.Type(name)
		c.Press("ctrl+e")
		c.wait("editing ", name+".md")
		c.Type("paln")
		c.Press("enter")
		c.wait(`line 2: mode: there is no mode`, "ctrl+e edit")
		c.Press("esc")
		c.wait("ask for something")
	}
	c.quit()
}

// A role from the command line that can't be entered ends the program with the reason; one from the
// configuration is only left out.
func TestStartInARoleThatCannotBeEntered(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello."))
	c.roleFile("odd", "---\ntools: [read, telepathy]\n---\nOdd.\n")
	for _, args := range [][]string{{"--role", "odd"}, {"-r=nosuch"}, {"--role", "odd", "--plain"}} {
		c.startAt("jcode: ", args...)
		if code, err := c.ExitCode(patience); err != nil || code != 2 {
			t.Errorf("%v: exit %d, %v", args, code, err)
		}
	}
	if err := os.WriteFile(filepath.Join(c.home, "config.json"), []byte(`{"prelude": {"role": "odd"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start()
	c.wait("prelude", "telepathy")
	c.say("hello")
	c.wait("Hello.")
	c.quit()
}
