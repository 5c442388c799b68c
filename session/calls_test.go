package session_test

import (
	"slices"
	"testing"

	"jcode/session"
)

func TestCallsOfOneToolAreFoundByWhatBecameOfThem(t *testing.T) {
	s := open(t)
	v, other := newSession(t, s, "p"), newSession(t, s, "p")
	call := func(id, callID, tool, args string, status session.Status) int64 {
		seq := say(t, s, id, session.RoleAssistant, "", session.Call{ID: callID, Name: tool, Arguments: args})
		if err := s.FinishCall(t.Context(), session.Call{Session: id, Seq: seq, Status: status}); err != nil {
			t.Fatal(err)
		}
		return seq
	}
	call(v.ID, "c1", "skill", "old", session.StatusDone)
	upTo := call(v.ID, "c2", "read", "file", session.StatusDone)
	call(v.ID, "c3", "skill", "live", session.StatusDone)
	call(v.ID, "c4", "skill", "refused", session.StatusDenied)
	from := call(v.ID, "c5", "skill", "rewound", session.StatusDone)
	call(other.ID, "c6", "skill", "foreign", session.StatusDone)
	if _, err := s.Rewind(t.Context(), v.ID, from); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(t.Context(), session.Message{Session: v.ID, Role: session.RoleSummary, Parts: text("sum")}, upTo); err != nil {
		t.Fatal(err)
	}
	live, archived, err := s.CallArguments(t.Context(), v.ID, "skill")
	if err != nil || !slices.Equal(live, []string{"live"}) || !slices.Equal(archived, []string{"old"}) {
		t.Errorf("live %v, archived %v, %v", live, archived, err)
	}
}
