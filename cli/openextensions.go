package cli

import (
	"context"
	"sync"

	"jcode/agent"
	"jcode/cli/changes"
	"jcode/cli/config"
	"jcode/cli/core"
	documentscli "jcode/cli/documents"
	hookscli "jcode/cli/hooks"
	lspcli "jcode/cli/lsp"
	luacli "jcode/cli/lua"
	mcpcli "jcode/cli/mcp"
	pluginscli "jcode/cli/plugins"
	rolescli "jcode/cli/roles"
	skillscli "jcode/cli/skills"
	workplacecli "jcode/cli/workplace"
	"jcode/mcp"
	"jcode/remote"
	"jcode/tools/command"
	"jcode/tools/lsp"
)

// extensions are the parts that add to what jcode can do while it runs. What a conversation needs from all of
// them goes through the list.
type extensions struct {
	list       core.Extensions
	guidance   *skillscli.Guidance
	mcp        *mcp.Manager // nil with --no-mcp: conversations use servers
	servers    mcpcli.Servers
	lua        *luacli.Scripts // nil with --no-lua
	lsp        *lsp.Manager
	documents  *documentscli.Documents
	memory     *remembering
	userHooks  *hookscli.Hooks
	bundles    pluginscli.Bundles
	rolesAgain chan struct{} // requests a reread of the roles
	commands   command.Set
	started    chan struct{} // closed by startExtensions
	settled    chan struct{} // closed when the question about the folder no longer needs an answer
	settling   sync.Once
}

// openExtensions creates the extensions and registers their tools. Nothing is read, started or connected yet:
// see startExtensions.
func (a *app) openExtensions(ctx context.Context) error {
	if err := a.openPlugins(ctx); err != nil {
		return err
	}
	a.openHooks()
	if err := a.openGuidance(); err != nil {
		return err
	}
	a.openLSP()
	a.openDocuments()
	if err := openMemory(a); err != nil {
		return err
	}
	a.servers = mcpcli.NoServers{}
	if !a.flags.NoMCP {
		if err := a.openMCP(); err != nil {
			return err
		}
	}
	if !a.flags.NoLua {
		if err := a.openLua(); err != nil {
			return err
		}
	}
	a.listExtensions()
	return nil
}

// listExtensions puts the extensions in the order in which they are asked.
func (a *app) listExtensions() {
	a.reviews = newReviewing(a)
	life := newPluginLife(a)
	a.list = core.Extensions{
		pluginscli.Extension(life, pluginsHome(a), a.std.Streams, a.flags.once()), a.guidance.Extension(), rolescli.Extension(newRoleWatch(a), newRoleActions(a), newRoleFiles(a).Reaching, newDefinitions(a).Delegates, a.rolesAgain, a.flags.once()), {Own: agent.Extension{Before: a.board.Take}}, // what the other parts have to say
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
