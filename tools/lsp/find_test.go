//go:build unix

package lsp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/lsptest"
	"jcode/internal/testkit/programs"
	"jcode/tools"
	"jcode/tools/lsp"
)

// A program that a project brings is used only where the machine has none, and is asked about by its path: an
// answer for a program of that name elsewhere does not hold for it.
func TestProgramOfTheProjectIsTheLastChoice(t *testing.T) {
	own := programs.Write(t, map[string]string{"fake-ls": "exit 1\n"})
	for name, tc := range map[string]struct {
		path     string // PATH; "active" is the project's own
		trusted  bool
		expected string
	}{
		"installed":              {own, true, filepath.Join(own, "fake-ls")},
		"only the project's":     {"", true, filepath.Join("node_modules", ".bin", "fake-ls")},
		"not trusted":            {"", false, ""},
		"an active environment":  {"active", true, filepath.Join("venv", "bin", "fake-ls")},
		"active but not trusted": {"active", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []lsp.Start
			where := "node_modules/.bin/fake-ls"
			if tc.path == "active" {
				where = "venv/bin/fake-ls"
			}
			r := newRig(t, lsptest.Good, map[string]string{"a.fake": "one\n", where: "#!/bin/sh\nexit 1\n"}, func(o *lsp.Options) {
				o.Servers = []lsp.Server{lsp.Merge(lsp.Server{Name: "fake", Command: []string{"fake-ls", "--stdio"}, Files: []string{".fake"}})}
				o.Programs.Roots = func() []string { return []string{o.Root} }
				o.Trusted = func() bool { return tc.trusted }
				o.Allow = func(_ context.Context, _ tools.Call, s lsp.Start) lsp.Permit {
					asked = append(asked, s)
					return lsp.Permit{Why: "no"}
				}
			})
			if err := os.Chmod(filepath.Join(r.root, where), 0o755); err != nil {
				t.Fatal(err)
			}
			if tc.path == "active" {
				tc.path = filepath.Join(r.root, "venv", "bin")
			}
			t.Setenv("PATH", tc.path)
			want, command := tc.expected, "fake-ls --stdio"
			if want != "" && !filepath.IsAbs(want) {
				want = filepath.Join(r.root, want)
				command = want + " --stdio"
			}
			for _, s := range r.m.Installed() {
				if s.Name == "fake" && s.Program != want {
					t.Errorf("it would start %q, want %q", s.Program, want)
				}
			}
			r.call("read", m{"path": "a.fake"})
			r.call("write", m{"path": "a.fake", "content": "two\n"})
			switch {
			case want == "" && len(asked) > 0:
				t.Errorf("asked about %+v", asked)
			case want != "" && (len(asked) == 0 || asked[0].Command != command || !strings.HasPrefix(asked[0].Program, want)):
				t.Errorf("asked about %+v, want %s", asked, command)
			}
		})
	}
}
