//go:build unix

package builtin_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/tools"
	"jcode/tools/builtin"
)

// Of the files that conversations have seen, those that change while a command runs are recorded
// for its caller, except for what jcode itself writes in that time. Outside a session nothing is
// recorded.
func TestFilesThatChangeWhileACommandRunsAreNotedForItsCaller(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	noted := map[string][]string{}
	seen := builtin.NewSeen(nil)
	s := newShell(t, func(o *builtin.ShellOptions) {
		o.Seen = seen
		o.Changed = func(caller tools.Caller, files map[string]time.Time) {
			mu.Lock()
			defer mu.Unlock()
			for path := range maps.Keys(files) {
				noted[caller.Session] = append(noted[caller.Session], filepath.Base(path))
			}
		}
	})
	ws, err := builtin.OpenWorkspace(s.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	list, _ := builtin.Files(ws, builtin.Options{Seen: seen})
	for _, name := range []string{"a", "b", "c", "same", "unread"} {
		if err := os.WriteFile(filepath.Join(s.root, name), []byte("old\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "unread" {
			continue
		}
		read := call("read", args{"path": name})
		read.Caller.Session = "reader"
		if _, err := list[0].Run(t.Context(), read); err != nil {
			t.Fatal(err)
		}
	}
	run := func(session, cmd string) []string {
		c := call("exec", args{"cmd": cmd})
		c.Caller.Session = session
		c.Progress = func(tools.Progress) {}
		res, err := s.exec.Run(t.Context(), c)
		if err != nil || res.Failed {
			t.Errorf("%s: %+v, %v", cmd, res, err)
		}
		mu.Lock()
		defer mu.Unlock()
		got := noted[session]
		noted[session] = nil
		slices.Sort(got)
		return got
	}
	if got := run("runner", "echo new >> a; rm b; mv unread c; echo x >> made"); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("noted %v", got)
	}
	if got := run("runner", "cat a"); got != nil {
		t.Errorf("a command that changes nothing: %v", got)
	}
	if got := run("", "echo newer >> a"); got != nil {
		t.Errorf("outside of a session: %v", got)
	}

	// What jcode writes while the command waits was not changed by the command.
	done := make(chan []string, 1)
	go func() {
		done <- run("waiting", "touch begun; while [ ! -e end ]; do sleep 0.05; done; echo newest >> a")
	}()
	eventually.True(t, "the command to begin", func() bool { _, err := os.Stat(filepath.Join(s.root, "begun")); return err == nil })
	if err := os.WriteFile(filepath.Join(s.root, "same"), []byte("by jcode\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen.Written(filepath.Join(s.root, "same"))
	if err := os.WriteFile(filepath.Join(s.root, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-done; !slices.Equal(got, []string{"a"}) {
		t.Errorf("noted %v", got)
	}
}
