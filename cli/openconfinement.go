package cli

import (
	"path/filepath"

	"jcode/cli/config"
	confinementcli "jcode/cli/confinement"
	"jcode/remote"
	"jcode/tools"
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
