package hooks_test

import (
	"slices"
	"strings"
	"testing"

	"jcode/hooks"
)

func TestAFileOfVariablesIsReadAndNeverRun(t *testing.T) {
	t.Parallel()
	base := []string{"PATH=/usr/bin:/bin", "HOME=/home/x"}
	for _, tc := range []struct {
		text    string
		want    []string
		refused int
	}{
		{"export NODE_ENV=production\n", []string{"NODE_ENV=production"}, 0},
		{"A=1\nB='two words' C=3\n# a comment\n\n", []string{"A=1", "B=two words", "C=3"}, 0},
		{"declare -x A=\"x y\"\ndeclare -x OLD\ntypeset -x B=1\n", []string{"A=x y", "OLD=", "B=1"}, 0}, // as `export -p` prints
		{`export PATH="$PATH:./node_modules/.bin"`, []string{"PATH=/usr/bin:/bin:./node_modules/.bin"}, 0},
		{"A=1\nexport B=${A}2 A\nexport A=3\n", []string{"B=12", "A=3"}, 0},
		{"export A=$'tab\\there'\n", []string{"A=tab\there"}, 0},
		{"export A=$(touch /tmp/x)\nexport B=ok\n", []string{"B=ok"}, 1},
		{"export A=`id`\n", nil, 1},
		{"export A=<(id)\n", nil, 1},
		{"touch x\n. ./other\nsource other\nA=1 env\n", nil, 4},
		{"export A=1 > x\n", nil, 1},
		{"if true; then export A=1; fi\nf() { A=1; }\n", nil, 2},
		{"A=(1 2)\nB[0]=1\nC+=x\n", nil, 3},
		{"export A=${B:=5}\nexport D=${E:?gone}\n", nil, 2},
		{"export A='open\n", nil, 1},
		{"export A=" + strings.Repeat("x", 40<<10), nil, 1},
		{"readonly A=1\nlocal B=2\nexport -f g\n", []string{"g="}, 2},
		{"", nil, 0},
	} {
		got, refused := hooks.Variables([]byte(tc.text), base)
		if !slices.Equal(got, tc.want) || len(refused) != tc.refused {
			t.Errorf("%.60q: %q, refused %q; want %q and %d", tc.text, got, refused, tc.want, tc.refused)
		}
	}
}
