//go:build linux || darwin

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/session"
)

// A damaged database is not repaired while another jcode has a session of it open: it would lose what that writes.
func TestARepairWaitsForTheEndOfOtherSessions(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	path := filepath.Join(home, "jcode.db")
	store, err := session.Open(t.Context(), path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 12 {
		s, err := store.Create(t.Context(), session.Session{ProjectID: "p", Cwd: dir})
		if err != nil {
			t.Fatal(err)
		}
		for k := range 20 {
			text := fmt.Sprintf("message %d %s", k, strings.Repeat("and so on ", 60))
			if _, err := store.History().Append(t.Context(), session.Message{Session: s.ID, Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: text}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for at := info.Size() / page / 2; at < info.Size()/page/2+4; at++ { // of messages
		if _, err := file.WriteAt(make([]byte, page), at*page); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(home, "script.jsonl")
	lines := `{"tool_calls":[{"name":"exec","arguments":{"cmd":"touch working; while [ ! -e end ]; do sleep 0.02; done"}}]}` + "\n" + `{"text":"Done."}` + "\n"
	if err := os.WriteFile(script, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	works := jcode(t.Context(), t, dir, home, "http://127.0.0.1:1", "-p", "--mode", "yolo", "-m", "replay:"+script, "work")
	if err := works.Start(); err != nil {
		t.Fatal(err)
	}
	eventually.File(t, filepath.Join(dir, "working"))
	repair := func() (string, error) {
		out, err := jcode(t.Context(), t, dir, home, "http://127.0.0.1:1", "doctor", "--offline", "--repair").CombinedOutput()
		return string(out), err
	}
	asides := func() int {
		found, err := filepath.Glob(path + ".damaged*")
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if out, err := repair(); err == nil || !strings.Contains(out, fmt.Sprintf("another jcode (process %d) works with the database: end it first", works.Process.Pid)) || asides() > 0 {
		t.Errorf("it is repaired beside a session, %d files are moved aside: %v\n%s", asides(), err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := works.Wait(); err != nil {
		t.Errorf("the session beside it: %v", err)
	}
	if out, _ := repair(); !strings.Contains(out, "repaired: what can be read was copied") {
		t.Errorf("it is not repaired afterwards:\n%s", out)
	}
}
