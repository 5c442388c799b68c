//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/filelock"
	"jcode/internal/testkit/terminal"
)

// Answering y leads through the whole tour, also without the sign-in.
func TestTheTourIsTakenInTheTerminal(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"who signs in": "y", "who does not": "esc"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChat(t)
			temp := t.TempDir()
			c.env = []string{"TMPDIR=" + temp}
			stays := leftTours(t, temp)
			c.startAt("This is a tour", "demo")
			over := func(s terminal.Screen) bool { return s.Contains("That was the tour") }
			found, signed := false, 0
			for !over(c.Screen()) {
				s, err := c.Wait(patience, func(s terminal.Screen) bool {
					found = found || s.Contains("greet.sh:4:26 nmae is not set")
					return over(s) || s.Contains("esc aside") || s.Contains("open the browser") && s.Contains("enter choose")
				})
				if err != nil {
					t.Fatal(err)
				}
				answer := "y"
				switch {
				case over(s):
					continue
				case s.Contains("y  open the browser"):
					answer = key
					signed++
				}
				c.Press(answer)
				if _, err := c.Wait(patience, func(now terminal.Screen) bool {
					found = found || now.Contains("greet.sh:4:26 nmae is not set")
					return now.Text() != s.Text() && !asksTheSame(s, now)
				}); err != nil {
					t.Fatal(err)
				}
			}
			c.idle()
			if s := c.Screen(); !s.Contains("usage") || !s.Contains("total") {
				t.Errorf("no usage is shown:\n%s", s.Text())
			}
			if !found || signed != 1 {
				t.Errorf("the language server's error shown: %v; sign-ins: %d", found, signed)
			}
			if s := c.Screen(); s.Contains("mcp 1/1") != (key == "y") {
				t.Errorf("the server is connected although nobody signed in, or not although somebody did:\n%s", s.Text())
			}
			c.quit()
			left, err := filepath.Glob(filepath.Join(temp, "jcode-tour-*"))
			if err != nil || !slices.Equal(left, stays) {
				t.Errorf("tours' folders: %v, want %v (%v)", left, stays, err)
			}
			if _, err := os.Stat(c.home + "/mcp-tokens.json"); err == nil {
				t.Error("the tour's sign-in is kept")
			}
		})
	}
}

// asksTheSame reports whether a screen shows the same dialog as an earlier one.
func asksTheSame(before, now terminal.Screen) bool {
	dialog := func(s terminal.Screen) string {
		lines := strings.Split(s.Text(), "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "─ ") {
				return strings.Join(lines[i:], "\n")
			}
		}
		return ""
	}
	a, b := dialog(before), dialog(now)
	return a != "" && b != "" && strings.Split(a, " tour · ")[0] == strings.Split(b, " tour · ")[0]
}

// leftTours makes folders as tours leave them that were killed, and others, which it returns: they must stay.
func leftTours(t *testing.T, temp string) (stays []string) {
	t.Helper()
	folder := func(name, lock string) string {
		dir := filepath.Join(temp, "jcode-tour-"+name)
		if err := os.MkdirAll(filepath.Join(dir, "home"), 0o700); err != nil {
			t.Fatal(err)
		}
		if lock == "" {
			return dir
		}
		l, err := filelock.Try(filepath.Join(dir, "running.lock"))
		if err != nil {
			t.Fatal(err)
		}
		if lock == "held" {
			t.Cleanup(func() { _ = l.Unlock() })
		} else if err := l.Unlock(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	folder("killed", "dropped")
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(folder("old", ""), old, old); err != nil {
		t.Fatal(err)
	}
	return []string{folder("begins", ""), folder("runs", "held")}
}
