//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/mcptest"
	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

// signInChat is a chat with a server that requires a sign-in, and a browser that follows every redirect at once.
func signInChat(t *testing.T, replies ...modeltest.Reply) (*chat, *mcptest.OAuthServer) {
	t.Helper()
	return signInChatIn(t, "ok", replies...)
}

// signInChatIn is signInChat with a server that has a fault.
func signInChatIn(t *testing.T, mode string, replies ...modeltest.Reply) (*chat, *mcptest.OAuthServer) {
	t.Helper()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is missing")
	}
	srv := mcptest.NewOAuth(mode)
	t.Cleanup(srv.Close)
	c := newChat(t, replies...)
	put(t, filepath.Join(c.home, "mcp.json"), `{"mcpServers": {"issues": {"url": "`+srv.Endpoint()+`"}}}`)
	browser := filepath.Join(c.home, "browser")
	put(t, browser, "#!/bin/sh\necho \"$1\" >> '"+c.home+"/visited'\nexec '"+curl+"' -s -L -o /dev/null \"$1\"\n")
	c.env = []string{"BROWSER=" + browser, "JCODE_MCP_TOKENS=file"}
	return c, srv
}

// After one sign-in on the command line scripts work, until a sign-out.
func TestSignInByCommandLine(t *testing.T) {
	t.Parallel()
	c, srv := signInChat(t, modeltest.Text("Without."), modeltest.Text("With."))
	out, err := c.jcode("", "-p", "go")
	if err != nil || strings.Count(out, "needs sign-in") != 1 || !strings.Contains(out, "jcode mcp login issues") || !strings.Contains(out, "Without.") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := c.jcode("", "mcp", "test", "issues"); err == nil || !strings.Contains(out, "needs sign-in") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := c.jcode("", "mcp", "login", "issues"); err != nil || !strings.Contains(out, "signed in; kept in "+filepath.Join(c.home, "mcp-tokens.json")) {
		t.Fatalf("%v: %s", err, out)
	}
	for _, args := range [][]string{{"mcp", "test", "issues"}, {"mcp", "tools", "--url", srv.Endpoint()}, {"mcp", "call", "issues", "echo", `{"text":"hi"}`}, {"-p", "again"}} {
		if out, err := c.jcode("", args...); err != nil || strings.Contains(out, "access-") {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
	if _, ok := c.request(1).Tool("mcp__issues__echo"); !ok {
		t.Error("its tools are not offered")
	}
	for _, args := range [][]string{{"mcp", "get", "issues"}, {"mcp", "list"}} {
		if out, _ := c.jcode("", args...); strings.Contains(out, "access-") || strings.Contains(out, "refresh-") {
			t.Errorf("%v shows a token: %s", args, out)
		}
	}
	if out, err := c.jcode("", "mcp", "logout", "issues"); err != nil || !strings.Contains(out, "signed out") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := c.jcode("", "mcp", "test", "issues"); err == nil {
		t.Errorf("still signed in: %s", out)
	}
	if visited, err := os.ReadFile(filepath.Join(c.home, "visited")); err != nil || strings.Count(string(visited), "\n") != 1 {
		t.Errorf("%v: visited %s", err, visited)
	}
}

// The chat asks, opens the browser, and connects; Esc ends a sign-in.
func TestChatSignsIn(t *testing.T) {
	t.Parallel()
	c, _ := signInChat(t, modeltest.Text("Hello."))
	c.startAt("Sign in to ")
	c.signInAsks()
	c.Press("esc")
	if _, err := c.Wait(patience, func(s terminal.Screen) bool { return !s.Contains("open the browser") }); err != nil {
		t.Fatal(err)
	}
	c.say("/mcp login issues")
	c.signInAsks()
	c.Press("y")
	c.wait("mcp 1/1")
	c.say("go")
	c.wait("Hello.")
	if _, ok := c.request(0).Tool("mcp__issues__echo"); !ok {
		t.Error("its tools are not offered")
	}
	c.quit()
}

// signInAsks waits until the dialog accepts keys.
func (c *chat) signInAsks() {
	c.t.Helper()
	_, err := c.Wait(patience, func(s terminal.Screen) bool {
		return s.Contains("y  open the browser") && s.Contains("rights: read, offline_access") && !s.Contains(strings.Repeat("─", s.Cols))
	})
	if err != nil {
		c.t.Fatal(err)
	}
}
