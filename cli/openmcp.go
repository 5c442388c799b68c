package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/cli/config"
	mcpcli "jcode/cli/mcp"
	"jcode/mcp"
	"jcode/mcp/auth"
	mcpconfig "jcode/mcp/config"
)

// openMCP creates the manager of MCP servers and registers its tools. No server is started yet.
func (a *app) openMCP() error {
	threshold := ""
	if t := a.config.MCP.DeferThreshold; t.Share > 0 {
		threshold = fmt.Sprintf("%g%%", t.Share*100)
	} else if t.Tokens > 0 {
		threshold = fmt.Sprint(t.Tokens)
	}
	a.mcp = mcp.New(mcp.Options{
		Paths: a.serverPaths(), Registry: a.registry, Trust: a.everywhere(), TrustAll: a.flags.Trust,
		Confiner: mcpcli.Confiner{Box: a.confinement.Box(), Plugin: a.bundles.Plugin, Trust: a.everywhere()}, Changes: a.agentChanges,
		LogDir: filepath.Join(a.paths.Data, "logs", "mcp"), FileDir: filepath.Join(a.paths.Data, "files"),
		Private: a.privateNow, Roots: a.announced(), Version: Version(),
		Tools: a.config.MCP.Tools, DeferThreshold: threshold, MaxTools: a.maxTools(),
		Withheld: a.confinement.KeyNames(), Programs: a.programs(), Variables: serverVariables(a), Permit: a.std.managed.Server,
		Window: a.board.Window, Sees: a.board.Sees, Elicitor: mcpcli.Elicitor{Board: &a.board, Browser: newBrowser(a), Unattended: a.flags.once(), AcceptDefaults: acceptsDefaults(a.flags)}, Person: a.signsIn(),
		Notify: func(level, text string) { a.board.Say(event.Level(level), "%s", text) },
	})
	a.servers = mcpcli.Managed(a.mcp)
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

// serverPaths returns where servers are configured.
func (a *app) serverPaths() mcpconfig.Paths {
	return mcpconfig.Paths{
		Run: a.flags.MCPConfig, ProjectRoot: a.root, ConfigDir: a.paths.Config, Home: a.paths.Home,
		NoImport: config.IsOff(a.config.MCP.ImportClaude),
		Plugins:  a.bundles.ServerFiles,
	}
}

// signsIn returns the person who signs in to servers in this run, nil if no person can be asked.
func (a *app) signsIn() auth.Person {
	chat := mcpcli.ChatPerson{Board: &a.board, Browse: newBrowser(a).Open}
	switch {
	case a.tour != nil:
		return a.tour.Person(chat)
	case a.flags.Print:
		return nil
	}
	return chat
}

// acceptsDefaults reports whether questions of servers are answered with their defaults where nobody is asked.
func acceptsDefaults(f *flags) bool { return f.Elicit == "accept-defaults" }

// openServers wires jcode and reads the servers' configuration; nothing is started.
func openServers(ctx context.Context, f *flags, std Streams) (*app, error) {
	f.NoMCP = false
	a, err := newApp(ctx, f, std)
	if err != nil {
		return nil, err
	}
	a.mcp.Load()
	return a, nil
}

// newMCPSetup returns what the commands of `jcode mcp` are given.
func newMCPSetup(f *flags, std Streams) mcpcli.Setup {
	return mcpcli.Setup{
		Streams: std.Streams, AcceptDefaults: acceptsDefaults(f),
		Open: func(ctx context.Context) (mcpcli.Opened, error) {
			a, err := openServers(ctx, f, std)
			if err != nil {
				return mcpcli.Opened{}, err
			}
			return mcpcli.Opened{Servers: a.mcp, Paths: a.serverPaths(), Browser: newBrowser(a), Close: a.close}, nil
		},
		Offer: func(ctx context.Context, withServers bool) (mcpcli.Offered, error) {
			f.NoMCP = !withServers
			a, err := newApp(ctx, f, std)
			if err != nil {
				return mcpcli.Offered{}, err
			}
			out := mcpcli.Offered{Servers: a.mcp, Dispatcher: a.dispatcher, Mode: a.mode, Version: Version(), Close: a.close}
			if !f.NoLua {
				out.Scripts = func(ctx context.Context, say func(string)) func() {
					a.board.Aside(func(n board.Notice) { say(n.Text) })
					close(a.started)
					a.list.Load(ctx)
					return a.list.Look
				}
			}
			return out, nil
		},
	}
}

// followed returns a function that waits for a change; nil if nothing changes.
func followed(changes <-chan struct{}) func(context.Context) bool {
	if changes == nil {
		return nil
	}
	return func(ctx context.Context) bool {
		select {
		case <-changes:
			return true
		case <-ctx.Done():
			return false
		}
	}
}
