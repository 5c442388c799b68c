//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

func TestAReviewInTheChatIsAListWhoseFindingsCanBeFixed(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	report, err := json.Marshal(map[string]any{"summary": "A division was added.", "findings": []any{map[string]any{
		"file": "main.go", "line": 4, "end_line": 4, "quote": "\treturn a / b", "severity": "P1", "title": "Division by zero", "reason": "It panics if b is 0.", "replacement": "\treturn a / max(b, 1)",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	c := newChat(t, modeltest.Text("It is right, and fixed."))
	c.srv.Route(func(r modeltest.Request) (modeltest.Reply, bool) {
		return modeltest.Text(string(report)), strings.Contains(string(r.Raw), "+\\treturn a / b") && !strings.Contains(string(r.Raw), "A review of the change found")
	})
	put(t, filepath.Join(c.dir, "main.go"), "package main\n\nfunc div(a, b int) int {\n\treturn 0\n}\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = c.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	put(t, filepath.Join(c.dir, "main.go"), "package main\n\nfunc div(a, b int) int {\n\treturn a / b\n}\n")
	c.start()
	c.say("/review sideways")
	c.wait("write --uncommitted")
	c.say("/review --uncommitted")
	c.wait("the review is done: 1 finding")
	c.say("/review")
	c.wait("P1 main.go:4", "Division by zero", "It panics if b is 0.", "show the place", "fix")
	c.Press("enter")
	c.wait(">    4", "return a / b", "/review fix 1")
	c.Press("esc")
	c.wait("ask for something")
	c.say("/review")
	c.wait("P1 main.go:4", "show the place")
	c.Press("ctrl+e")
	c.wait("It is right, and fixed.")
	if got := string(c.last().Raw); !strings.Contains(got, "A review of the change found a defect") || !strings.Contains(got, "main.go:4") {
		t.Errorf("the model reads %s", got)
	}
	c.quit()
}
