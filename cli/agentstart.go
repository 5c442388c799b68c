package cli

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/worktree"
	"jcode/skills/instructions"
	"jcode/tools"
)

// opensWith returns a func that selects the files of a worktree that must exist before jcode is wired for it:
// those that jcode reads itself, or all files if code of the project may run before the agent's first call.
func (a agentSites) opensWith() func(tracked []string) []string {
	within := ""
	if rel, err := filepath.Rel(a.root, a.cwd); err == nil && rel != "." {
		within = filepath.ToSlash(rel) + "/"
	}
	return func(tracked []string) []string {
		if a.runsAtOpening() {
			return tracked
		}
		var first []string
		for _, name := range tracked {
			switch {
			case bringsCode(name):
				return tracked
			case strings.HasPrefix(name, "."), strings.Contains(name, "/."),
				slices.Contains(instructions.Names(), path.Base(name)):
				first = append(first, name)
			case within != "" && strings.HasPrefix(name, within):
				first, within = append(first, name), "" // it creates the working folder
			}
		}
		return first
	}
}

// runsAtOpening reports whether the person uses something that may run files of the project, or pin them,
// when it starts.
func (a agentSites) runsAtOpening() bool {
	if len(a.config.AfterEdit) > 0 || a.userHooks.Any() || len(a.servers.States()) > 0 {
		return true
	}
	return !a.flags.NoLua && len(a.lua.Room().Panel().Items) > 0
}

// bringsCode reports whether a file of the project may configure something that runs.
func bringsCode(name string) bool {
	if path.Ext(name) == ".md" {
		return false
	}
	for _, dir := range []string{".jcode/", ".claude/", ".agents/"} {
		if strings.HasPrefix(name, dir) || strings.Contains(name, "/"+dir) {
			return true
		}
	}
	return strings.Contains(path.Base(name), "mcp") && path.Ext(name) == ".json"
}

// awaitImports waits for all files if instructions import some.
func awaitImports(ctx context.Context, tree worktree.Tree, cwd string) error {
	for dir := cwd; ; dir = filepath.Dir(dir) {
		for _, name := range instructions.Names() {
			data, err := paths.ReadFile(filepath.Join(dir, filepath.FromSlash(name)), 1<<20)
			if err == nil && strings.Contains(string(data), "@") {
				return tree.Ready(ctx)
			}
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return tree.Ready(ctx) // a link to a file that is still to come
			}
		}
		if dir == tree.Dir || dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// wholeTree makes an agent's calls wait until all files of its worktree exist.
type wholeTree struct{ *agentSite }

// BeforeCall implements tools.Hook.
func (w wholeTree) BeforeCall(ctx context.Context, _ tools.Call) tools.Verdict {
	err := w.tree.Ready(ctx)
	if err == nil {
		return tools.Verdict{}
	}
	if ctx.Err() == nil {
		w.fails(err)
	}
	return tools.Verdict{By: "worktree", Refuse: err.Error()}
}

// AfterCall implements tools.Hook and does nothing.
func (wholeTree) AfterCall(tools.Call, tools.Outcome) {}

// fails ends the agent's current or next turn: its worktree can't be filled.
func (s *agentSite) fails(err error) {
	if child := s.child.Load(); child != nil && !errors.Is(err, context.Canceled) {
		child.Fail(err)
	}
}

// watchTree ends an agent whose worktree can't be filled, whatever it is doing.
func (s *agentSite) watchTree() {
	s.work.Go(func() {
		if err := s.tree.Ready(context.Background()); err != nil { // Close ends the wait
			s.fails(err)
		}
	})
}
