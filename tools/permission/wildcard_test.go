package permission_test

import (
	"context"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/permission"
)

// A program sees the names that a wildcard matches, and interprets them like any other words in
// those places.
func TestWildcardsAreJudgedAsTheNamesTheyStandFor(t *testing.T) {
	root, home := workspace(t)
	t.Setenv("PATH", "/usr/bin:/bin")
	for _, name := range []string{"-oz.go", "@list", "b1", "b2", "one/x", "two/x", "+x", "n1/@list", "import c.jq"} {
		put(t, root, name, "x\n")
	}
	for line, why := range map[string]string{
		"sort -*":                               "begins with -",
		"sort -?z.go":                           "begins with -",
		"sort -[n-p]z.go":                       "begins with -",
		"uniq b?":                               "would be written",
		"uniq b1 b*":                            "would be written",
		"strings ?list":                         "from a file",
		"grep [ao]ut* x":                        "",
		"grep [ao]* -c":                         "outside",
		"rg [ao]*":                              "outside",
		"git grep -n [ao]*":                     "outside",
		"diff [ot][nw]*":                        "whole folder",
		"jq -n i*.jq":                           "other files",
		"cd sub && uniq ../b?":                  "would be written",
		"uniq b1":                               "",
		"uniq b1*":                              "",
		"strings n1/*":                          "",
		"strings n1/?list":                      "",
		"date +[x]":                             "",
		"sort -k1 b*":                           "",
		"grep a* b1":                            "",
		"grep -rn --include=*.go x sub":         "",
		"wc -l b? sub/*.go":                     "",
		"diff b? --brief":                       "",
		"rg -g*.go x":                           "",
		"git log --grep=fix* --oneline -- *.md": "",
	} {
		got := newGate(t, root, home, permission.RuleSet{}).Explain(context.Background(), caller(tools.ModeAsk, nil), line)
		switch {
		case why == "" && got.Outcome != "runs":
			t.Errorf("%s: %s (%s), want it to run", line, got.Outcome, got.Why)
		case why != "" && (got.Outcome != "asks" || !strings.Contains(got.String(), why)):
			t.Errorf("%s: %s (%s), want a question that says %q", line, got.Outcome, got.String(), why)
		}
	}
}
