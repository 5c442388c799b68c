package cli

import (
	"jcode/agent"
	"jcode/cli/board"
	"jcode/cli/changes"
	"jcode/cli/config"
	"jcode/cli/core"
	lspcli "jcode/cli/lsp"
	mcpcli "jcode/cli/mcp"
	pluginscli "jcode/cli/plugins"
	rolescli "jcode/cli/roles"
	workplacecli "jcode/cli/workplace"
	"jcode/remote"
	"jcode/tools/lsp"
)

// listExtensions puts the extensions in the order in which they are asked.
func (a *app) listExtensions() {
	a.reviews = newReviewing(a)
	life := newPluginLife(a)
	a.list = core.Extensions{
		pluginscli.Extension(life, pluginsHome(a), a.std.Streams, a.flags.once()), a.guidance.Extension(), rolescli.Extension(newRoleWatch(a), newRoleActions(a), newRoleFiles(a).Reaching, newDefinitions(a).Delegates, a.rolesAgain, a.flags.once()), boardExtension{board: &a.board}.extension(),
		changes.Losses{Edits: a.store.Edits(), Shown: func(path string) string { return a.workspace.Shown(path) }}.Extension(),
	}
	if !a.flags.NoLua {
		a.list = append(a.list, a.lua.Extension())
	}
	a.list = append(a.list, a.userHooks.Extension(), a.documents.Extension(), a.memory.extension(), workplacecli.NewDates(a.store.History().All, newWorkFolder(a)).Extension())
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
	if !config.IsOff(a.config.Remote) && remote.Supported && a.originals == nil {
		a.list = append(a.list, newWindows(a).Extension(), newRemotePage(a).Extension())
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
