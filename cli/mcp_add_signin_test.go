//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/mcptest"
)

// After a server that requires a sign-in is added, the browser opens at once in a terminal; a script is told
// what to run.
func TestAddingAServerBeginsItsSignIn(t *testing.T) {
	t.Parallel()
	c, srv := signInChat(t)
	put(t, filepath.Join(c.home, "mcp.json"), `{}`)
	out, err := c.jcode("", "mcp", "add", "scripted", srv.Endpoint())
	if err != nil || !strings.Contains(out, "scripted: added to") || !strings.Contains(out, "it asks for a sign-in: jcode mcp login scripted") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(c.home, "visited")); err == nil {
		t.Error("a browser was opened without a terminal")
	}
	c.startAt("signed in; kept in", "mcp", "add", "issues", srv.Endpoint())
	if s := c.Screen(); !s.Contains("issues: added to") || !s.Contains("Sign in to issues?") {
		t.Errorf("%s", s.Text())
	}
	if out, err := c.jcode("", "mcp", "call", "issues", "echo", `{"text":"hi"}`); err != nil || !strings.Contains(out, "hi") {
		t.Errorf("%v: %s", err, out)
	}
	// If the person is signed in at that address, no other name for it asks again.
	if out, err := c.jcode("", "mcp", "add", "again", srv.Endpoint()); err != nil || strings.Contains(out, "sign-in") {
		t.Errorf("%v: %s", err, out)
	}
}

// A server that requires no sign-in, has credentials, or is not reachable is added as well.
func TestAddingAServerThatNeedsNoSignIn(t *testing.T) {
	t.Parallel()
	c, srv := signInChat(t)
	put(t, filepath.Join(c.home, "mcp.json"), `{}`)
	plain := mcptest.NewHTTP("ok")
	t.Cleanup(func() { plain.CloseClientConnections(); plain.Close() })
	gone := mcptest.NewHTTP("ok")
	gone.Close()
	for name, c2 := range map[string]struct {
		args []string
		want string
	}{
		"plain": {[]string{plain.Endpoint()}, ""},
		"keyed": {[]string{srv.Endpoint(), "-H", "authorization: Bearer x"}, ""},
		"gone":  {[]string{gone.Endpoint()}, "gone: not reached to see whether it asks for a sign-in"},
		"json":  {[]string{srv.Endpoint(), "--json"}, ""},
	} {
		out, err := c.jcode("", append([]string{"mcp", "add", name}, c2.args...)...)
		if err != nil || c2.want == "" && strings.Contains(out, "sign-in") || !strings.Contains(out, c2.want) || !strings.Contains(out, "mcp.json") {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
