package role_test

import (
	"testing"

	"jcode/session/role"
)

// Further ways to write a restriction so that it is not in force: each is understood, or keeps the role from being
// entered.
func TestNoSpellingOfARestrictionIsSilentlyWithoutEffect(t *testing.T) {
	t.Parallel()
	restricted := func(r role.Role) bool {
		return r.Mode == "plan" || r.Tools != nil && len(r.Tools) <= 1 || r.Disallowed != nil || r.Capabilities != nil || r.Hooks != nil
	}
	for name, text := range map[string]string{
		"line ends of old Macs":              "---\rmode: plan\r---\rYou review.",
		"mixed line ends":                    "---\r\nmode: plan\n---\r\nYou review.",
		"next line as a line end":            "---\u0085mode: plan\u0085---\u0085You review.",
		"line separator as a line end":       "---\u2028mode: plan\u2028---\u2028You review.",
		"form feed before":                   "\f---\nmode: plan\n---\n",
		"vertical tab before the key":        "---\n\vmode: plan\n---\n",
		"no-break blank before the key":      "---\n\u00a0mode: plan\n---\n",
		"ideographic blank before the key":   "---\n\u3000mode: plan\n---\n",
		"soft hyphen in the key":             "---\nmo\u00adde: plan\n---\n",
		"word joiner in the key":             "---\nmode\u2060: plan\n---\n",
		"full-width colon":                   "---\nmode\uff1a plan\n---\n",
		"full-width key":                     "---\n\uff4d\uff4f\uff44\uff45: plan\n---\n",
		"capital key":                        "---\nMODE: plan\n---\n",
		"value in capitals":                  "---\nmode: PLAN\n---\n",
		"value in quotes with blanks":        "---\nmode: \" plan \"\n---\n",
		"value with a comment":               "---\nmode: plan # only look\n---\n",
		"value as a list":                    "---\nmode: [plan]\n---\n",
		"value as a block":                   "---\nmode: |\n  plan\n---\n",
		"value as a folded block":            "---\nmode: >-\n  plan\n---\n",
		"value with a tag":                   "---\nmode: !!str plan\n---\n",
		"value as an anchor":                 "---\nmode: &m plan\n---\n",
		"value as an alias":                  "---\nx-m: &m plan\nmode: *m\n---\n",
		"value with an invisible sign":       "---\nmode: pl\u200ban\n---\n",
		"value of another alphabet":          "---\nmode: pl\u0430n\n---\n",
		"value over two lines":               "---\nmode:\n  plan\n---\n",
		"quoted key":                         "---\n\"mode\": plan\n---\n",
		"key in single quotes":               "---\n'mode': plan\n---\n",
		"key with an escape":                 "---\n\"m\\u006fde\": plan\n---\n",
		"key with a tag":                     "---\n!!str mode: plan\n---\n",
		"key with an anchor":                 "---\n&k mode: plan\n---\n",
		"dots as the closing mark":           "---\nmode: plan\n...\nYou review.",
		"dots, then another part":            "---\ndescription: x\n...\n---\nmode: plan\n---\n",
		"a directive before":                 "%YAML 1.2\n---\nmode: plan\n---\n",
		"a shebang before":                   "#!/usr/bin/jcode\n---\nmode: plan\n---\n",
		"a comment of HTML around":           "<!--\n---\nmode: plan\n---\n-->\n",
		"four dashes":                        "----\nmode: plan\n----\n",
		"two dashes":                         "--\nmode: plan\n--\n",
		"stars":                              "***\nmode: plan\n***\n",
		"JSON":                               "{\"mode\": \"plan\", \"tools\": [\"read\"]}\n\nYou review.",
		"JSON between the marks":             "---\n{\"mode\": \"plan\"}\n---\n",
		"JSON with a mark of its own":        "---json\n{\"mode\": \"plan\"}\n---\n",
		"TOML between the marks":             "---\nmode = 'plan'\n---\n",
		"in the text of another key":         "---\ndescription: x\n mode: plan\n---\n",
		"after a key without a value":        "---\nskills:\n  mode: plan\n---\n",
		"under a key that groups":            "---\npermissions:\n  mode: plan\n---\n",
		"under settings":                     "---\nsettings: {mode: plan, tools: [read]}\n---\n",
		"tools with stars taken for all":     "---\ntools: [\"*\"]\ndisallowed_tools: [exec]\n---\n",
		"tools of nobody":                    "---\ntools: \"\"\n---\n",
		"tools as a text with line ends":     "---\ntools: |\n  read\n---\n",
		"tools with a minus":                 "---\ntools: -exec\n---\n",
		"tools with an exclamation mark":     "---\ntools: \"!exec\"\n---\n",
		"disallow, a shorter word":           "---\ndisallow: [exec]\n---\n",
		"deny":                               "---\ndeny: [exec]\n---\n",
		"denied_tools":                       "---\ndenied_tools: [exec]\n---\n",
		"blocked":                            "---\nblocked: [exec]\n---\n",
		"read_only":                          "---\nread_only: true\n---\n",
		"readonly as a word alone":           "---\nreadonly\n---\n",
		"sandbox":                            "---\nsandbox: strict\n---\n",
		"capabilities in small letters":      "---\ncapabilities: [read]\n---\n",
		"capabilities as a text":             "---\ncapabilities: READ\n---\n",
		"tabs for blanks":                    "---\nmode:\tplan\n---\n",
		"a very long key before":             "---\nx-" + long("a", 70000) + ": 1\nmode: plan\n---\n",
		"a byte of zero":                     "---\nmode: plan\x00\n---\n",
		"hooks that are no map":              "---\nhooks: [a]\n---\n",
		"hooks with a typo":                  "---\nhook:\n  PreToolUse: []\n---\n",
		"a mark with blanks behind":          "---   \nmode: plan\n---\t\n",
		"the mark twice in one line":         "--- ---\nmode: plan\n---\n",
		"an old byte order mark in between":  "---\n\ufeffmode: plan\n---\n",
		"words right to left":                "---\n\u202emode: plan\n---\n",
		"a heading in dashes below the text": "You review.\nmode: plan\n---\n",
	} {
		if r := role.Parse("r", []byte(text)); r.Usable() == nil && !restricted(r) {
			t.Errorf("%s: entered without a restriction: %v", name, r.Problems)
		}
	}
	for name, text := range map[string]string{
		"tools as a block":          "---\nname: r\ndescription: x\ntools: |\n  Read\n---\n",
		"tool in the singular":      "---\nname: r\ndescription: x\ntool: Read\n---\n",
		"disallowed, another word":  "---\nname: r\ndescription: x\ndisallowed: Bash\n---\n",
		"deny":                      "---\nname: r\ndescription: x\ndeny: Bash\n---\n",
		"permissions":               "---\nname: r\ndescription: x\npermissions: {deny: [Bash]}\n---\n",
		"permission-mode":           "---\nname: r\ndescription: x\npermission-mode: plan\n---\n",
		"permissionMode of a typo":  "---\nname: r\ndescription: x\npermissionMode: paln\n---\n",
		"mode":                      "---\nname: r\ndescription: x\nmode: plan\n---\n",
		"read-only":                 "---\nname: r\ndescription: x\nread-only: true\n---\n",
		"a key of another alphabet": "---\nname: r\ndescription: x\nt\u043eols: Read\n---\n",
		"full-width colon":          "---\nname: r\ndescription: x\ntools\uff1a Read\n---\n",
		"an unknown tool alone":     "---\nname: r\ndescription: x\ntools: Raed\n---\n",
		"allow":                     "---\nname: r\ndescription: x\nallow: Read\n---\n",
	} {
		if r := role.ParseAgent("r", []byte(text)); r.Usable() == nil && !restricted(r) && r.Tools == nil {
			t.Errorf("definition of an agent, %s: entered without a restriction: %v", name, r.Problems)
		}
	}
}

func long(s string, n int) string {
	out := make([]byte, 0, n)
	for len(out) < n {
		out = append(out, s...)
	}
	return string(out)
}
