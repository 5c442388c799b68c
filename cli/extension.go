package cli

import (
	"jcode/agent"
	"jcode/cli/board"
	"jcode/cli/changes"
	"jcode/cli/core"
	lspcli "jcode/cli/lsp"
	mcpcli "jcode/cli/mcp"
	pluginscli "jcode/cli/plugins"
	"jcode/remote"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/lsp"
)

// listExtensions puts the extensions in the order in which they are asked.
func (a *app) listExtensions() {
	a.reviews = newReviewing(a)
	life := newPluginLife(a)
	a.list = core.Extensions{
		pluginscli.Extension(life, pluginsHome(a), a.std.Streams, a.flags.once()), a.guidance.Extension(), newRoleExtension(a).extension(), boardExtension{board: &a.board}.extension(),
		changes.Losses{Edits: a.store.Edits(), Shown: func(path string) string { return a.workspace.Shown(path) }}.Extension(),
	}
	if !a.flags.NoLua {
		a.list = append(a.list, a.lua.Extension())
	}
	a.list = append(a.list, a.userHooks.Extension(), a.documents.extension(), a.memory.extension(), newCalendar(a.store.History().All, newWhereabouts(a)).extension())
	if !a.flags.NoMCP {
		a.list = append(a.list, mcpcli.Extension(mcpcli.Options{Servers: a.mcp, Board: &a.board, Waits: a.flags.Print, Read: a.memory.read}))
	}
	a.list = append(a.list, lspcli.Extension(a.lsp, func() ([]lsp.Server, []string) { return languageServers(a) }))
	if a.tracer != nil && !a.ofAgent { // what agents do comes through the conversation that they work for
		a.list = append(a.list, core.Extension{
			Opened: func(conv *agent.Conversation, _ bool) { a.tracer.Follow(conv) },
			Own:    agent.Extension{TurnStarted: a.tracer.TurnStarted},
		})
	}
	if !isOff(a.config.Remote) && remote.Supported && a.originals == nil {
		a.list = append(a.list, newWindows(a).extension(), newRemotePage(a).extension())
	}
	a.board.Opened = func(conv *agent.Conversation, again bool) { a.list.Opened(conv, again) }
}

// startExtensions starts watching files, and connects servers in the background. It is
// called once the first frame is on its way.
func (a *app) startExtensions() {
	a.list.Begin()
	a.follower.Begin()
	close(a.started)
}

// boardExtension tells a conversation's model what the other parts of jcode have to say.
type boardExtension struct {
	board *board.Board
}

// extension returns what it adds to jcode.
func (e boardExtension) extension() core.Extension {
	return core.Extension{Own: e.own()}
}

func (e boardExtension) own() agent.Extension { return agent.Extension{Before: e.board.Take} }

// roleExtension watches role files, and tells the model which agents it can start.
type roleExtension struct {
	watch       roleWatch
	once        bool            // a single run watches nothing
	again       chan<- struct{} // requests a reread of the roles
	definitions definitionActions
	roles       roleActions
	reaching    func() []tools.TrustItem
}

func newRoleExtension(a *app) roleExtension {
	return roleExtension{
		watch: newRoleWatch(a), once: a.flags.once(), again: a.rolesAgain,
		definitions: newDefinitionActions(a), roles: newRoleActions(a), reaching: newRoleFiles(a).reaching,
	}
}

// extension returns what it adds to jcode.
func (e roleExtension) extension() core.Extension {
	return core.Extension{Begin: e.begin, Refresh: e.refresh, Sections: e.sections, Inert: e.inert, Panels: e.panels}
}

func (e roleExtension) begin() {
	if !e.once {
		e.watch.begin()
	}
}

func (e roleExtension) refresh() {
	select {
	case e.again <- struct{}{}:
	default: // the roles are not watched, or a reread is already requested
	}
}

func (e roleExtension) sections(_ string, scope *tools.Scope) []string {
	return []string{e.definitions.delegates(scope)}
}

func (e roleExtension) inert() []tools.TrustItem { return e.reaching() }
func (e roleExtension) panels() []command.Panel  { return []command.Panel{e.roles.panel()} }
