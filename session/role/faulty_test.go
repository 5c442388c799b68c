package role_test

import (
	"testing"

	"jcode/session/role"
)

// Whatever in a role file may have been meant to limit the role, and is not understood, keeps it from being
// entered.
func TestRoleThatIsNotUnderstoodCannotBeEntered(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"blanks before the mark":       "  ---\nmode: plan\n---\nYou review.",
		"an empty pair before":         "---\n---\n---\nmode: plan\n---\nYou review.",
		"a heading before":             "# Reviewer\n\n---\nmode: plan\ntools: [read]\n---\nYou review.",
		"a comment before":             "<!-- reviewer -->\n---\ntools: [read]\n---\n",
		"text before":                  "You review.\n\n---\ndescription: x\nmode: plan\n---\n",
		"an invisible sign before":     "\u200b---\nmode: plan\n---\n",
		"two byte order marks":         "\ufeff\ufeff---\nmode: plan\n---\n",
		"a second pair":                "---\ndescription: x\n---\n---\nmode: plan\n---\n",
		"no marks":                     "mode: plan\ntools: [read]\n\nYou review.",
		"only a closing mark":          "mode: plan\n---\nYou review.",
		"marks of TOML":                "+++\nmode = \"plan\"\n+++\nYou review.",
		"a long dash":                  "\u2014\nmode: plan\n\u2014\nYou review.",
		"in a block of code":           "```yaml\nmode: plan\n```\nYou review.",
		"wrapped in a block of code":   "```markdown\n---\nmode: plan\n---\nYou review.\n```",
		"a word behind the mark":       "---yaml\nmode: plan\n---\nYou review.",
		"a list":                       "---\n- mode: plan\n---\n",
		"a list behind a key":          "---\ndescription: x\n- mode: plan\n---\n",
		"flow style":                   "---\n{mode: plan, tools: [read]}\n---\n",
		"flow style behind a key":      "---\ndescription: x\n{mode: plan}\n---\n",
		"flow style over lines":        "---\n{\n  mode: plan\n}\n---\n",
		"indented first key":           "---\n  mode: plan\n---\n",
		"indented later key":           "---\ndescription: x\n  mode: plan\n---\n",
		"key indented by a tab":        "---\ndescription: x\n\tmode: plan\n---\n",
		"no blank behind the colon":    "---\ndescription: x\nmode:plan\n---\n",
		"equals sign":                  "---\nmode = plan\n---\n",
		"explicit key":                 "---\n? mode\n: plan\n---\n",
		"merge key":                    "---\n<<: {mode: plan}\n---\n",
		"mode without a value":         "---\nmode:\n---\n",
		"mode with a value below":      "---\nmode:\n# a comment\ndescription: x\n---\n",
		"unknown mode":                 "---\nmode: read-only\n---\n",
		"allowed_tools":                "---\nallowed_tools: [read]\n---\n",
		"allowed-tools":                "---\nallowed-tools: [read]\n---\n",
		"permission_mode":              "---\npermissionMode: plan\n---\n",
		"a typo":                       "---\nmodes: plan\n---\n",
		"a key twice":                  "---\nmode: plan\nmode: yolo\n---\n",
		"not UTF-8":                    "---\ndescription: caf\xe9\nmode: plan\n---\n",
		"UTF-16":                       "\xff\xfe-\x00-\x00-\x00\n\x00m\x00o\x00d\x00e\x00:\x00 \x00p\x00l\x00a\x00n\x00",
		"never closed":                 "---\nmode: plan\nYou review.",
		"broken list of tools":         "---\ntools: [read, grep\n---\n",
		"tools as a map":               "---\ntools: {read: true}\n---\n",
		"letters that look the same":   "---\nm\u043ede: plan\n---\n",
		"a zero-width sign in the key": "---\nmo\u200bde: plan\n---\n",
	} {
		if r := role.Parse("r", []byte(text)); r.Usable() == nil {
			t.Errorf("%s: it can be entered: mode %q, tools %v, problems %v", name, r.Mode, r.Tools, r.Problems)
		}
	}
	for name, text := range map[string]string{
		"tools taken away by a pattern": "---\nname: r\ndescription: x\ndisallowedTools: Bash(git push:*)\n---\n",
		"tools taken away with a typo":  "---\nname: r\ndescription: x\ndisallowedTools: Bsh\n---\n",
		"allowed-tools":                 "---\nname: r\ndescription: x\nallowed-tools: Read\n---\n",
		"indented tools":                "---\nname: r\ndescription: x\n  tools: Read\n---\n",
		"a second pair":                 "---\nname: r\ndescription: x\n---\n---\ntools: Read\n---\n",
		"tools twice":                   "---\nname: r\ntools: Read\ntools: Read, Bash\n---\n",
	} {
		if r := role.ParseAgent("r", []byte(text)); r.Usable() == nil {
			t.Errorf("definition of an agent, %s: it can be entered: tools %v but %v", name, r.Tools, r.Disallowed)
		}
	}
}

// What limits nothing, or is only shown as an example, is no fault.
func TestRoleWithHarmlessOdditiesCanBeEntered(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no front matter":        "You review.",
		"nothing":                "",
		"a rule in the text":     "---\nmode: plan\n---\nOne.\n\n---\n\nTwo.",
		"an example":             "You write roles:\n\n```markdown\n---\nmode: plan\n---\nYou review.\n```\n",
		"keys of the writer":     "---\nx-team: core\nname: r\ncolor: blue\nmode: plan\n---\n",
		"usual spellings":        "---\ndisallowedTools: [exec]\nmax-steps: 3\nMODE: Plan\n---\n",
		"blank lines before":     "\n\n---\nmode: plan\n---\n",
		"text like a key":        "---\nmode: plan\n---\nmode: say which mode you are in\n",
		"a block of text":        "---\ndescription: |\n  Sets\n  mode: plan\n---\n",
		"a sharp sign":           "---\ndescription: fixes #12\n---\n",
		"a talkative definition": "---\nmode: plan\ndescription: Use it: often\n---\nContext:\n  user: hello\n",
	} {
		if err := role.Parse("r", []byte(text)).Usable(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	agent := "---\nname: helper\ndescription: Use this agent when: <example>user: \"x\"\\nassistant: \"y\"</example> #1\ntools: Read, Grep, NotebookRead\ndisallowedTools: Bash, NotebookEdit\nmodel: sonnet\ncolor: cyan\nmemory: project\n---\nYou help.\n\n---\n\nMore."
	if r := role.ParseAgent("helper", []byte(agent)); r.Usable() != nil || len(r.Tools) != 2 || len(r.Disallowed) != 1 {
		t.Errorf("%v: %v", r.Usable(), r.Problems)
	}
}
