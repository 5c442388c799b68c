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

// A skill is listed, switched off permanently, edited on disk while the chat is open, and run by name.
func TestSkillsInTheTerminal(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Ahoy!"))
	c.project(".jcode/skills/greeting/SKILL.md", "---\nname: greeting\ndescription: Greets people.\n---\nSay hello.\n")
	c.start()
	c.say("/skills")
	c.wait("greeting", "Greets people.", "active", "skill-writer")
	c.Type("greet")
	c.Press("enter")
	c.wait("greeting is off")
	if text := c.readHome("config.json"); !strings.Contains(text, `"greeting"`) {
		t.Errorf("not kept: %s", text)
	}
	c.Press("enter")
	c.wait("greeting is on")
	c.Press("esc")
	c.wait("ask for something")

	c.project(".jcode/skills/greeting/SKILL.md", "---\nname: greeting\ndescription: Greets people.\n---\nSay ahoy.\n")
	c.wait("skills: changed greeting")

	c.say("/skills new second-one")
	c.wait("skills: added second-one")

	c.say("/greeting the captain")
	c.wait("Ahoy!")
	if text := c.request(0).Prompt().Content; !strings.Contains(text, "Say ahoy.") || !strings.Contains(text, "The user's request: the captain") {
		t.Errorf("asked: %s", text)
	}
	c.quit()
}

// A skill edited from the list takes effect at once; the editor has the terminal until it ends, then the list is
// back.
func TestSkillIsEditedFromTheList(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Ahoy!"))
	c.project(".jcode/skills/greeting/SKILL.md", "---\nname: greeting\ndescription: Greets people.\n---\nSay hello.\n")
	c.editor("s/Say .*/Say $line./; s/Greets people/Greets sailors/")
	c.start()
	c.say("/skills")
	c.wait("Greets people.", "ctrl+e edit")
	c.Press("ctrl+e")
	c.until(func(s terminal.Screen) bool { // however its path wraps
		return s.Contains("editing ") && strings.Contains(c.Output(), ".jcode/skills/greeting/SKILL.md")
	})
	c.Type("ahoy")
	c.Press("enter")
	c.wait("Greets sailors.", "skills: changed greeting", "ctrl+e edit")
	c.Type("lua-tools") // the list accepts keys again
	c.Press("ctrl+e")
	c.wait("a builtin skill cannot be edited")
	c.Press("esc")
	c.wait("ask for something")
	c.say("/greeting")
	c.wait("Ahoy!")
	if text := c.request(0).Prompt().Content; !strings.Contains(text, "Say ahoy.") {
		t.Errorf("asked: %s", text)
	}
	c.quit()
}

// A skill that the person runs by name is recorded as loaded: only in this session, also after a resume and
// after a compaction.
func TestSkillStartedByNameStaysLoaded(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("One."), modeltest.Text("Two."), modeltest.Text("Three."), modeltest.Text("Four."), modeltest.Text("Five."), modeltest.Text("Six."))
	c.srv.Route(func(r modeltest.Request) (modeltest.Reply, bool) {
		return modeltest.Text("A summary."), strings.Contains(string(r.Raw), "Summarise this conversation")
	})
	c.project(".jcode/skills/greeting/SKILL.md", "---\nname: greeting\ndescription: Greets people.\n---\nSay ahoy.\n")
	given := func(n int, want bool) {
		t.Helper()
		if text := c.request(n).Prompt().Content; strings.Contains(text, "Say ahoy.") != want {
			t.Errorf("request %d: the skill's text given is %v: %s", n, !want, text)
		}
	}
	c.start()
	c.say("/greeting one")
	c.wait("One.")
	given(0, true)
	c.say("/greeting two")
	c.wait("Two.")
	given(1, false)
	c.say("/new")
	c.wait("Carry the last exchange over")
	c.Press("enter")
	c.wait("ask for something")
	c.say("/greeting three")
	c.wait("Three.")
	given(2, true)
	c.quit()

	c.start("-c")
	c.wait("Three.")
	c.say("/greeting four")
	c.wait("Four.")
	given(3, false)
	c.say("fill")
	c.wait("Five.")
	c.say("/compact")
	c.wait("was summarised")
	c.say("after it")
	c.wait("Six.")
	if sys := c.last().System(); !strings.Contains(sys, "loaded earlier and still apply") || !strings.Contains(sys, "Say ahoy.") {
		t.Errorf("after the compaction the system prompt is %s", sys)
	}
	c.quit()
}

