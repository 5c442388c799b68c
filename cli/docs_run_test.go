package cli_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The commands of the README's first steps are run line by line in an empty folder, with a home where nothing is
// configured.
func TestCommandsThatTheReadmeRunsDoRun(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```sh run\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(blocks) == 0 {
		t.Fatal("the README has nothing to run")
	}
	for _, b := range blocks {
		home := t.TempDir()
		cmd := exec.CommandContext(t.Context(), "sh", "-ex", "-c", b[1])
		cmd.Dir = t.TempDir()
		cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
			return strings.HasPrefix(v, "OPENAI_") || strings.HasPrefix(v, "JCODE_") || strings.Contains(v, "_API_KEY=")
		}), "HOME="+home, "JCODE_HOME="+home)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		for _, want := range []string{"grep", "asks: ", "It has one function, main.", "what is in here?"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		t.Log(string(out))
	}
}
