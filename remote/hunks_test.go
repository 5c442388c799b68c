package remote_test

import (
	"strings"
	"testing"

	"jcode/agent/event"
	"jcode/internal/diff"
	"jcode/remote"
	"jcode/tools"
)

// TestSingleHunksAreTakenOverTheLine: whoever attaches reads which there are, and those that do not exist, or that
// would hold longer than once, are refused.
func TestSingleHunksAreTakenOverTheLine(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	old := "one\n" + strings.Repeat("same\n", 20) + "two\n"
	now := strings.NewReplacer("one", "uno", "two", "dos").Replace(old)
	ask := func(id, tool string) {
		s.conv.open(id)
		s.conv.Emit(event.ApprovalAsked{ID: id, Question: tools.Question{
			Tool: tool, Title: "Edit list.txt", Diff: diff.Files("list.txt", &old, &now).Text,
			Options: []tools.AnswerOption{{Scope: tools.AnswerOnce, Label: "once"}, {Scope: tools.AnswerSession, Label: "for this session"}, {Scope: tools.AnswerNo, Label: "no"}},
		}})
	}
	ask("q", "edit")
	c := s.connect("phone")
	at := c.attach(remote.Control, nil)
	asked := ""
	for _, line := range at.Now {
		asked += string(line)
	}
	if want := `"hunks":[{"file":"list.txt","line":1,"added":1,"removed":1,"diff":"@@`; !strings.Contains(asked, want) || !strings.Contains(asked, `"line":22`) {
		t.Errorf("no %s in %s", want, asked)
	}
	for _, hunks := range [][]int{{2}, {-1}, {0, 0}, {}} {
		c.refusal("answer", map[string]any{"session": "s1", "id": "q", "option": 0, "hunks": hunks})
	}
	if got := c.refusal("answer", remote.Answer{Session: "s1", ID: "q", Option: 1, Hunks: []int{1}}); !strings.Contains(got, "once") {
		t.Error(got)
	}
	if err := c.Call(t.Context(), "answer", remote.Answer{Session: "s1", ID: "q", Option: 0, Hunks: []int{1}}, nil); err != nil {
		t.Error(err)
	}
	ask("whole", "exec") // nothing of it can be taken alone
	c.until("approval_asked")
	c.refusal("answer", remote.Answer{Session: "s1", ID: "whole", Option: 0, Hunks: []int{1}})
	if err := c.Call(t.Context(), "answer", remote.Answer{Session: "s1", ID: "whole", Option: 2, Hunks: []int{1}}, nil); err != nil {
		t.Errorf("a no that names hunks: %v", err)
	}
	if got := strings.Join(s.conv.done(), ", "); got != "phone: once [1], phone: no" {
		t.Errorf("done: %s", got)
	}
}
