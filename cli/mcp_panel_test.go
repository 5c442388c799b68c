//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMCPPanelFollowsItsServers: states change in the open panel without a key, and its keys act.
func TestMCPPanelFollowsItsServers(t *testing.T) {
	t.Parallel()
	open := filepath.Join(t.TempDir(), "open")
	put(t, open, "")
	s := withServers(newChat(t), map[string]string{"good": "until=" + open, "off-": "ok"})
	s.start()
	s.wait("mcp 1/1")
	s.Type("/mcp")
	s.wait("connect, disconnect") // the menu
	s.Press("enter")
	s.wait("›   good", "9 tools", "disabled", "enter connect or restart")
	if err := os.Remove(open); err != nil { // without this file the server cannot restart
		t.Fatal(err)
	}
	if err := syscall.Kill(s.counted("good", 1, 0)[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.wait("retry 1")
	put(t, open, "")
	s.wait("9 tools") // it came back
	s.Press("ctrl+d")
	s.wait("disconnected by the user")
	s.Press("enter")
	s.wait("9 tools")
	s.Press("down")
	s.wait("›   off")
	s.Press("ctrl+e")
	s.wait("mcp 2/2")
	data, err := os.ReadFile(filepath.Join(s.home, "mcp.json"))
	if err != nil || strings.Contains(string(data), "false") {
		t.Errorf("it is not switched on in the file: %s %v", data, err)
	}
	s.Press("esc")
	s.wait("ask for something")
	for _, step := range [][]string{
		{"/mcp good", "good: connected, 9 tools"},
		{"/mcp disconnect good", "good is disconnected, 9 tools gone"},
		{"/mcp reload", "unchanged: good, off"},
		{"/mcp approve off", "nothing of off waits for approval"},
		{"/mcp nonsense", `not "nonsense", which is`, "not a server either"},
		{"/mcp log nobody", "known servers: good, off"},
		{"/mcp connect", "name a server: /mcp connect NAME"},
	} {
		s.say(step[0])
		s.wait(step[1:]...)
	}
	s.Type("/mcp disc")
	s.wait("› disconnect")
	s.Press("tab")
	s.Type(" of")
	s.wait("› disconnect off")
	s.Press("tab", "enter")
	s.wait("off is disconnected")
	s.quit()
}
