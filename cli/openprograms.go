package cli

// Programs: where commands run, and how jcode starts those that it needs for itself.

import (
	"cmp"
	"path/filepath"
	"slices"

	"jcode/cli/config"
	confinementcli "jcode/cli/confinement"
	"jcode/internal/browser"
	"jcode/internal/launch"
	"jcode/internal/owner"
	"jcode/internal/paths"
	"jcode/remote"
	"jcode/tools"
	"jcode/tools/permission/repository"
)

// newConfinement prepares where commands run.
func newConfinement(a *app) *confinementcli.Confinement {
	// A server may start while a folder is trusted, which replaces the configuration.
	inForce := func() config.Config {
		a.reading.RLock()
		defer a.reading.RUnlock()
		return a.config
	}
	return confinementcli.New(confinementcli.Options{
		Config: inForce, Paths: a.paths, Root: a.root, Worktrees: agentFolder(a), Hidden: []string{remote.In(a.paths.Data).Dir}, Roots: a.workRoots, Hooks: a.hooks.In,
		Mode: func() tools.Mode {
			if conv := a.board.Open(); conv != nil {
				return conv.Mode()
			}
			return a.mode
		},
		Say: a.board.Say, Look: a.store.Checkpoints().Look, Getenv: a.std.Getenv, Env: a.env,
	})
}

// workRoots returns the workspace's folders, absolute.
func (a *app) workRoots() []string {
	roots := append([]string{a.root}, a.flags.AddDir...)
	for i, dir := range roots {
		if abs, err := filepath.Abs(dir); err == nil {
			roots[i] = abs
		}
	}
	return roots
}

// programs returns what starts the programs that jcode needs for itself: none of the workspace, of the
// checkouts that it is a copy of, or of a worktree of an agent.
func (a *app) programs() launch.Programs {
	return launch.Programs{
		Roots: func() []string {
			return slices.Concat(a.workRoots(), a.originals, []string{agentFolder(a), sessionFolder(a)})
		},
		Base: func() []string {
			if a.confinement == nil {
				return launch.Programs{}.Env()
			}
			return a.confinement.CommandEnv()
		},
	}
}

// keyPrograms returns what starts the commands that write keys: the person chose them, so they may be anywhere but in
// what an agent works on.
func keyPrograms(a *app) launch.Programs {
	p := a.programs()
	p.Temporary = true
	return p
}

// newOwnGit returns what runs git for jcode itself. It handles files only in repositories that make git run nothing.
func newOwnGit(a *app) launch.Git {
	looker := &repository.Looker{Programs: a.programs(), Own: true, Inside: func(path string) bool {
		return slices.ContainsFunc(a.workRoots(), func(root string) bool { return paths.Within(paths.Real(root), path) })
	}}
	return launch.Git{Programs: a.programs(), Look: func(dir string) string { return looker.Look(paths.Real(dir)).Why }}
}

// foreignFiles returns what says whose a file of the project is, nil if all its files count: whoever can write in a
// repository of the person's was let in, but a plain folder may be everybody's.
func foreignFiles(a *app) func(path string) string {
	if !a.plain {
		return nil
	}
	rules := owner.Here()
	return func(path string) string { return cmp.Or(rules.Whose(path), rules.Whose(paths.Real(path))) }
}

// newBrowser returns the person's browser.
func newBrowser(a *app) browser.Browser {
	return browser.Browser{Programs: a.programs(), Named: a.std.Getenv("BROWSER")}
}
