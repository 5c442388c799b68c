package skillscli

import (
	"slices"
	"testing"

	"jcode/session"
)

func TestSkillsOfAHistoryAreFoundByWhatBecameOfThem(t *testing.T) {
	call := func(args string, status session.Status) session.Call {
		return session.Call{Name: "skill", Arguments: args, Status: status}
	}
	skill := []session.Part{{Kind: session.PartText, Text: `"kind":"skill"`}, {Kind: session.PartSkill, Text: "typed@1"}}
	live, archived := skillsIn([]session.Message{
		{Role: session.RoleUser, Parts: skill, Archived: 9},
		{Role: session.RoleAssistant, Calls: []session.Call{call(`{"name":"old"}`, session.StatusDone)}, Archived: 9},
		{Role: session.RoleUser, Parts: skill},
		{Role: session.RoleAssistant, Calls: []session.Call{
			call(`{"name":"called"}`, session.StatusDone), call(`{"name":"refused"}`, session.StatusDenied), call(`{`, session.StatusDone),
			{Name: "read", Arguments: `{"name":"file"}`, Status: session.StatusDone},
		}},
	})
	if !slices.Equal(live, []string{"typed@1", "called"}) || !slices.Equal(archived, []string{"typed@1", "old"}) {
		t.Errorf("live %v, archived %v", live, archived)
	}
}
