package skillscli

import (
	"testing"

	"jcode/internal/testkit/footers"
	"jcode/skills"
)

// The footer of a panel names only keys that do something for the row under the cursor.
func TestFootersOfSkillsNameOnlyKeysThatDoSomething(t *testing.T) {
	t.Parallel()
	footers.Check(t, map[string]footers.Row{
		"a builtin skill":   {Keys: skillRow(skills.Entry{Skill: skills.Skill{File: "builtin/x"}, State: skills.Active}).Keys, Has: []string{"enable or disable"}, Not: []string{"edit"}},
		"a skill of a file": {Keys: skillRow(skills.Entry{Skill: skills.Skill{File: "/x/SKILL.md"}, State: skills.Active}).Keys, Has: []string{"enable or disable", "edit"}},
	})
}
