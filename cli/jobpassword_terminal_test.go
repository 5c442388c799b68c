//go:build linux || darwin

package cli_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/testkit/modeltest"
)

func TestAPasswordForAJobIsInNoRequestDatabaseOrLog(t *testing.T) {
	t.Parallel()
	const password = "battery-staple-9"
	c := newChat(t,
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": `bash -c 'read -rsp "Password for ann: " p; echo; [ ${#p} = 16 ] && echo signed in; read -r wait'`, "tty": true})),
		modeltest.Calls(tool("c2", "job", map[string]any{"action": "wait", "id": 1, "pattern": "signed in", "timeout_ms": 60000})),
		modeltest.Calls(tool("c3", "job", map[string]any{"action": "kill", "id": 1})),
		modeltest.Text("It is signed in."))
	c.start("--mode", "yolo", "--debug")
	c.say("sign in")
	c.wait("Password for ann:", "goes to it alone", "esc cancel") // accepts keys now
	c.Type(password)
	c.wait("••••")
	c.Press("enter")
	c.wait("enter send")
	c.Press("enter")
	c.wait("It is signed in.")
	c.idle()
	if shown := c.Screen().Text(); bytes.Contains([]byte(shown), []byte(password)) {
		t.Errorf("the screen shows it:\n%s", shown)
	}
	c.quit()
	if len(c.srv.Requests()) < 4 {
		t.Fatalf("%d requests", len(c.srv.Requests()))
	}
	if raw := c.last().Raw; !bytes.Contains(raw, []byte("the pattern is there")) {
		t.Errorf("the program did not get it:\n%s", raw)
	}
	for n, r := range c.srv.Requests() {
		if bytes.Contains(r.Raw, []byte(password)) {
			t.Errorf("request %d has it:\n%s", n, r.Raw)
		}
	}
	files := 0
	if err := filepath.WalkDir(c.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(password)) {
			t.Errorf("%s has it", path)
		}
		return err
	}); err != nil || files < 3 {
		t.Errorf("%d files, %v", files, err)
	}
}
