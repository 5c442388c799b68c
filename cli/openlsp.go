package cli

import (
	"context"
	"strings"

	"jcode/agent/event"
	"jcode/cli/config"
	lspcli "jcode/cli/lsp"
	"jcode/tools"
	"jcode/tools/lsp"
)

// openLSP creates the manager of language servers. Nothing is looked up or started yet.
func (a *app) openLSP() {
	o := lsp.Options{
		Root: a.workspace.Root(), Start: a.workspace.Start(), Roots: a.workspace.Folders(),
		AfterEdit: !config.IsOff(a.config.LSP.AfterEdit),
		Env:       a.confinement.CommandEnv, Programs: a.programs(),
		Denied:  func(path string) bool { return a.gate.Denied(tools.AccessRead, path) != "" },
		Changes: a.changes, Version: Version(),
		Notify: func(level, text string) { a.board.Say(event.Level(level), "%s", text) },
	}
	o.Servers, o.Disabled = languageServers(a)
	inert := newUntrusted(a).Items
	a.lsp = lspcli.Open(o, lspcli.Options{
		Board: &a.board, Registry: a.registry, Dispatcher: a.dispatcher, Trust: a.everywhere(), Box: a.confinement.Box(), Keep: a.confinement.KeepProtected, Plugin: a.bundles.Plugin, Root: a.root,
		Inert: func() string {
			notice, err := a.trust.Notice(context.Background(), inert())
			if err != nil {
				return err.Error()
			}
			return notice
		},
	})
	a.onClose(a.lsp.Close)
	a.dispatcher.Changing = a.lsp.Changing
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, lspcli.Reads(a.lsp))
	a.commands.Sources = append(a.commands.Sources, a.lsp)
}

// languageServers returns the language servers that are configured now.
func languageServers(a *app) (list []lsp.Server, disabled []string) {
	own := a.paths.File() + ":"
	return lspcli.Servers(a.config.LSP, a.bundles.Languages(), func(name string) bool {
		return strings.HasPrefix(a.origin("lsp.servers."+name, 0), own)
	})
}

// checkedLanguages are the language servers that the doctor looks at: nothing of the project is trusted there.
func checkedLanguages(a *app, c config.LSP) lsp.Options {
	o := lsp.Options{Root: a.root, Start: a.cwd, Roots: []string{a.root}, Programs: a.programs()}
	o.Servers, o.Disabled = lspcli.Servers(c, a.bundles.Languages(), func(string) bool { return false })
	return o
}
