package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"jcode/agent/event"
	"jcode/cli/core"
	"jcode/mcp"
	"jcode/tools/command"
	"jcode/tools/lsp"
)

// printWait is how long a headless run waits for configured MCP servers.
const printWait = 5 * time.Second

// extensions are the parts that add to what jcode can do while it runs. What a conversation needs from all of
// them goes through the list.
type extensions struct {
	list       core.Extensions
	learning   *learning
	mcp        *mcp.Manager // nil with --no-mcp: conversations use servers
	servers    servers
	lua        *scripting // nil with --no-lua
	lsp        *lsp.Manager
	documents  *documents
	memory     *remembering
	happenings *happenings
	bundles    bundles
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
	if err := a.openLearning(); err != nil {
		return err
	}
	a.openLSP()
	a.openDocuments()
	if err := openMemory(a); err != nil {
		return err
	}
	a.servers = noServers{}
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

func (a *app) openMCP() error {
	threshold := ""
	if t := a.config.MCP.DeferThreshold; t.Share > 0 {
		threshold = fmt.Sprintf("%g%%", t.Share*100)
	} else if t.Tokens > 0 {
		threshold = fmt.Sprint(t.Tokens)
	}
	a.mcp = mcp.New(mcp.Options{
		Paths: a.serverPaths(), Registry: a.registry, Trust: a.everywhere(), TrustAll: a.flags.Trust,
		Confiner: serverConfiner{a.confinement.box, &a.bundles, a.everywhere()}, Changes: a.agentChanges,
		LogDir: filepath.Join(a.paths.Data, "logs", "mcp"), FileDir: filepath.Join(a.paths.Data, "files"),
		Private: a.privateNow, Roots: a.announced(), Version: Version(),
		Tools: a.config.MCP.Tools, DeferThreshold: threshold, MaxTools: a.maxTools(),
		Withheld: a.confinement.keyNames(), Programs: a.programs(), Variables: serverVariables(a), Permit: a.std.managed.Server,
		Window: a.board.Window, Sees: a.board.Sees, Elicitor: mcpElicitor{&a.board, a.flags, newBrowser(a)}, Person: a.signsIn(),
		Notify: func(level, text string) { a.board.Say(event.Level(level), "%s", text) },
	})
	a.servers = managed{a.mcp}
	a.onClose(a.mcp.Close)
	a.mcp.SetDispatcher(a.dispatcher)
	a.commands.Sources = append(a.commands.Sources, a.mcp.Commands())
	return a.mcp.RegisterTools()
}

// announced lists the folders that MCP servers are told of: the working folder first, then the other folders
// open to jcode.
func (a *app) announced() []string {
	dirs := []string{a.cwd}
	if a.root != a.cwd {
		dirs = append(dirs, a.root)
	}
	return append(dirs, a.flags.AddDir...)
}
