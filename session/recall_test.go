package session_test

import (
	"fmt"
	"strings"
	"testing"

	"jcode/session"
)

func TestRecallFindsWhatWasSaidInOtherWords(t *testing.T) {
	t.Parallel()
	s := open(t)
	old := newSession(t, s, "p")
	say(t, s, old.ID, session.RoleUser, "How do we deploy the shop?")
	say(t, s, old.ID, session.RoleAssistant, "Deployments go through the script release.sh.", session.Call{ID: "c", Name: "read", Wire: "read", Arguments: `{"path":"secret-zanzibar"}`})
	if err := s.History().FinishCall(t.Context(), session.Call{Session: old.ID, Seq: 2, Status: session.StatusDone, Result: "zanzibar"}); err != nil {
		t.Fatal(err)
	}
	other := newSession(t, s, "q")
	say(t, s, other.ID, session.RoleUser, "We deploy elsewhere.")
	now := newSession(t, s, "p")
	say(t, s, now.ID, session.RoleUser, "deploying again")
	for question, want := range map[string]int{
		"which script was used for deploying things": 1, "release": 1, "zanzibar": 0, "secret-zanzibar": 0, "": 0, "\"*( OR NEAR": 0, "the of and": 0, "\x00\xff": 0,
	} {
		hits, err := s.Recall(t.Context(), question, "p", 5, now.ID)
		if err != nil || len(hits) != want {
			t.Errorf("%q: %+v, %v", question, hits, err)
		}
		for _, h := range hits {
			if h.Session.ID != old.ID || len(h.Marks) == 0 {
				t.Errorf("%q: %+v", question, h)
			}
		}
	}
}

func TestRecallFindsAProjectAmongMany(t *testing.T) {
	t.Parallel()
	s := open(t)
	mine := newSession(t, s, "p")
	say(t, s, mine.ID, session.RoleUser, "the harbour, at length and among other things that weigh less in a long text of many words, as it is")
	for range 3 {
		id := newSession(t, s, "q").ID
		for range 150 {
			say(t, s, id, session.RoleUser, "harbour")
		}
	}
	hits, err := s.Recall(t.Context(), "harbour", "p", 3)
	if err != nil || len(hits) != 1 || hits[0].Session.ID != mine.ID {
		t.Errorf("%+v, %v", hits, err)
	}
}

func TestRecallSeesNoPrivateSession(t *testing.T) {
	t.Parallel()
	s := open(t)
	id, err := session.NewID()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Memory().Keep(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Begin(t.Context(), session.Session{ID: id, ProjectID: "p"}, session.Message{Role: session.RoleUser, Parts: text("zanzibar")}); err != nil {
		t.Fatal(err)
	}
	if hits, err := s.Recall(t.Context(), "zanzibar", "p", 3); err != nil || len(hits) > 0 {
		t.Errorf("%+v, %v", hits, err)
	}
}

// BenchmarkRecall searches 10,000 sessions of six messages each: the budget is 100 ms.
func BenchmarkRecall(b *testing.B) {
	s := open(b)
	words := strings.Fields("parser harbour invoice deploy release server timeout error retry cache index token screen colour keyboard terminal session database migration schema")
	var first []string
	for i := range 20 {
		id := newSession(b, s, "p1").ID
		first = append(first, id)
		for j := range 6 {
			say(b, s, id, session.RoleUser, strings.Repeat(fmt.Sprintf("The %s of the %s is slow because the %s of number%d does not fit. ", words[(i+j)%20], words[(i*3+j)%20], words[(i*7+j)%20], i), 6))
		}
	}
	for i := len(first); i < 10000; i++ { // a copy is one transaction
		if _, err := s.Fork(b.Context(), first[i%20], 0); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if hits, err := s.Recall(b.Context(), "why was the deployment of the invoice server slow, number7", "p1", 5); err != nil || len(hits) == 0 {
			b.Fatal(hits, err)
		}
	}
}
