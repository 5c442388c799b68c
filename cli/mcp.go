package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"jcode/cli/console"
	"jcode/mcp"
	mcpconfig "jcode/mcp/config"
)

// mcpCmd works with MCP servers without a model.
type mcpCmd struct {
	List    mcpListCmd    `cmd:"" default:"withargs" help:"List the configured servers; starts nothing without --check."`
	Get     mcpGetCmd     `cmd:"" help:"Show one server's merged entry and the files that define it."`
	Add     mcpAddCmd     `cmd:"" help:"Add a server: NAME URL, or NAME -- COMMAND ARGS…"`
	AddJSON mcpAddJSONCmd `cmd:"" name:"add-json" help:"Add a server given as JSON."`
	Remove  mcpRemoveCmd  `cmd:"" help:"Remove a server from the file that has it."`
	Enable  mcpEnableCmd  `cmd:"" help:"Switch a server on."`
	Disable mcpDisableCmd `cmd:"" help:"Switch a server off."`
	Test    mcpTestCmd    `cmd:"" help:"Connect a server, list its tools, disconnect, and say what was seen."`
	Tools   mcpToolsCmd   `cmd:"" help:"List a server's tools with their schemas as received: NAME, --url URL, or -- COMMAND ARGS…"`
	Call    mcpCallCmd    `cmd:"" help:"Call a tool: NAME TOOL [JSON|-|@FILE], --url URL TOOL [JSON], or TOOL [JSON] -- COMMAND ARGS…"`
	Login   mcpLoginCmd   `cmd:"" help:"Sign in to a server: NAME, or --url URL."`
	Logout  mcpLogoutCmd  `cmd:"" help:"Forget the sign-in to a server: NAME, or --url URL."`
	Serve   mcpServeCmd   `cmd:"" help:"Serve jcode's own tools over stdio."`
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

// serverPaths returns where servers are configured.
func (a *app) serverPaths() mcpconfig.Paths {
	return mcpconfig.Paths{
		Run: a.flags.MCPConfig, ProjectRoot: a.root, ConfigDir: a.paths.Config, Home: a.paths.Home,
		NoImport: isOff(a.config.MCP.ImportClaude),
		Plugins:  a.bundles.serverFiles,
	}
}

// span is a duration on the command line: with a unit, or a number of milliseconds.
type span time.Duration

// UnmarshalText reads "45s", "2m" or "1500".
func (s *span) UnmarshalText(text []byte) error {
	if ms, err := strconv.ParseFloat(string(text), 64); err == nil && ms > 0 {
		*s = span(ms * float64(time.Millisecond))
		return nil
	}
	d, err := time.ParseDuration(string(text))
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is not a duration: use 45s, 2m, or a number of milliseconds", text)
	}
	*s = span(d)
	return nil
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
