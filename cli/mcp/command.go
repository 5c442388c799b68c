package mcpcli

import (
	"context"
	"errors"
	"strings"

	"jcode/cli/console"
	"jcode/internal/browser"
	"jcode/mcp"
	mcpconfig "jcode/mcp/config"
	"jcode/tools"
)

// Cmd works with MCP servers without a model.
type Cmd struct {
	List    listCmd    `cmd:"" default:"withargs"`
	Get     getCmd     `cmd:""`
	Add     addCmd     `cmd:""`
	AddJSON addJSONCmd `cmd:"" name:"add-json"`
	Remove  removeCmd  `cmd:""`
	Enable  enableCmd  `cmd:""`
	Disable disableCmd `cmd:""`
	Test    testCmd    `cmd:""`
	Tools   toolsCmd   `cmd:""`
	Call    callCmd    `cmd:""`
	Login   loginCmd   `cmd:""`
	Logout  logoutCmd  `cmd:""`
	Serve   serveCmd   `cmd:""`
}

// Setup is what the commands of `jcode mcp` are given.
type Setup struct {
	console.Streams
	// AcceptDefaults answers questions of servers with their defaults, otherwise they are declined.
	AcceptDefaults bool
	// Open wires jcode and reads the servers' configuration; nothing is started.
	Open func(ctx context.Context) (Opened, error)
	// Offer wires jcode for offering its own tools. The caller closes what it returns.
	Offer func(ctx context.Context, withServers bool) (Offered, error)
}

// Opened is a jcode that has read which servers are configured. The caller closes it.
type Opened struct {
	Servers *mcp.Manager
	Paths   mcpconfig.Paths
	Browser browser.Browser
	Close   func()
}

// Offered is a jcode whose tools can be offered.
type Offered struct {
	Servers    *mcp.Manager // nil without servers
	Dispatcher *tools.Dispatcher
	Mode       tools.Mode
	Version    string
	// Scripts loads the tools of scripts, and returns what registers those that are on disk now; say is told what goes
	// wrong. It is nil with --no-lua.
	Scripts func(ctx context.Context, say func(line string)) (look func())
	Close   func()
}

// Command is a command of `jcode mcp`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

// commandFlag holds the words after `--`: nothing else distinguishes NAME URL from NAME -- COMMAND.
type commandFlag struct {
	Command []string `dash:""`
}

// words returns the words after `--`; ok says whether there was one.
func (c commandFlag) words() (words []string, ok bool, err error) {
	if c.Command == nil {
		return nil, false, nil
	}
	if len(c.Command) == 0 {
		return nil, false, console.Usage("no command after --")
	}
	return c.Command, true, nil
}

// pairs parses repeated NAME<sep>VALUE flags.
func pairs(list []string, sep, flag string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, kv := range list {
		name, value, ok := strings.Cut(kv, sep)
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, console.Usage("%s %q: write NAME%sVALUE", flag, kv, sep)
		}
		out[name] = strings.TrimSpace(value)
	}
	return out, nil
}

// serverFailure is a failure of a server or its tool: exit 1. What waits for approval, or is misconfigured,
// is exit 2.
func serverFailure(err error) error {
	if errors.Is(err, mcp.ErrNeedsApproval) {
		return &console.Exit{Code: console.ExitUsage, Err: err}
	}
	return &console.Exit{Code: console.ExitModel, Err: err}
}
