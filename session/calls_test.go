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

func TestSkillsInMessagesAreFoundByWhatBecameOfThem(t *testing.T) {
	s := open(t)
	v := newSession(t, s, "p")
	add := func(role, body string, more ...session.Part) int64 {
		t.Helper()
		seq, err := s.AppendMessage(t.Context(), session.Message{Session: v.ID, Role: role, Parts: append(text(body), more...)})
		if err != nil {
			t.Fatal(err)
		}
		return seq
	}
	skill := func(name string) session.Part { return session.Part{Kind: session.PartSkill, Text: name} }
	upTo := add(session.RoleUser, "first", skill("old@1"))
	add(session.RoleUser, `the words "kind":"skill" in a text`)
	add(session.RoleUser, "second", skill("live@2"))
	add(session.RoleAssistant, "no person", skill("foreign"))
	from := add(session.RoleUser, "third", skill("rewound"))
	if _, err := s.Rewind(t.Context(), v.ID, from); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(t.Context(), session.Message{Session: v.ID, Role: session.RoleSummary, Parts: text("sum")}, upTo); err != nil {
		t.Fatal(err)
	}
	live, archived, err := s.PromptParts(t.Context(), v.ID, session.PartSkill)
	if err != nil || !slices.Equal(live, []string{"live@2"}) || !slices.Equal(archived, []string{"old@1"}) {
		t.Errorf("live %v, archived %v, %v", live, archived, err)
	}
}
