package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/agent/event"
	"jcode/cli/config"
	"jcode/internal/proc"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/lsp"
	"jcode/tools/permission"
	"jcode/tools/sandbox"
)

// serverStarts decides when language servers start, and offers their tools.
type serverStarts struct {
	board      *board
	registry   *tools.Registry
	dispatcher *tools.Dispatcher
	trust      *permission.Trust
	inert      func() []tools.TrustItem // what of the project is off until it is trusted
}

// openLSP creates the manager of language servers. Nothing is looked up or started yet.
func (a *app) openLSP() {
	starts := serverStarts{&a.board, a.registry, a.dispatcher, a.trust, newDormant(a).inert}
	o := lsp.Options{
		Root: a.workspace.Root(), Start: a.workspace.Start(), Roots: a.workspace.Folders(),
		AfterEdit: !isOff(a.config.LSP.AfterEdit),
		Env:       a.confinement.commandEnv, Programs: a.programs(), Trusted: func() bool { return starts.inertNotice() == "" }, Allow: starts.allow,
		Prepare: a.confinement.server, Steered: starts.steered,
		Denied:  func(path string) bool { return a.gate.Denied(tools.AccessRead, path) != "" },
		Changes: a.changes, Version: Version(),
		Notify: func(level, text string) { a.board.say(event.Level(level), "%s", text) },
	}
	o.Offer = func() { starts.offer(a.lsp) }
	o.Servers, o.Disabled = a.bundles.languageServers(a.config.LSP)
	a.lsp = lsp.New(o)
	a.onClose(a.lsp.Close)
	a.dispatcher.Changing = a.lsp.Changing
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, readFiles{a.lsp})
	a.commands.Sources = append(a.commands.Sources, a.lsp)
}

// server confines the command that starts a language server, if it is to be confined. changed lists the protected
// files that were made or changed since, and keeps them for /undo.
func (a *confinement) server(call tools.Call, spec proc.Spec, confined bool) (prepared proc.Spec, changed func() []string, err error) {
	var before sandbox.Watched
	switch {
	case confined:
		if spec, before, err = a.box.Confine(spec); err != nil {
			return spec, nil, err
		}
	case a.box != nil:
		before = a.box.Watch()
	}
	if before == nil {
		return spec, nil, nil
	}
	return spec, builtin.KeepWatched(before, call.Caller, a.keepProtected), nil
}

// steered tells the person and the model of protected files that a language server made or changed.
func (a serverStarts) steered(server string, paths []string) {
	for i, p := range paths {
		paths[i] = text.Visible(p)
	}
	line := "while the language server " + server + " ran, protected files were made or changed, which steer git or the agent: " + strings.Join(paths, ", ") + "; look at them, /undo takes them back"
	a.board.say(event.LevelWarn, "%s", line)
	a.board.tell("Note: " + line + ".")
}

// languageServers returns the configured servers, by name, followed by those of plugins.
func (b *bundles) languageServers(c config.LSP) (list []lsp.Server, disabled []string) {
	for name, s := range c.Servers {
		if isOn(s.Disabled) {
			disabled = append(disabled, name)
			continue
		}
		entry := lsp.Server{Name: name, Command: s.Command, Files: s.Files, Roots: s.Roots, Env: s.Env}
		if s.Settings != nil {
			entry.Settings = s.Settings
		}
		list = append(list, lsp.Merge(entry))
	}
	slices.SortFunc(list, func(x, y lsp.Server) int { return strings.Compare(x.Name, y.Name) })
	for _, s := range b.languages() {
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
			a.board.say(event.LevelWarn, "language servers: %v", err)
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
func (a serverStarts) allow(ctx context.Context, call tools.Call, s lsp.Start) (ok, confined bool, why string) {
	if a.inertNotice() != "" {
		return false, false, "this folder's files are not trusted, and it runs code of the project"
	}
	dec := a.dispatcher.Judge(ctx, call.Caller, tools.Spec{Name: "exec", Needs: tools.CapExecute}, tools.Plan{
		Accesses: []tools.Access{{Kind: tools.AccessExec, Command: s.Command, Dir: s.Root}},
		Summary:  "Start the language server " + s.Name,
		Notes:    []string{fmt.Sprintf("starts the language server %s (%s), which runs code of this project (build scripts, plugins)", s.Name, s.Program)},
	})
	if !dec.Allow {
		return false, false, dec.Reason
	}
	return true, dec.Sandbox, ""
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
	o.Servers, o.Disabled = a.bundles.languageServers(d.conf.LSP)
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
		d.ok("language servers", "installed: %s", strings.Join(here, ", "))
	}
	if len(missing) > 0 {
		d.ok("language servers", "would fit this folder, and are not installed: %s", strings.Join(missing, ", "))
	}
}
