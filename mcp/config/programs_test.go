package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/launch"
	"jcode/internal/testkit/programs"
	"jcode/mcp/config"
)

// A server of the person's own, and one that the agent connects, runs unconfined: a program of the project never
// takes the place of its program, nor of what that starts. Servers of the project run confined, with the whole PATH.
func TestServersOfThePersonRunNoProgramOfTheProject(t *testing.T) {
	project := programs.Write(t, map[string]string{"tool": "echo project", "only": "echo project"})
	own := programs.Write(t, map[string]string{"tool": "echo own"})
	path := project + string(os.PathListSeparator) + own
	t.Setenv("PATH", path)
	env := config.Environment{Base: os.Environ(), Root: project, Programs: launch.Programs{Roots: func() []string { return []string{project} }}}
	entry := func(scope config.Scope, command string) config.Entry {
		return config.Entry{Name: "s", Target: config.Target{Type: config.Stdio, Command: command}, Source: config.Source{Scope: scope}}
	}
	for _, scope := range []config.Scope{config.ScopeUser, config.ScopeRun, config.ScopeSession} {
		got, err := env.Resolve(entry(scope, "tool"))
		if err != nil || got.Program != filepath.Join(own, "tool") || !slices.Contains(got.Env, "PATH="+own) {
			t.Errorf("%s: %s %v %v", scope, got.Program, got.Env, err)
		}
		if shown := env.ProgramPath(entry(scope, "tool")); shown != filepath.Join(own, "tool") {
			t.Errorf("%s: shown as %s", scope, shown)
		}
		if got, err := env.Resolve(entry(scope, "only")); err == nil || !strings.Contains(err.Error(), "write its whole path") {
			t.Errorf("%s: only in the project: %s %v", scope, got.Program, err)
		}
		if got, err := env.Resolve(entry(scope, filepath.Join(project, "only"))); err != nil || got.Program != filepath.Join(project, "only") {
			t.Errorf("%s: by its path: %s %v", scope, got.Program, err)
		}
	}
	if got, err := env.Resolve(entry(config.ScopeProject, "only")); err != nil || got.Program != "only" || !slices.Contains(got.Env, "PATH="+path) {
		t.Errorf("of the project: %s %v %v", got.Program, got.Env, err)
	}
}
