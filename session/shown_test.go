package session_test

import (
	"slices"
	"testing"
	"time"

	"jcode/session"
)

func TestWhatWasShownStandsWhereItWasSeen(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := newSession(t, s, "p")
	at := time.UnixMilli(1000)
	show := func(what ...string) {
		t.Helper()
		var list []session.Shown
		for _, w := range what {
			list = append(list, session.Shown{At: at, Kind: "notice", Data: []byte(w)})
		}
		if err := s.History().AddShown(t.Context(), v.ID, list); err != nil {
			t.Fatal(err)
		}
	}
	seen := func(id string) (out []string) {
		t.Helper()
		all, err := s.History().Shown(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			out = append(out, string(x.Data)+"@"+string(rune('0'+x.After)))
			if !x.At.Equal(at) || x.Kind != "notice" {
				t.Errorf("%+v", x)
			}
		}
		return out
	}
	show("hello")
	say(t, s, v.ID, session.RoleUser, "one")
	show("refused", "interrupted")
	say(t, s, v.ID, session.RoleAssistant, "answer")
	say(t, s, v.ID, session.RoleUser, "two")
	show("undone")
	if got := seen(v.ID); !slices.Equal(got, []string{"hello@0", "refused@1", "interrupted@1", "undone@3"}) {
		t.Errorf("shown %q", got)
	}
	fork, err := s.Fork(t.Context(), v.ID, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := seen(fork.ID); !slices.Equal(got, []string{"hello@0", "refused@1", "interrupted@1"}) {
		t.Errorf("the fork shows %q", got)
	}
	if _, err := s.History().Rewind(t.Context(), v.ID, 3); err != nil {
		t.Fatal(err)
	}
	if got := seen(v.ID); !slices.Equal(got, []string{"hello@0", "refused@1", "interrupted@1"}) {
		t.Errorf("after a rewind %q", got)
	}
	if err := s.Delete(t.Context(), v.ID); err != nil {
		t.Fatal(err)
	}
	if got := seen(v.ID); got != nil {
		t.Errorf("a deleted session shows %q", got)
	}
	if err := s.History().AddShown(t.Context(), fork.ID, []session.Shown{{Kind: "x", Data: make([]byte, 100<<10)}}); err == nil {
		t.Error("too much is kept")
	}
}
