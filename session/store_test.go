package session_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/testkit/leaks"
	"jcode/session"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(child(role))
	}
	leaks.Main(m)
}

func open(t testing.TB) *session.Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "jcode.db"))
}

func openAt(t testing.TB, path string) *session.Store {
	t.Helper()
	s, err := session.Open(t.Context(), path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func text(s string) []session.Part { return []session.Part{{Kind: session.PartText, Text: s}} }

func newSession(t testing.TB, s *session.Store, project string) session.Session {
	t.Helper()
	v, err := s.Create(t.Context(), session.Session{ProjectID: project, Cwd: "/w/" + project, Model: "m", Mode: "ask"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func say(t testing.TB, s *session.Store, id, role, words string, calls ...session.Call) int64 {
	t.Helper()
	seq, err := s.History().Append(context.Background(), session.Message{Session: id, Role: role, Parts: text(words), Calls: calls})
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

func history(t testing.TB, s *session.Store, id string) []session.Message {
	t.Helper()
	all, err := s.History().All(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestHistoryComesBackWithItsCalls(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := newSession(t, s, "p")
	say(t, s, v.ID, session.RoleUser, "fix the bug\nplease")
	args := "{\"path\": \"a\xff"
	seq := say(t, s, v.ID, session.RoleAssistant, "", session.Call{ID: "c1", Name: "read", Wire: "read", Arguments: args}, session.Call{ID: "c2", Name: "ls"})
	if err := s.History().StartCall(t.Context(), v.ID, seq, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.History().FinishCall(t.Context(), session.Call{Session: v.ID, Seq: seq, Index: 0, Status: session.StatusDone, Result: "ok\x00\xfe", Data: []byte(`{"a":1}`)}); err != nil {
		t.Fatal(err)
	}
	all := history(t, s, v.ID)
	if len(all) != 2 || len(all[1].Calls) != 2 {
		t.Fatalf("got %+v", all)
	}
	c := all[1].Calls[0]
	if c.Arguments != args || c.Result != "ok\x00\xfe" || c.Status != session.StatusDone || string(c.Data) != `{"a":1}` || c.Ended.IsZero() || c.Seq != seq || c.Session != v.ID {
		t.Errorf("call came back as %+v", c)
	}
	if all[1].Calls[1].Status != session.StatusPending {
		t.Errorf("second call is %s", all[1].Calls[1].Status)
	}
	got, err := s.Get(t.Context(), v.ID)
	if err != nil || got.Title != "fix the bug" || got.FirstPrompt != "fix the bug" || got.Messages != 2 || got.TitleSource != session.TitleAuto {
		t.Errorf("session is %+v, %v", got, err)
	}
}
