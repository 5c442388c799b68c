//go:build linux || darwin

package cli_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/modeltest"
	"jcode/remote"
)

// TestAnIndependentEditorAndOtherWindowsOnOneSession: the session is one of acpx, an independent client of the Agent Client
// Protocol. Two terminals that look on, a page, a program that answers too, and a watcher follow it; one terminal is torn away, program
// and watcher lose their lines, and a prompt of acpx is killed. All know the same in the end.
func TestAnIndependentEditorAndOtherWindowsOnOneSession(t *testing.T) {
	t.Parallel()
	acpx := filepath.Join(os.Getenv("JCODE_TEST_ACPX"), "node_modules", ".bin", "acpx")
	if _, err := os.Stat(acpx); err != nil || os.Getenv("JCODE_TEST_ACPX") == "" {
		t.Skip("JCODE_TEST_ACPX names no folder with acpx: scripts/install-acp-client FOLDER installs it")
	}
	const turns = 3
	replies := []modeltest.Reply{modeltest.Text("Hello."), modeltest.Text("Hello.")}
	for i := range turns {
		replies = append(replies, modeltest.Calls(tool(fmt.Sprint("c", i), "exec", map[string]any{"cmd": fmt.Sprintf("touch made%d", i)})),
			modeltest.Text(fmt.Sprintf("Made file %d. ", i), "And ", "some ", "more ", "words.").Rate(100))
	}
	c := newChat(t, replies...)
	c.used()
	ctx, stop := context.WithTimeout(t.Context(), 3*patience)
	defer stop()
	prompt := func(args ...string) *exec.Cmd {
		cmd := c.command(acpx, append([]string{"--agent", "jcode acp", "--format", "json", "--approve-all"}, args...)...)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("acpx %q: %s", args, out.String())
			}
		})
		return cmd
	}
	for _, args := range [][]string{{"sessions", "new"}, {"prompt", "hi"}} {
		if err := prompt(args...).Run(); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
	}
	t.Cleanup(func() { _ = prompt("sessions", "close").Run() })
	place := remote.Place{Dir: filepath.Join(c.home, "run")}
	id := theOnly(ctx, t, place)
	c.another(100, 30, "is not shown in a terminal (editor, process", "attach", id)
	s := c.serve()
	session := s.opened(s.pair("phone"))
	windows := []*window{{name: "one", role: remote.Control}, {name: "watcher", role: remote.Watch}}
	var following sync.WaitGroup
	looking, leave := context.WithCancel(ctx)
	for _, w := range windows {
		w.t, w.place, w.session, w.closed, w.open, w.ready = t, place, id, map[string][]string{}, map[string]bool{}, make(chan struct{})
		following.Go(func() { w.follow(looking) })
	}
	following.Go(func() {
		for last := ""; looking.Err() == nil; {
			last = s.piece(looking, session, last, 1+rand.IntN(10))
		}
	})
	for _, w := range windows {
		<-w.ready
	}
	stays := c.another(100, 30, "Hello.", "sessions", "watch", id)
	for i := range turns {
		torn := c.another(90, 28, "Hello.", "sessions", "watch", id)
		cmd := prompt("prompt", fmt.Sprint("make file ", i))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprintf("Made file %d. And some more words.", i)
		stays.wait(said)
		if err := torn.HangUp(); err != nil {
			t.Error(err)
		}
		if i == 1 {
			_ = cmd.Process.Kill() // the session's process goes on without it
		}
		_ = cmd.Wait() // killed, or done
		eventually.Within(t, patience, fmt.Sprintf("turn %d is on the page", i), func() bool { return strings.Contains(s.get(session), said) },
			func() string { return s.get(session) })
	}
	settled(windows, turns)
	leave()
	following.Wait()
	agree(t, windows, turns, "", "one")
	page := s.get(session)
	for i := range turns {
		if n := strings.Count(page, fmt.Sprintf("Made file %d.", i)); n != 1 {
			t.Errorf("answer %d is on the page %d times", i, n)
		}
	}
}

// theOnly waits for the only open session, and returns its ID.
func theOnly(ctx context.Context, t *testing.T, place remote.Place) string {
	t.Helper()
	only := ""
	eventually.Within(t, patience, "one session is open", func() bool {
		all, err := place.Processes(ctx, "test")
		if err == nil && len(all) == 1 && len(all[0].Sessions) == 1 {
			only = all[0].Sessions[0].SessionID
		}
		return only != "" || ctx.Err() != nil
	})
	if only == "" {
		t.Fatal("no session is open")
	}
	return only
}
