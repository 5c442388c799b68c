package lspcli

import (
	"context"

	"jcode/agent"
	"jcode/cli/core"
	"jcode/tools/lsp"
)

// Extension starts language servers; servers returns those in force now, by settings and plugins, and which are
// disabled.
func Extension(room *lsp.Manager, servers func() ([]lsp.Server, []string)) core.Extension {
	return languageExtension{room, servers}.extension()
}

type languageExtension struct {
	lsp     *lsp.Manager
	servers func() (list []lsp.Server, disabled []string) // in force now, by settings and plugins
}

func (e languageExtension) extension() core.Extension {
	return core.Extension{Begin: e.begin, Refresh: e.refresh, Own: e.own(), Agents: e.agents(), Status: e.status}
}

func (e languageExtension) own() agent.Extension    { return agent.Extension{Before: e.late} }
func (e languageExtension) agents() agent.Extension { return agent.Extension{Before: e.late} }

// late tells the model what language servers found of its changes after their results were committed.
func (e languageExtension) late(_ context.Context, sessionID string) agent.Announcement {
	return agent.Announcement{Text: e.lsp.Late(sessionID)}
}

func (e languageExtension) begin()         { e.lsp.Look() }
func (e languageExtension) refresh()       { e.lsp.SetServers(e.servers()) }
func (e languageExtension) status() string { return e.lsp.StatusLine() }
