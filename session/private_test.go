package session_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"jcode/session"
)

// onDisk reports which files below a folder hold a text.
func onDisk(t *testing.T, dir, text string) (in []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(text)) {
			in = append(in, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

const marker = "zanzibar-marker"

// converse fills a session with one row of each kind that a session can have.
func converse(t *testing.T, s *session.Store, id, dir string) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	text := func(s string) []session.Part { return []session.Part{{Kind: session.PartText, Text: s}} }
	_, _, err := s.Begin(ctx, session.Session{ID: id, Cwd: dir, ProjectID: "p"}, session.Message{Role: session.RoleUser, Parts: text("prompt " + marker)})
	must(err)
	seq, err := s.History().Append(ctx, session.Message{
		Session: id, Role: session.RoleAssistant, Parts: text("answer " + marker), Usage: &session.Usage{Input: 7, Cost: 0.5},
		Calls: []session.Call{{ID: "c1", Name: "exec", Wire: "exec", Arguments: `{"cmd":"` + marker + `"}`}},
	})
	must(err)
	must(s.History().StartCall(ctx, id, seq, 0))
	must(s.History().FinishCall(ctx, session.Call{Session: id, Seq: seq, Index: 0, ID: "c1", Status: session.StatusDone, Result: "result " + marker}))
	must(s.Todos().Set(ctx, id, json.RawMessage(`["`+marker+`"]`)))
	must(s.History().AddShown(ctx, id, []session.Shown{{Kind: "notice", Data: []byte(marker)}}))
	_, err = s.SetAutoTitle(ctx, id, "title "+marker)
	must(err)
	_, err = s.Grants().Add(ctx, session.Grant{Scope: session.GrantSession, Session: id, Key: "exec(" + marker + ")"})
	must(err)
	file := filepath.Join(dir, "a.txt")
	must(os.WriteFile(file, []byte("before"), 0o600))
	done, err := s.Checkpoints().Track(ctx, id, 1, []string{file})
	must(err)
	must(os.WriteFile(file, []byte("after"), 0o600))
	must(done(ctx, session.Written{}))
	must(s.Agents().Save(ctx, session.Agent{Session: id + "-child", Parent: id, Project: "p", Name: marker, State: "done"}))
}

// told is everything that a store returns about a session.
func told(t *testing.T, s *session.Store, id string) []any {
	t.Helper()
	ctx := t.Context()
	row, err := s.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	row.Private = false
	rows, err := s.History().All(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	todo, err := s.Todos().Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := s.History().Shown(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := s.Checkpoints().Changes(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	grants, err := s.Grants().List(ctx, id, "p")
	if err != nil {
		t.Fatal(err)
	}
	for i := range grants {
		grants[i].ID = 0
	}
	return []any{row, rows, string(todo), shown, changes, grants}
}

func TestASessionInMemoryIsLikeOthersAndNothingOfItIsInTheFile(t *testing.T) {
	t.Parallel()
	home, work := t.TempDir(), t.TempDir()
	s, err := session.Open(t.Context(), filepath.Join(home, "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	const id = "01900000-0000-7000-8000-000000000001"
	for _, in := range []string{id, id + "-child"} {
		if err := s.Memory().Keep(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	if hold, err := s.Hold(id); err != nil || hold.Release() != nil {
		t.Fatal(err)
	}
	converse(t, s, id, work)
	fork, err := s.Fork(ctx, id, 0)
	if err != nil || !fork.Private || !s.Memory().Has(fork.ID) {
		t.Fatalf("the fork is %+v, %v", fork, err)
	}
	if all, err := s.List(ctx, session.Filter{ProjectID: "p"}); err != nil || len(all) != 2 || !all[0].Private {
		t.Errorf("listed %+v, %v", all, err)
	}
	if found, err := s.Find(ctx, "p", id[len(id)-6:]); err != nil || found.ID != id {
		t.Errorf("found %+v, %v", found, err)
	}
	if in := onDisk(t, home, marker); in != nil {
		t.Errorf("it is in %v", in)
	}
	if report, err := s.Checkpoints().Undo(ctx, id); err != nil || len(report.Restored) != 1 {
		t.Errorf("undo %+v, %v", report, err)
	}
	if _, err := s.Checkpoints().Redo(ctx, id); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if in := onDisk(t, home, marker); in != nil {
		t.Errorf("after the end it is in %v", in)
	}
	again, err := session.Open(ctx, filepath.Join(home, "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if all, err := again.List(ctx, session.Filter{All: true, Kind: session.KindAny}); err != nil || len(all) != 0 {
		t.Errorf("after the end there are %v, %v", all, err)
	}
}

func TestASavedSessionIsInTheFileFromItsBeginning(t *testing.T) {
	t.Parallel()
	home, work := t.TempDir(), t.TempDir()
	ctx := t.Context()
	s, err := session.Open(ctx, filepath.Join(home, "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.Create(ctx, session.Session{ProjectID: "p", Title: "another"}) // so that keys differ
	if err != nil {
		t.Fatal(err)
	}
	const id, secret = "01900000-0000-7000-8000-000000000002", "01900000-0000-7000-8000-000000000003"
	for _, in := range []string{id, id + "-child", secret} {
		if err := s.Memory().Keep(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Begin(ctx, session.Session{ID: secret, ProjectID: "p"}, session.Message{Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: "stays-hidden"}}}); err != nil {
		t.Fatal(err)
	}
	converse(t, s, id, work)
	_, _, err = s.Begin(ctx, session.Session{ID: id + "-child", ParentID: id, Kind: session.KindTask, ProjectID: "p"},
		session.Message{Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: "assignment"}}})
	if err != nil {
		t.Fatal(err)
	}
	before := told(t, s, id)
	if err := s.Memory().Persist(ctx, id); err != nil {
		t.Fatal(err)
	}
	if s.Memory().Has(id) || !s.Memory().Has(secret) {
		t.Error("the wrong session moved")
	}
	if after := told(t, s, id); !reflect.DeepEqual(after, before) {
		t.Errorf("saved it is\n%+v\nwant\n%+v", after, before)
	}
	if err := s.Memory().Persist(ctx, id); err != nil { // a second call changes nothing
		t.Error(err)
	}
	if _, err := s.History().Append(ctx, session.Message{Session: id, Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: "later"}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := session.Open(ctx, filepath.Join(home, "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if rows, err := again.History().All(ctx, id); err != nil || len(rows) != 3 {
		t.Errorf("%d messages, %v", len(rows), err)
	}
	if hits, err := again.Search(ctx, marker, "p", 10); err != nil || len(hits) == 0 {
		t.Errorf("a search finds %v, %v", hits, err)
	}
	if agents, err := again.Agents().List(ctx, id); err != nil || len(agents) != 1 {
		t.Errorf("agents %v, %v", agents, err)
	}
	if child, err := again.Get(ctx, id+"-child"); err != nil || child.ParentID != id {
		t.Errorf("child %+v, %v", child, err)
	}
	if _, err := again.Get(ctx, other.ID); err != nil {
		t.Error(err)
	}
	if in := onDisk(t, home, "stays-hidden"); in != nil {
		t.Errorf("the other session is in %v", in)
	}
	if report, err := again.Checkpoints().Undo(ctx, id); err != nil || len(report.Restored) != 1 {
		t.Errorf("undo %+v, %v", report, err)
	}
}

func TestASessionIsSavedWhileItIsUsed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := session.Open(ctx, filepath.Join(t.TempDir(), "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const id = "01900000-0000-7000-8000-000000000004"
	if err := s.Memory().Keep(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Begin(ctx, session.Session{ID: id, ProjectID: "p"}, session.Message{Role: session.RoleUser}); err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 25 {
				if err := s.History().AddShown(ctx, id, []session.Shown{{Kind: "notice", Data: []byte("x")}}); err != nil {
					t.Error(err)
				}
				if _, err := s.History().All(ctx, id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if err := s.Memory().Persist(ctx, id); err != nil {
		t.Error(err)
	}
	work.Wait()
	if shown, err := s.History().Shown(ctx, id); err != nil || len(shown) != 100 {
		t.Errorf("%d were kept, %v", len(shown), err)
	}
}
