package lspcli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/cli/config"
	"jcode/cli/health"
	pluginscli "jcode/cli/plugins"
	"jcode/internal/proc"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/lsp"
	"jcode/tools/sandbox"
)

// Options are what decides about the start of language servers.
type Options struct {
	Board      *board.Board
	Registry   *tools.Registry
	Dispatcher *tools.Dispatcher
	Trust      tools.Trust // in files of this project, and of the person
	// Inert says what of the project waits for trust, "" if nothing does.
	Inert func() string
	Box   *sandbox.Box // confines servers; nil if jcode can't start itself
	// Keep saves protected files before a server starts, for an undo.
	Keep func(caller tools.Caller, open []string) (note func(changed []string))
	// Plugin returns how the programs of a plugin run.
	Plugin func(name string) (pluginscli.Rights, bool)
	Root   string // of the project
}

// serverStarts decides when language servers start, and offers their tools.
type serverStarts struct{ Options }

// Open creates the manager of language servers with what decides about their start. Nothing is looked up or started
// yet.
func Open(o lsp.Options, with Options) *lsp.Manager {
	starts := serverStarts{with}
	o.Trusted, o.Allow, o.Give, o.Steered = func() bool { return with.Inert() == "" }, starts.allow, starts.give, starts.steered
	var room *lsp.Manager
	o.Offer = func() { starts.offer(room) }
	room = lsp.New(o)
	return room
}

// steered tells the person and the model of protected files that a language server made or changed.
func (a serverStarts) steered(server string, paths []string) {
	for i, p := range paths {
		paths[i] = text.Visible(p)
	}
	line := "while the language server " + server + " ran, protected files were made or changed, which steer git or the agent: " + strings.Join(paths, ", ") + "; look at them, /undo takes them back"
	a.Board.Say(event.LevelWarn, "%s", line)
	a.Board.Tell("Note: " + line + ".")
}

// Servers returns the configured servers, by name, followed by those of plugins. personal reports whether
// the entry of a server is in the person's own file.
func Servers(c config.LSP, plugins []lsp.Server, personal func(name string) bool) (list []lsp.Server, disabled []string) {
	for name, s := range c.Servers {
		if s.Disabled != nil && *s.Disabled {
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
	for _, s := range plugins {
		if !slices.ContainsFunc(list, func(own lsp.Server) bool { return own.Name == s.Name }) {
			list = append(list, s)
		}
	}
	return list, disabled
}

// offer registers the tools that query language servers.
func (a serverStarts) offer(room *lsp.Manager) {
	for _, t := range room.Tools() {
		if err := a.Registry.Register("lsp", tools.RankBuiltin, t); err != nil {
			a.Board.Say(event.LevelWarn, "language servers: %v", err)
		}
	}
}

// allow decides whether a language server may be started: it runs code of the project. A person's answer
// applies as with any call: this once, for the session, or in the project, for this command line and this
// program.
func (a serverStarts) allow(ctx context.Context, call tools.Call, s lsp.Start) lsp.Permit {
	if a.Inert() != "" {
		return lsp.Permit{Why: "this folder's files are not trusted, and it runs code of the project"}
	}
	how := a.rights(ctx, s)
	dec := a.Dispatcher.Judge(ctx, call.Caller, tools.Spec{Name: "exec", Needs: tools.CapExecute}, tools.Plan{
		Accesses: []tools.Access{{Kind: tools.AccessExec, Command: s.Command, Dir: s.Root}},
		Summary:  "Start a language server: " + s.Name,
		Notes:    []string{fmt.Sprintf("starts the language server %s (%s), which runs code of this project (build scripts, plugins)", s.Name, s.Program), how.note()},
	})
	if !dec.Allow {
		return lsp.Permit{Why: dec.Reason}
	}
	how.confined = how.confined || dec.Sandbox && !how.free
	permit := lsp.Permit{OK: true, Confined: how.confined, How: how.word(), Prepare: func(spec proc.Spec) (proc.Spec, func() []string, error) {
		return a.prepare(call, spec, how)
	}}
	if how.confined {
		permit.Refused = func(words string) string { return a.refused(s, how, words) }
	}
	return permit
}

// Reads returns what tells language servers which files the model has read.
func Reads(room *lsp.Manager) tools.Hook { return readFiles{room} }

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

// Check lists the servers that are installed, and those that would fit this folder.
func Check(_ context.Context, o lsp.Options, d *health.Report) {
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
