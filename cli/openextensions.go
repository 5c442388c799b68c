package cli

import (
	"context"
	"sync"

	"jcode/cli/core"
	documentscli "jcode/cli/documents"
	hookscli "jcode/cli/hooks"
	luacli "jcode/cli/lua"
	mcpcli "jcode/cli/mcp"
	pluginscli "jcode/cli/plugins"
	skillscli "jcode/cli/skills"
	"jcode/mcp"
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