// What a project's files would run is asked about once, before anything of it runs.
func TestFolderIsAskedAboutBeforeItsFilesRun(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Fine."))
	c.project(".jcode/commands/state.md", "State: !`echo from-the-shell`\n")
	c.project(".jcode/config.json", `{"permissions": {"allow": ["exec(echo *)"]}}`)
	c.project(".mcp.json", `{"mcpServers": {"odd": {"command": "no-such-program", "args": ["--flag"]}}}`)
	c.project(".jcode/lua/tools/shout/mcp_tool.json", `{"name": "shout", "description": "Shouts.", "inputSchema": {"type": "object", "properties": {}}}`)
	c.project(".jcode/lua/tools/shout/main.lua", `return "HEY"`)
	c.startAt("Trust this folder?")
	c.folderAsks("echo from-the-shell", "permissions.allow", "no-such-program --flag", "shout")
	c.Press("y")
	c.wait("rules of this project apply now")
	if s := c.wait("ask for something"); s.Contains("Trust the Lua") {
		t.Error("asked twice about Lua")
	}
	c.say("/state")
	c.wait("Fine.")
	if text := c.request(0).Prompt().Content; !strings.Contains(text, "State: from-the-shell") {
		t.Errorf("asked: %s", text)
	}
	c.quit()
}

// The prelude runs a command first, and a start continues the last session.
func TestPreludeSaysHowAStartBegins(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Looked."), modeltest.Text("Again."))
	if err := os.WriteFile(filepath.Join(c.home, "config.json"), []byte(`{"prelude": {"session": "continue", "command": "/look here"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c.project(".jcode/commands/look.md", "Look $1.\n")
	c.start()
	c.wait("Looked.")
	if text := c.request(0).Prompt().Content; text != "Look here." {
		t.Errorf("asked: %s", text)
	}
	c.quit()
	c.startAt("Again.")
	if first, last := c.request(1).Messages[1].Content, c.request(1).Prompt().Content; first != "Look here." || last != "Look here." {
		t.Errorf("asked %q after %q", last, first)
	}
	c.quit()
}

// A file or skill cannot take the place of a command of jcode's own.
func TestBuiltinCommandsKeepTheirNames(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	for _, name := range []string{"undo", "quit", "init"} {
		c.project(".jcode/commands/"+name+".md", "EVIL $ARGUMENTS\n")
		c.project(".jcode/skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: EVIL\n---\nEVIL\n")
	}
	c.start()
	c.say("/undo")
	c.wait("no messages yet")
	c.Type("/in")
	if s := c.wait("write or improve AGENTS.md"); s.Contains("EVIL") {
		t.Errorf("a file has the name:\n%s", s.Text())
	}
	c.Press("ctrl+c") // clears the line
	c.wait("ask for something")
	c.say("/quit")
	if code, err := c.ExitCode(patience); err != nil || code != 0 {
		t.Errorf("exit %d, %v", code, err)
	}
}

// A skill's allowed-tools apply after the person has approved them, until the turn ends.
func TestAllowedToolsHoldForTheTurn(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("c1", "skill", map[string]any{"name": "maker"})),
		modeltest.Calls(tool("c2", "exec", map[string]any{"cmd": "touch made-one"}), tool("c3", "exec", map[string]any{"cmd": "rm -f made-none"})),
		modeltest.Text("One is made."),
		modeltest.Calls(tool("c4", "exec", map[string]any{"cmd": "touch made-two"})),
		modeltest.Text("Two is not."),
	)
	c.project(".jcode/skills/maker/SKILL.md", "---\nname: maker\ndescription: Makes files.\nallowed-tools: exec(touch *)\n---\nTouch it.\n")
	c.startAt("Trust this folder?")
	c.folderAsks("exec(touch *)")
	c.Press("y")
	c.wait("ask for something")
	c.say("make one")
	s := c.answerable("rm -f made-none") // nothing else is allowed by it
	if _, err := os.Stat(filepath.Join(c.dir, "made-one")); err != nil {
		t.Errorf("the allowed command did not run unasked:\n%s", s.Text())
	}
	c.Press("n")
	c.wait("One is made.")
	c.say("make two")
	c.answerable("touch made-two") // the turn has ended, and the rule with it
	c.Press("n")
	c.wait("Two is not.")
	if _, err := os.Stat(filepath.Join(c.dir, "made-two")); err == nil {
		t.Error("it ran all the same")
	}
	c.quit()
}

// A Lua tool that is added, changed or removed between turns is reported, like a skill.
func TestLuaToolFromOutsideIsSaidWhileTheChatIsIdle(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello."))
	c.start("--trust")
	c.say("hi") // waits until the tools that existed at the start are loaded
	c.wait("Hello.")
	c.idle()
	c.project(".jcode/lua/tools/shout/mcp_tool.json", `{"name": "shout", "description": "Shouts.", "inputSchema": {"type": "object", "properties": {}}}`)
	c.project(".jcode/lua/tools/shout/main.lua", `return "HEY"`)
	c.wait("lua: added shout")
	c.project(".jcode/lua/tools/shout/main.lua", `return "HO"`)
	c.wait("lua: changed shout")
	if err := os.RemoveAll(filepath.Join(c.dir, ".jcode", "lua", "tools", "shout")); err != nil {
		t.Fatal(err)
	}
	c.wait("lua: removed shout")
	c.quit()
}
