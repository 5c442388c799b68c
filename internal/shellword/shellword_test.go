package shellword_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"jcode/internal/shellword"
)

func TestAShellReadsWhatWasQuoted(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell on this machine")
	}
	words := []string{"printf", "%s\\0", "a", "", "a b", "it's", "a\nb", "$x", "*", "~", "-n", "a=b", "--x=y z", "é", "\\", "`ls`", "a;b", "{a,b}", "#", "!x"}
	out, err := exec.Command(sh, "-c", shellword.Join(words)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words[2:]) {
		t.Errorf("%q\nwant %q", got, words[2:])
	}
	for in, want := range map[string]string{"a=b c": "'a=b c'", "a=b": "'a=b'", "env": "env"} {
		if got := shellword.Join([]string{in}); got != want {
			t.Errorf("%q is written as %q", in, got)
		}
	}
}
