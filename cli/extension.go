package cli

import (
	"context"
	"strings"

	"jcode/agent"
	"jcode/mcp"
	"jcode/tools"
)

// extension is one of the rooms that add to what jcode can do while it runs. An app has a list
// of them and asks each; one that is switched off is not in the list.
type extension interface {
	// begin starts what watches, connects and runs in the background, once the first frame is
	// on its way.
	begin()
	// sections returns its parts of the system prompt of a session.
	sections(sessionID string, scope *tools.Scope) []string
	// own is what it adds to the conversations of the person, agents what it adds to those of
	// sub-agents in the same folder.
	own() agent.Extension
	agents() agent.Extension
}

// plain is an extension that adds nothing; others embed it and add what they have.
type plain struct{}

func (plain) begin()                                 {}
func (plain) sections(string, *tools.Scope) []string { return nil }
func (plain) own() agent.Extension                   { return agent.Extension{} }
func (plain) agents() agent.Extension                { return agent.Extension{} }

// listExtensions puts the rooms in the order in which they are asked.
func (a *app) listExtensions() {
	a.list = []extension{pluginExtension{app: a}, a.learning, roleExtension{app: a}, boardExtension{board: &a.board}}
	if a.lua != nil {
		a.list = append(a.list, a.lua)
	}
	a.list = append(a.list, a.happenings, a.documents)
	if a.mcp != nil {
		a.list = append(a.list, serverExtension{app: a})
	}
	a.list = append(a.list, languageExtension{app: a})
}

// startExtensions starts watching files, and connects servers in the background. It is
// called once the first frame is on its way.
func (a *app) startExtensions() {
	for _, e := range a.list {
		e.begin()
	}
	close(a.started)
}

// ready waits until what a first prompt needs is there.
func (a *app) ready(ctx context.Context) {
	for _, e := range a.list {
		if own := e.own(); own.Ready != nil {
			own.Ready(ctx)
		}
	}
}

// sections are the parts of the system prompt that extensions add.
func (a *app) sections(sessionID string, scope *tools.Scope) []string {
	var out []string
	for _, e := range a.list {
		out = append(out, e.sections(sessionID, scope)...)
	}
	return out
}

// conversations lists what the extensions add to conversations.
func (a *app) conversations() (own, agents agent.Extensions) {
	for _, e := range a.list {
		own, agents = append(own, e.own()), append(agents, e.agents())
	}
	return own, agents
}

// pluginExtension takes over plugins as they change.
type pluginExtension struct {
	plain
	app *app
}

func (e pluginExtension) begin() {
	if !e.app.flags.Print {
		pluginLife{e.app}.watch()
	}
}

func (e pluginExtension) own() agent.Extension {
	return agent.Extension{Before: pluginLife{e.app}.before}
}

// boardExtension tells a conversation what the rooms have to say to its model.
type boardExtension struct {
	plain
	board *board
}

func (e boardExtension) own() agent.Extension { return agent.Extension{Before: e.board.take} }

// roleExtension watches role files, and tells the model which agents it can start.
type roleExtension struct {
	plain
	app *app
}

func (e roleExtension) begin() {
	if !e.app.flags.Print {
		roleScopes{e.app}.watchRoles()
	}
}

func (e roleExtension) sections(_ string, scope *tools.Scope) []string {
	return []string{definitionActions{e.app}.delegates(scope)}
}

// languageExtension starts language servers.
type languageExtension struct {
	plain
	app *app
}

func (e languageExtension) begin() { e.app.lsp.Look() }

// serverExtension connects MCP servers, and tells the model what they say of themselves.
type serverExtension struct {
	plain
	app *app
}

func (e serverExtension) begin() { e.app.mcp.Start() }

func (e serverExtension) sections(sessionID string, _ *tools.Scope) []string {
	return []string{e.app.briefing.section(sessionID)}
}

func (e serverExtension) own() agent.Extension {
	return agent.Extension{
		Ready: e.ready, Scoped: e.app.mcp.SetScope, Attach: serverActions{e.app}.mentioned, Before: e.app.briefing.before,
	}
}

// ready takes over what changed in the configuration. A single run waits for the servers too.
func (e serverExtension) ready(ctx context.Context) {
	e.app.mcp.Refresh(ctx)
	if !e.app.flags.Print {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, printWait)
	defer cancel()
	if missing := e.app.mcp.WaitReady(ctx); len(missing) > 0 {
		e.app.board.say(agent.LevelWarn, "going on without MCP servers that are not connected: %s", strings.Join(missing, ", "))
	}
}

// leases are what acquires MCP servers for conversations of the person and for sub-agents.
func (a *app) leases() (own, agents agent.Leaser) {
	if a.mcp == nil {
		return nil, nil
	}
	return mcp.Leaser{M: a.mcp, Exclusive: true}, mcp.Leaser{M: a.mcp}
}
