package session_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/filelock"
	"jcode/session"
)

// sound checks the integrity of the file.
func sound(t *testing.T, path string) {
	t.Helper()
	db := raw(t, path)
	var verdict string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %s, %v", verdict, err)
	}
	var dangling int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pragma_foreign_key_check").Scan(&dangling); err != nil || dangling > 0 {
		t.Errorf("%d dangling rows, %v", dangling, err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO search (search) VALUES ('integrity-check')"); err != nil {
		t.Errorf("search index: %v", err)
	}
}

// raw opens the file without the store.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_busy_timeout=10000")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestKilledProcessLosesNothingThatWasCommitted(t *testing.T) {
	t.Parallel()
	rounds := 50
	if testing.Short() {
		rounds = 5
	}
	path := filepath.Join(t.TempDir(), "jcode.db")
	s := openAt(t, path)
	id := newSession(t, s, "p").ID
	random := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		p := spawn(t, "forever", path, id)
		var said []string
		for range 1 + random.IntN(40) {
			line, ok := p.line()
			if !ok {
				t.Fatalf("round %d: the child ended: %s", round, p.stderr.String())
			}
			said = append(said, line)
		}
		said = append(said, p.kill()...)
		checkSaid(t, s, id, said)
		n, err := s.History().InterruptOpenCalls(t.Context(), id, "interrupted")
		if err != nil || n > 2 {
			t.Fatalf("round %d: %d calls interrupted, %v", round, n, err)
		}
		say(t, s, id, session.RoleUser, fmt.Sprintf("go on %d", round))
	}
	all := history(t, s, id)
	for i, m := range all {
		if m.Seq != int64(i+1) || m.Broken != "" {
			t.Fatalf("message %d is %+v", i, m)
		}
		for _, c := range m.Calls {
			if c.Status == session.StatusPending || c.Status == session.StatusRunning {
				t.Errorf("call %s is %s", c.ID, c.Status)
			}
		}
	}
	v, err := s.Get(t.Context(), id)
	if err != nil || v.Messages != len(all) {
		t.Errorf("%d messages counted, %d there, %v", v.Messages, len(all), err)
	}
	sound(t, path)
}

// checkSaid checks that everything a child reported as committed is in the file.
func checkSaid(t *testing.T, s *session.Store, id string, said []string) {
	t.Helper()
	state := map[string]session.Status{}
	for _, m := range history(t, s, id) {
		state[fmt.Sprint("message ", m.Seq)] = session.StatusDone
		for _, c := range m.Calls {
			state[fmt.Sprint("call ", m.Seq, " ", c.Index)] = c.Status
		}
	}
	for _, line := range said[1:] {
		if state[line] != session.StatusDone {
			t.Errorf("%q was reported as committed and is %q", line, state[line])
		}
	}
}

func TestProcessesShareOneFile(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			turns := "200"
			if testing.Short() {
				turns = "20"
			}
			path := filepath.Join(t.TempDir(), "jcode.db")
			var children []*process
			for range n {
				children = append(children, spawn(t, "turns", path, turns))
			}
			var ids []string
			for _, c := range children {
				line, _ := c.line()
				ids = append(ids, strings.TrimPrefix(line, "session "))
			}
			// The pipes are small, so all of them are read at the same time.
			done := make(chan struct{}, n)
			for _, c := range children {
				go func() { c.succeed(); done <- struct{}{} }()
			}
			for range children {
				<-done
			}
			s := openAt(t, path)
			for _, id := range ids {
				all := history(t, s, id)
				if want := 2 * len(all) / 2; len(all) == 0 || fmt.Sprint(want/2) != turns {
					t.Errorf("session %s has %d messages", id, len(all))
				}
				for _, m := range all {
					if m.Role == session.RoleAssistant && (len(m.Calls) != 2 || m.Calls[1].Status != session.StatusDone) {
						t.Fatalf("message %+v", m)
					}
				}
			}
			sound(t, path)
		})
	}
}

func TestFirstStartsAtOnce(t *testing.T) {
	t.Parallel()
	for round := range 5 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(round), "jcode.db")
		var children []*process
		for range 3 {
			c := spawn(t, "starter", path, "")
			if line, _ := c.line(); line != "ready" {
				t.Fatalf("child printed %q: %s", line, c.stderr.String())
			}
			children = append(children, c)
		}
		for _, c := range children {
			if _, err := c.in.Write([]byte("go\n")); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range children {
			c.succeed()
		}
		s := openAt(t, path)
		if len(s.Notices()) > 0 {
			t.Error(s.Notices())
		}
		all, err := s.List(t.Context(), session.Filter{All: true})
		if err != nil || len(all) != 3 {
			t.Errorf("%d sessions, %v", len(all), err)
		}
	}
}

func TestProgramsLeaveEverythingBehindThem(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jcode.db")
	for range 20 {
		spawn(t, "leaver", path, "").succeed()
		if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 2<<20 {
			t.Fatalf("the log has grown to %d bytes", info.Size())
		}
	}
	s := openAt(t, path)
	all, err := s.List(t.Context(), session.Filter{All: true})
	if err != nil || len(all) != 20 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	for _, v := range all {
		if n := len(history(t, s, v.ID)); n != 10 {
			t.Errorf("session %s has %d messages", v.ID, n)
		}
	}
	sound(t, path)
}

func TestHoldEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jcode.db")
	s := openAt(t, path)
	id := newSession(t, s, "p").ID
	p := spawn(t, "holder", path, id)
	if line, _ := p.line(); line != "held" {
		t.Fatalf("child printed %q: %s", line, p.stderr.String())
	}
	var held *session.HeldError
	if _, err := s.Hold(id); !errors.As(err, &held) || runtime.GOOS != "windows" && held.PID != p.cmd.Process.Pid {
		t.Errorf("second hold: %v, want process %d", err, p.cmd.Process.Pid)
	}
	p.kill()
	h, err := s.Hold(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Hold(id); !errors.As(err, &held) {
		t.Errorf("hold in one process: %v", err)
	}
	if err := errors.Join(h.Release(), h.Release()); err != nil {
		t.Fatal(err)
	}
	again, err := s.Hold(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Hold("../x"); err == nil {
		t.Error("a bad ID was held")
	}
}

// If a process is killed while it starts a child, the child holds its lock for a moment.
func TestHoldOfADeadProcessIsWaitedFor(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("children have no part in the locks of their parent")
	}
	path := filepath.Join(t.TempDir(), "jcode.db")
	s := openAt(t, path)
	id := newSession(t, s, "p").ID
	p := spawn(t, "holder", path, id)
	if line, _ := p.line(); line != "held" {
		t.Fatalf("child printed %q: %s", line, p.stderr.String())
	}
	p.kill()
	left, err := filelock.Wait(t.Context(), filepath.Join(filepath.Dir(path), "locks", id+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	freed := make(chan error, 1)
	time.AfterFunc(50*time.Millisecond, func() { freed <- left.Unlock() })
	h, err := s.Hold(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-freed, h.Release()); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBrokenRowsDontSpoilTheSession(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jcode.db")
	s := openAt(t, path)
	id := newSession(t, s, "p").ID
	say(t, s, id, session.RoleUser, "one")
	say(t, s, id, session.RoleAssistant, "two", session.Call{ID: "a", Name: "read"}, session.Call{ID: "b", Name: "read"}, session.Call{ID: "c", Name: "read"})
	for _, w := range []string{"three", "four", "five", "six", "seven"} {
		say(t, s, id, session.RoleUser, w)
	}
	db := raw(t, path)
	for _, q := range []string{
		`UPDATE messages SET parts = '[{"kind":"text","te' WHERE seq = 3`,
		`UPDATE messages SET parts = x'', usage = '{' WHERE seq = 4`,
		`UPDATE messages SET role = 'martian' WHERE seq = 5`,
		`UPDATE messages SET created = 'yesterday', usage = '{"input_tokens":"x"}', archived_by = 'x' WHERE seq = 6`,
		`UPDATE tool_calls SET status = 'odd', data = '{', parts = '[', started = 'x' WHERE call_id = 'b'`,
		`PRAGMA foreign_keys = 0`,
		`INSERT INTO tool_calls (message, idx, call_id, name, wire, arguments, status) SELECT (session << 24) + 77, 0, 'orphan', 'read', '', '', 'done' FROM messages LIMIT 1`,
		`INSERT INTO tool_calls (message, idx, call_id, name, wire, arguments, status) SELECT (session << 24) + 1, 0, 'misplaced', 'read', '', '', 'done' FROM messages LIMIT 1`,
	} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	all := history(t, s, id)
	if len(all) != 7 || all[6].Text() != "seven" {
		t.Fatalf("%d messages", len(all))
	}
	for i, broken := range []bool{false, false, true, true, true, false, false} {
		if (all[i].Broken != "") != broken {
			t.Errorf("message %d: broken = %q", i+1, all[i].Broken)
		}
	}
	if c := all[1].Calls; len(c) != 3 || c[1].Status != session.StatusInterrupted || c[1].Data != nil {
		t.Errorf("calls %+v", all[1].Calls)
	}
	if _, err := s.Fork(t.Context(), id, 0); err != nil {
		t.Errorf("fork: %v", err)
	}
	if _, err := s.Search(t.Context(), "three four", "", 0); err != nil {
		t.Errorf("search: %v", err)
	}
}

func TestInterruptedCallerGetsItsErrorAndWritesNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := newSession(t, s, "p").ID
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.History().Append(ctx, session.Message{Session: id, Role: session.RoleUser, Parts: text("x")}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := len(history(t, s, id)); n != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestLostPagesCostOnlyWhatWasOnThem(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jcode.db")
	s, err := session.Open(t.Context(), path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	id := newSession(t, s, "p").ID
	for i := range 300 {
		seq := say(t, s, id, session.RoleAssistant, fmt.Sprintf("%d %s", i, strings.Repeat("word ", 300)), session.Call{ID: "c", Name: "read"})
		if err := s.History().FinishCall(t.Context(), session.Call{Session: id, Seq: seq, Status: session.StatusDone, Result: strings.Repeat("out ", 300)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 40 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			spoiled := slices.Clone(whole)
			page := 1 + random.IntN(len(spoiled)/4096-1)
			for i := range 4096 {
				spoiled[page*4096+i] = byte(random.Uint32())
			}
			path := filepath.Join(t.TempDir(), "jcode.db")
			write(t, path, string(spoiled))
			s := openAt(t, path)
			if len(s.Notices()) > 0 {
				return // a page of the schema: reported, and a new file was created
			}
			all, err := s.History().All(t.Context(), id)
			if err != nil {
				if !strings.Contains(err.Error(), "damaged") && !errors.Is(err, session.ErrNotFound) {
					t.Errorf("page %d: %v", page, err)
				}
				return
			}
			broken, calls, whole := 0, 0, 0
			for _, m := range all {
				calls += len(m.Calls)
				if m.Broken != "" {
					broken++
				} else {
					whole++
				}
			}
			if (whole < 300 || calls < 300) && broken == 0 {
				t.Errorf("page %d: %d messages, %d calls and nothing is reported", page, whole, calls)
			}
			if whole < 250 {
				t.Errorf("page %d: only %d messages are left", page, whole)
			}
		})
	}
}
