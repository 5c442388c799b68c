//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// The model is told once where it works, in a message beside the prompt: the folder one level deep, branch and changed
// files, build files, programs. What a rule keeps from being read is not named.
func TestWhereItWorksIsToldOnce(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("so").Forever())
	gitRepository(t, c.dir)
	c.write("go.mod", "module x\n")
	c.write("passwords.txt", "x")
	c.write("evil\nname.txt", "x")
	for _, dir := range []string{"docs", "vault"} {
		if err := os.Mkdir(c.dir+"/"+dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.write("docs/deep.md", "x")
	c.write("vault/key", "x")
	var told []string
	for try := 0; try < 10; try++ { // on a busy machine git may take longer than anything waits for it
		for _, args := range [][]string{{"-p", "go"}, {"-c", "-p", "on"}} {
			args = append(args, "--deny", "read(passwords.txt)", "--deny", "read(vault/**)")
			if out, err := jcode(t.Context(), t, c.dir, c.home, c.srv.URL(), args...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		told = nil
		for _, m := range c.last().Messages {
			if strings.HasPrefix(m.Content, "[jcode] Today is ") {
				told = append(told, m.Content)
			}
		}
		if len(told) == 0 || strings.Contains(told[0], "Branch ") {
			break
		}
	}
	if len(told) == 0 || len(told) > 1 && strings.Contains(told[1], "Here: ") { // a second one at midnight
		t.Fatalf("told: %q", told)
	}
	for _, want := range []string{"Here: ", "docs/", "go.mod", "Build files: go.mod.", "Branch ", "changed file"} {
		if !strings.Contains(told[0], want) {
			t.Errorf("no %q in %q", want, told[0])
		}
	}
	if _, err := exec.LookPath("go"); err == nil && !strings.Contains(told[0], "Programs found: ") {
		t.Errorf("no programs in %q", told[0])
	}
	for _, secret := range []string{"passwords", "vault", "deep.md", "\n"} {
		if strings.Contains(told[0], secret) {
			t.Errorf("%q in %q", secret, told[0])
		}
	}
}
