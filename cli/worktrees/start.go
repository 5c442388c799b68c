package worktreescli

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
func (a AgentTrees) opensWith() func(tracked []string) []string {
	within := ""
	if rel, err := filepath.Rel(a.Root, a.Cwd); err == nil && rel != "." {
		within = filepath.ToSlash(rel) + "/"
	}
	return func(tracked []string) []string {
		if a.Runs() {
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

// StartIn returns the folder of a worktree that is in the place of another one (cwd) in the checkout, as far as it is there.
func StartIn(dir, root, cwd string) string {
	if rel, err := filepath.Rel(root, cwd); err == nil && filepath.IsLocal(rel) {
		if _, err := os.Stat(filepath.Join(dir, rel)); err == nil {
			return filepath.Join(dir, rel)
		}
	}
	return dir
}

// AwaitImports waits for all files if instructions import some.
func AwaitImports(ctx context.Context, tree worktree.Tree, cwd string) error {
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

// Whole makes an agent's calls wait until all files of its worktree exist.
type Whole struct{ *Site }

// BeforeCall implements tools.Hook.
func (w Whole) BeforeCall(ctx context.Context, _ tools.Call) tools.Verdict {
	err := w.Tree.Ready(ctx)
	if err == nil {
		return tools.Verdict{}
	}
	if ctx.Err() == nil {
		w.fails(err)
	}
	return tools.Verdict{By: "worktree", Refuse: err.Error()}
}

// AfterCall implements tools.Hook and does nothing.
func (Whole) AfterCall(tools.Call, tools.Outcome) {}

// fails ends the agent's current or next turn: its worktree can't be filled.
func (s *Site) fails(err error) {
	if child := s.child.Load(); child != nil && !errors.Is(err, context.Canceled) {
		child.Fail(err)
	}
}

// watchTree ends an agent whose worktree can't be filled, whatever it is doing.
func (s *Site) watchTree() {
	s.work.Go(func() {
		if err := s.Tree.Ready(context.Background()); err != nil { // Close ends the wait
			s.fails(err)
		}
	})
}
