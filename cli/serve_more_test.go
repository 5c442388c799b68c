//go:build linux || darwin

package cli_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/modeltest"
)

// writeHome writes a file of the user's configuration.
func (c *chat) writeHome(name, content string) {
	c.t.Helper()
	path := filepath.Join(c.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// TestThePageTakesBackAndSetsWhatTheTerminalDoes: files by name without those under a read-deny, undo, redo, rewind,
// a role, the search, an export.
func TestThePageTakesBackAndSetsWhatTheTerminalDoes(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("w", "write", map[string]any{"path": "note.txt", "content": "one\n"})), modeltest.Text("Written."),
		modeltest.Text("In the role."))
	c.write("main.go", "package main\n")
	c.write("secret_main.pem", "key\n")
	c.writeHome("config.json", `{"permissions": {"deny": ["read(**/*.pem)"]}}`)
	c.writeHome("roles/terse.md", "---\ndescription: says little\n---\nSay little.\n")
	c.start("--mode", "edits")
	c.say("write a note")
	c.wait("Written.")
	c.idle()
	s := c.serve()
	session := s.opened(s.pair("phone"))
	if names := s.get(session + "/files?q=main"); !strings.Contains(names, "main.go") || strings.Contains(names, "secret") {
		t.Errorf("files: %s", names)
	}
	s.body(s.post(session+"/undo", nil), http.StatusOK)
	if _, err := os.Stat(filepath.Join(c.dir, "note.txt")); err == nil {
		t.Error("the note is still there")
	}
	c.wait("phone: Undid")
	s.body(s.post(session+"/undo", url.Values{"redo": {"yes"}}), http.StatusOK)
	if c.read("note.txt") != "one\n" {
		t.Error("the note is not back")
	}
	if more := s.get(session + "/more"); !strings.Contains(more, `<option value="terse">terse: says little`) {
		t.Errorf("more: %s", more)
	}
	s.body(s.post(session+"/role", url.Values{"name": {"terse"}}), http.StatusOK)
	c.wait("phone set role terse")
	s.body(s.post(session+"/prompt", url.Values{"text": {"and a needle"}}), http.StatusOK)
	c.wait("In the role.")
	c.idle()
	if !strings.Contains(c.last().System(), "Say little.") {
		t.Error("the role is not in force")
	}
	// The page follows the session, and may be a moment behind the terminal.
	eventually.True(t, "the prompt is found", func() bool { return strings.Contains(s.get(session+"/search?q=NEEDLE"), "<mark>needle</mark>") })
	if found := s.get(s.home + "/search?q=needle"); !strings.Contains(found, "/s/") {
		t.Errorf("found everywhere: %s", found)
	}
	if doc := s.get(session + "/export/md"); !strings.Contains(doc, "and a needle") || !strings.Contains(doc, "In the role.") {
		t.Errorf("export: %s", doc)
	}
	page := s.get(session)
	i := strings.LastIndex(page, "/rewind?seq=")
	seq, _, _ := strings.Cut(page[i+len("/rewind?seq="):], `"`)
	back := s.body(s.post(session+"/rewind", url.Values{"seq": {seq}, "what": {""}}), http.StatusOK)
	if !strings.Contains(back, "and a needle</textarea>") || strings.Contains(back, "In the role.") {
		t.Errorf("rewound: %s", back)
	}
	c.wait("phone rewound the conversation")
	c.quit()
}

// TestARoleThatLimitsIsLeftAtTheTerminal: whoever is elsewhere may not do more than the terminal allows itself.
func TestARoleThatLimitsIsLeftAtTheTerminal(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello."))
	c.writeHome("roles/looker.md", "---\ndescription: only looks\ntools: [read]\n---\nLook.\n")
	c.start("--role", "looker")
	c.say("hi")
	c.wait("Hello.")
	c.idle()
	s := c.serve()
	session := s.opened(s.pair("phone"))
	if said := s.body(s.post(session+"/role", url.Values{"name": {""}}), http.StatusConflict); !strings.Contains(said, "limits what may be done") {
		t.Error(said)
	}
	c.quit()
}

// TestANewSessionOfThePageRunsInTheBackground where jcode was used, and begins with words.
func TestANewSessionOfThePageRunsInTheBackground(t *testing.T) {
	t.Parallel()
	c := background(t, modeltest.Text("Hello."), modeltest.Text("From the page."))
	c.start()
	c.say("hi")
	c.wait("Hello.")
	c.idle()
	c.quit()
	s := c.serve()
	s.pair("phone")
	if html := s.get(s.home + "/new"); !strings.Contains(html, "<option>"+c.dir+"</option>") {
		t.Fatal(html)
	}
	for _, text := range []string{"/mode yolo", " !touch made"} {
		if said := s.body(s.post(s.home+"/new", url.Values{"folder": {c.dir}, "text": {text}}), http.StatusConflict); !strings.Contains(said, "in words") {
			t.Error(said)
		}
	}
	res := s.post(s.home+"/new", url.Values{"folder": {c.dir}, "text": {"begin -- with this"}})
	session := res.Request.URL.String()
	s.body(res, http.StatusOK)
	for until := time.Now().Add(patience); !strings.Contains(s.get(session), "From the page."); {
		if time.Now().After(until) {
			t.Fatal(s.get(session))
		}
	}
	if got := c.last().Prompt().Content; !strings.Contains(got, "begin -- with this") {
		t.Errorf("prompt %q", got)
	}
	if out, err := c.jcode("", "sessions", "stop", "--end"); err != nil {
		t.Errorf("%v %s", err, out)
	}
	c.nothingRuns()
}

// TestWhatFailsBeforeItListensIsHeard: the reason and the exit code reach whoever began a session in the background.
func TestWhatFailsBeforeItListensIsHeard(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	if err := os.MkdirAll(c.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.home, "run"), nil, 0o600); err != nil { // where the folder of the sockets should be
		t.Fatal(err)
	}
	began := time.Now()
	out, err := c.jcode("", "--detach", "hi")
	if err == nil || !strings.Contains(out, "did not begin") || !strings.Contains(out, filepath.Join(c.home, "run")) {
		t.Errorf("%v %s", err, out)
	}
	if took := time.Since(began); took > patience {
		t.Errorf("it was said after %s", took)
	}
}
