//go:build linux || darwin

package cli_test

import (
	"path/filepath"
	"testing"

	"jcode/internal/testkit/modeltest"
)

func TestPromptsThatAHookRefusesComeBackIntoTheInput(t *testing.T) {
	c := newChat(t, modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "while ! test -e go; do sleep 0.05; done"})), modeltest.Text("all done"))
	put(t, filepath.Join(c.home, "config.json"),
		`{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "grep -q password && { echo no passwords >&2; exit 2; }; exit 0"}]}]}}`)
	c.start("--mode", "yolo")
	c.say("my password is x")
	c.wait("no passwords", "› my password is x")
	c.idle()
	c.Press("ctrl+u")
	c.say("do it")
	c.wait("exec while")
	c.interject("and the password")
	c.write("go", "")
	c.wait("all done", "› and the password")
	c.idle()
}
