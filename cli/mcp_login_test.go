//go:build linux || darwin

package cli_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The rights that a call lacked are asked for by the next login, though the call was made by another process.
func TestLoginAsksForTheRightsThatACallLacked(t *testing.T) {
	t.Parallel()
	c, _ := signInChatIn(t, "stepup")
	login := func() {
		t.Helper()
		if out, err := c.jcode("", "mcp", "login", "issues"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	call := func() (string, error) { return c.jcode("", "mcp", "call", "issues", "echo", `{"text":"hi"}`) }
	login()
	if out, err := call(); err == nil || !strings.Contains(out, "needs a sign-in with more rights") || !strings.Contains(out, "write") {
		t.Fatalf("%v: %s", err, out)
	}
	login()
	if out, err := call(); err != nil || !strings.Contains(out, "hi") {
		t.Errorf("%v: %s", err, out)
	}
	visited, err := os.ReadFile(filepath.Join(c.home, "visited"))
	pages := strings.Fields(string(visited))
	if err != nil || len(pages) != 2 {
		t.Fatalf("%v: %s", err, visited)
	}
	if u, err := url.Parse(pages[1]); err != nil || u.Query().Get("scope") != "read offline_access write" {
		t.Errorf("%v: %s", err, pages[1])
	}
}

// A login with the client's own credentials opens no browser, and an authorization server that fails for the moment is
// named as that.
func TestLoginOfAClientOpensNoBrowser(t *testing.T) {
	t.Parallel()
	c, srv := signInChat(t)
	put(t, filepath.Join(c.home, "mcp.json"), `{"mcpServers": {"issues": {"url": "`+srv.Endpoint()+`",
		"oauth": {"grant": "client_credentials", "client_id": "robot", "client_secret_env": "ROBOT"}}}}`)
	c.env = append(c.env, "ROBOT=s3cret")
	if out, err := c.jcode("", "mcp", "login", "issues"); err != nil || !strings.Contains(out, "signed in; kept in") {
		t.Errorf("%v: %s", err, out)
	}
	srv.Expire()
	srv.FailTokens(1000)
	out, err := c.jcode("", "mcp", "call", "issues", "echo", `{"text":"hi"}`)
	if err == nil || !strings.Contains(out, "get a token at") || !strings.Contains(out, "status 503") || strings.Contains(out, "needs sign-in") {
		t.Errorf("%v: %s", err, out)
	}
	srv.FailTokens(0)
	if out, err := c.jcode("", "mcp", "call", "issues", "echo", `{"text":"hi"}`); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(c.home, "visited")); err == nil {
		t.Error("a browser was opened")
	}
	if out, err := c.jcode("", "mcp", "logout", "issues"); err != nil || !strings.Contains(out, "signed out") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := c.jcode("", "mcp", "logout", "issues"); err != nil || !strings.Contains(out, "there was no sign-in in "+filepath.Join(c.home, "mcp-tokens.json")) {
		t.Errorf("%v: %s", err, out)
	}
}
