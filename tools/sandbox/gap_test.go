//go:build linux

package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/proc"
	"jcode/tools/sandbox"
)

// What the limits of the search leave out is reported once, at the first command, with what to do.
func TestWhatIsNotKeptInALargeWorkspaceIsSaidOnce(t *testing.T) {
	many := func(n int, name string) (files []string) {
		for i := range n {
			files = append(files, fmt.Sprintf("project/"+name, i))
		}
		return files
	}
	for _, tt := range []struct {
		name    string
		files   []string
		folders int
		protect string
		text    string // of the notice
		advice  string
		locks   bool // only if files can be locked
	}{
		{name: "folders", files: many(1, "a/b/c%d/x"), folders: 4, text: "more than 4 folders", advice: "sandbox.protect"},
		{name: "folders of which the last is just searched", files: many(1, "a/b/c%d/x"), folders: 5},
		{name: "pattern", files: many(201, "%d.pem"), protect: "*.pem", text: `"*.pem" in sandbox.protect matches more than 200 files`, advice: "several patterns"},
		{name: "pattern of as many files as are looked at", files: many(200, "%d.pem"), protect: "*.pem"},
		{name: "submodules", files: many(201, ".git/modules/m%d/config"), text: "/.git has more than 200 hooks folders and configuration files of submodules", advice: ".git/modules/NAME/hooks"},
		{name: "protected files", files: many(401, "s%d/.mcp.json"), text: "more than 400 protected files", advice: "part that you work on", locks: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			if tt.locks && !r.Report().Shields {
				t.Skipf("no namespaces here: %v", r.Report().Why)
			}
			r.put(tt.files...)
			if tt.protect != "" {
				r.policy.Protect = []string{tt.protect}
			}
			if tt.folders != 0 {
				r.SearchAtMost(tt.folders)
			}
			var told []sandbox.Gap
			r.OnGap(func(g sandbox.Gap) { told = append(told, g) })
			for range 2 {
				if _, _, err := r.Confine(proc.Spec{Argv: []string{"true"}, Dir: r.project, Env: os.Environ()}); err != nil {
					t.Fatal(err)
				}
				if !tt.locks {
					r.Watch() // it finds the same
				}
			}
			gaps := r.Gaps()
			if tt.text == "" {
				if len(told)+len(gaps) != 0 {
					t.Fatalf("told %q, gaps %q, want none", told, gaps)
				}
				return
			}
			if len(told) != 1 || len(gaps) != 1 || told[0] != gaps[0] {
				t.Fatalf("told %q, gaps %q, want one", told, gaps)
			}
			if !strings.Contains(told[0].Text, tt.text) || !strings.Contains(told[0].Advice, tt.advice) {
				t.Errorf("said %q, %q; want %q, %q", told[0].Text, told[0].Advice, tt.text, tt.advice)
			}
		})
	}
}

// An unconfined command reports it too; a file that the search does not reach is protected if it is named.
func TestFilesBeyondTheSearchAreKeptIfTheyAreNamed(t *testing.T) {
	r := newRig(t)
	r.put("project/a/b/c/.mcp.json")
	r.SearchAtMost(3)
	var told []sandbox.Gap
	r.OnGap(func(g sandbox.Gap) { told = append(told, g) })
	changed := func() []string {
		before := r.Watch()
		path := filepath.Join(r.project, "a", "b", "c", ".mcp.json")
		if err := os.WriteFile(path, fmt.Append(nil, "changed ", len(r.content("project/a/b/c/.mcp.json"))), 0o644); err != nil {
			t.Fatal(err)
		}
		return before.Changed()
	}
	if got := changed(); len(got) != 0 || len(told) != 1 {
		t.Errorf("changed %q, told %q: want a notice and no file", got, told)
	}
	r.policy.Protect = []string{"a/b/c/.mcp.json"}
	if got := changed(); len(got) != 1 {
		t.Errorf("changed %q, want the file that is named", got)
	}
}
