//go:build linux || darwin

package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

func TestTheWebIsSearchedWithAServiceOfThePersons(t *testing.T) {
	t.Parallel()
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("q")+" "+r.Header.Get("X-Subscription-Token"))
		io.WriteString(w, `{"web":{"results":[{"title":"Tide tables","url":"https://tides.example/","description":"High water at four."}]}}`)
	}))
	t.Cleanup(srv.Close)
	c := newChat(t, modeltest.Calls(tool("c1", "web_search", map[string]any{"query": "high water today"})), modeltest.Text("At four."))
	config := fmt.Sprintf(`{"web_search":{"engine":"brave","url":%q,"key_env":"TIDES"}}`, srv.URL)
	if err := os.WriteFile(filepath.Join(c.home, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	// A project cannot redirect searches to another address.
	c.project(".jcode/config.json", `{"web_search":{"engine":"searxng","url":"https://elsewhere.example"}}`)
	c.env = append(c.env, "TIDES=secret-of-tides")
	c.startAt("ask for something")
	c.say("when is high water?")
	c.answerable("Search the web (brave): high water today")
	c.Press("y")
	c.wait("At four.")
	c.idle()
	if len(asked) != 1 || asked[0] != "high water today secret-of-tides" {
		t.Errorf("the service was asked %q", asked)
	}
	if got := c.answered(1, "c1"); !strings.Contains(got, "1. Tide tables\n   https://tides.example/\n   High water at four.") {
		t.Errorf("the model got %q", got)
	}
	c.say("!echo key: $TIDES")
	c.wait("✓ ! echo key")
	if c.Screen().Contains("secret-of-tides") {
		t.Error("a command got the key")
	}
	c.quit()
	cmd := c.command("jcode", "doctor", "--offline")
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "web_search asks "+srv.URL+", key from TIDES") {
		t.Errorf("doctor says\n%s", out)
	}
}
