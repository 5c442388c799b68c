package skillscli

import (
	"slices"
	"testing"

	"jcode/skills"
	"jcode/tools/command"
)

// The footer of a panel names only keys that do something for the row under the cursor.
func TestFootersOfSkillsNameOnlyKeysThatDoSomething(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		row      command.Row
		has, not []string
	}{
		"a builtin skill":   {skillRow(skills.Entry{Skill: skills.Skill{File: "builtin/x"}, State: skills.Active}), []string{"enable or disable"}, []string{"edit"}},
		"a skill of a file": {skillRow(skills.Entry{Skill: skills.Skill{File: "/x/SKILL.md"}, State: skills.Active}), []string{"enable or disable", "edit"}, nil},
	} {
		for _, key := range tc.has {
			if !slices.Contains(tc.row.Keys, key) {
				t.Errorf("%s: no key for %q: %q", name, key, tc.row.Keys)
			}
		}
		for _, key := range tc.not {
			if tc.row.Keys == nil || slices.Contains(tc.row.Keys, key) {
				t.Errorf("%s: a key for %q: %q", name, key, tc.row.Keys)
			}
		}
	}
}
