package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/cli/config"
	pluginscli "jcode/cli/plugins"
	"jcode/internal/proc"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/lsp"
	"jcode/tools/permission"
)

// serverStarts decides when language servers start, and offers their tools.
type serverStarts struct {
	board      *board.Board
	registry   *tools.Registry
	dispatcher *tools.Dispatcher
	trust      *permission.Trust
	everywhere tools.Trust              // in files of this project, and of the person
	inert      func() []tools.TrustItem // what of the project is off until it is trusted

	confinement *confinement
	bundles     *pluginscli.Bundles
	root        string // of the project
}

// openLSP creates the manager of language servers. Nothing is looked up or started yet.
func (a *app) openLSP() {
	starts := serverStarts{&a.board, a.registry, a.dispatcher, a.trust, a.everywhere(), newDormant(a).inert, a.confinement, &a.bundles, a.root}
	o := lsp.Options{
		Root: a.workspace.Root(), Start: a.workspace.Start(), Roots: a.workspace.Folders(),
		AfterEdit: !isOff(a.config.LSP.AfterEdit),
		Env:       a.confinement.CommandEnv, Programs: a.programs(), Trusted: func() bool { return starts.inertNotice() == "" }, Allow: starts.allow, Give: starts.give,
		Steered: starts.steered,
		Denied:  func(path string) bool { return a.gate.Denied(tools.AccessRead, path) != "" },
		Changes: a.changes, Version: Version(),
		Notify: func(level, text string) { a.board.Say(event.Level(level), "%s", text) },
	}
	o.Offer = func() { starts.offer(a.lsp) }
	o.Servers, o.Disabled = languageServers(a)
	a.lsp = lsp.New(o)
	a.onClose(a.lsp.Close)
	a.dispatcher.Changing = a.lsp.Changing
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, readFiles{a.lsp})
	a.commands.Sources = append(a.commands.Sources, a.lsp)
}

// steered tells the person and the model of protected files that a language server made or changed.
func (a serverStarts) steered(server string, paths []string) {
	for i, p := range paths {
		paths[i] = text.Visible(p)
	}
	line := "while the language server " + server + " ran, protected files were made or changed, which steer git or the agent: " + strings.Join(paths, ", ") + "; look at them, /undo takes them back"
	a.board.Say(event.LevelWarn, "%s", line)
	a.board.Tell("Note: " + line + ".")
}

// languageServers returns the language servers that are configured now.
func languageServers(a *app) (list []lsp.Server, disabled []string) {
	own := a.paths.File() + ":"
	return languageServersOf(&a.bundles, a.config.LSP, func(name string) bool {
		return strings.HasPrefix(a.origin("lsp.servers."+name, 0), own)
	})
}

// languageServers returns the configured servers, by name, followed by those of plugins. personal reports whether
// the entry of a server is in the person's own file.
func languageServersOf(b *pluginscli.Bundles, c config.LSP, personal func(name string) bool) (list []lsp.Server, disabled []string) {
	for name, s := range c.Servers {
		if isOn(s.Disabled) {
			disabled = append(disabled, name)
			continue
		}
		entry := lsp.Server{Name: name, Command: s.Command, Files: s.Files, Roots: s.Roots, Env: s.Env, Personal: len(s.Command) > 0 && personal(name)}
		if s.Settings != nil {
			entry.Settings = s.Settings
		}
		list = append(list, lsp.Merge(entry))
	}
	slices.SortFunc(list, func(x, y lsp.Server) int { return strings.Compare(x.Name, y.Name) })
	for _, s := range b.Languages() {
		if !slices.ContainsFunc(list, func(own lsp.Server) bool { return own.Name == s.Name }) {
			list = append(list, s)
		}
	}
	return list, disabled
}

// offer registers the tools that query language servers.
func (a serverStarts) offer(room *lsp.Manager) {
	for _, t := range room.Tools() {
		if err := a.registry.Register("lsp", tools.RankBuiltin, t); err != nil {
			a.board.Say(event.LevelWarn, "language servers: %v", err)
		}
	}
}

// inertNotice says what of the project waits for trust, "" if nothing does.
func (a serverStarts) inertNotice() string {
	notice, err := a.trust.Notice(context.Background(), a.inert())
	if err != nil {
		return err.Error()
	}
	return notice
}

// allow decides whether a language server may be started: it runs code of the project. A person's answer
// applies as with any call: this once, for the session, or in the project, for this command line and this
// program.
func (a serverStarts) allow(ctx context.Context, call tools.Call, s lsp.Start) lsp.Permit {
	if a.inertNotice() != "" {
		return lsp.Permit{Why: "this folder's files are not trusted, and it runs code of the project"}
	}
	how := a.rights(ctx, s)
	dec := a.dispatcher.Judge(ctx, call.Caller, tools.Spec{Name: "exec", Needs: tools.CapExecute}, tools.Plan{
		Accesses: []tools.Access{{Kind: tools.AccessExec, Command: s.Command, Dir: s.Root}},
		Summary:  "Start a language server: " + s.Name,
		Notes:    []string{fmt.Sprintf("starts the language server %s (%s), which runs code of this project (build scripts, plugins)", s.Name, s.Program), how.note()},
	})
	if !dec.Allow {
		return lsp.Permit{Why: dec.Reason}
	}
	how.confined = how.confined || dec.Sandbox && !how.free
	permit := lsp.Permit{OK: true, Confined: how.confined, How: how.word(), Prepare: func(spec proc.Spec) (proc.Spec, func() []string, error) {
		return a.confinement.server(call, spec, how)
	}}
	if how.confined {
		permit.Refused = func(words string) string { return a.refused(s, how, words) }
	}
	return permit
}

// readFiles tells the language server manager which files the model has read.
type readFiles struct{ room *lsp.Manager }

// BeforeCall implements tools.Hook and changes nothing.
func (readFiles) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall implements tools.Hook.
func (r readFiles) AfterCall(call tools.Call, out tools.Outcome) {
	if call.Name != "read" || out.Result.Failed {
		return
	}
	for _, access := range call.Plan.Accesses {
		if access.Kind == tools.AccessRead {
			r.room.Read(access.Path)
		}
	}
}

// languageServers lists the servers that are installed, and those that would fit this folder.
func (d *doctor) languageServers(a *app) {
	o := lsp.Options{Root: a.root, Start: a.cwd, Roots: []string{a.root}, Programs: a.programs()}
	o.Servers, o.Disabled = languageServersOf(&a.bundles, d.conf.LSP, func(string) bool { return false })
	room := lsp.New(o)
	defer room.Close()
	var here, missing []string
	for _, s := range room.Installed() {
		switch {
		case s.Program != "":
			here = append(here, s.Name)
		case s.Fits:
			missing = append(missing, s.Name)
		}
	}
	if len(here) > 0 {
		d.OK("language servers", "installed: %s", strings.Join(here, ", "))
	}
	if len(missing) > 0 {
		d.OK("language servers", "would fit this folder, and are not installed: %s", strings.Join(missing, ", "))
	}
}
