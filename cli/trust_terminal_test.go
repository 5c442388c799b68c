//go:build linux || darwin

package cli_test

import (
	"testing"

	"jcode/internal/testkit/modeltest"
)

// A no to what a folder would run is remembered until that changes, is said at each start, and can be taken back.
func TestANoToAFolderIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Fine."))
	c.project(".jcode/commands/state.md", "State: !`echo from-the-shell`\n")
	c.startAt("Trust this folder?")
	c.folderAsks("echo from-the-shell")
	c.Press("esc") // not now: the next start asks again
	c.wait("ask for something")
	c.quit()

	c.startAt("Trust this folder?")
	c.folderAsks("echo from-the-shell")
	c.Press("n")
	c.wait("ask for something")
	c.quit()

	c.start()
	c.wait("not trusted here, as you answered before", "/trust asks")
	c.say("/trust")
	c.folderAsks("echo from-the-shell")
	c.Press("y")
	c.wait("ask for something")
	c.say("/state")
	c.wait("Fine.")
	c.quit()

	c.project(".jcode/commands/state.md", "State: !`echo changed`\n")
	c.startAt("Trust this folder?")
	c.folderAsks("echo changed")
	c.Press("n")
	c.wait("ask for something")
	c.quit()
}

// What a folder's settings would run and allow is a line for each, in words, without defaults.
func TestTheQuestionAboutAFolderSaysHooksAndRulesInWords(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Fine."))
	c.project(".jcode/config.json", `{
		"permissions": {"allow": ["exec(go test *)", "exec(a/b https://x.org/?q; make)"]},
		"hooks": {"PreToolUse": [{"matcher": "exec", "hooks": [{"command": "./check.sh"},
			{"command": "./scripts/look-at-commands.sh --report /tmp/report-of-the-commands.json https://x.org/?q; make", "timeout": 5, "once": true}]}]},
		"after_edit": [{"glob": "**/*.go", "cmd": "gofmt -w $FILE"}]}`)
	c.project(".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "make lint\nmake more", "async": true}]}]}}`)
	c.startAt("Trust this folder?")
	c.folderAsks("hook  PreToolUse on exec  ./check.sh", "hook  PreToolUse on exec (once: true, timeout: 5)  ./scripts/look-at-commands.sh",
		"↪ --report /tmp/report-of-the-commands.json https://x.org/?q; make", "allow exec(go test *)", "allow exec(a/b https://x.org/?q; make)",
		"after an edit of **/*.go  gofmt -w $FILE", "    hook  Stop (async: true)  make lint", "        make more")
	c.Press("n")
	c.wait("ask for something")
	c.quit()
}
