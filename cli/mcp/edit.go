package mcpcli

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"jcode/cli/console"
	"jcode/internal/text"
	mcpconfig "jcode/mcp/config"
)

func spanTime(s console.Span) time.Duration { return time.Duration(s) }

// writeFlags select the file to which a server is written.
type writeFlags struct {
	Scope string `short:"s" enum:"user,project" default:"user" help:"Whose file: ${enum}."`
	Force bool   `help:"Replace a server of that name."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

func (w writeFlags) options() mcpconfig.AddOptions {
	return mcpconfig.AddOptions{Project: w.Scope == "project", Force: w.Force}
}

// addCmd adds a server.
type addCmd struct {
	Name    string       `arg:"" help:"Server."`
	URL     string       `arg:"" optional:"" help:"Address; or give -- COMMAND ARGS…"`
	Type    string       `short:"t" aliases:"transport" enum:"stdio,http,sse," default:"" help:"Transport; found out from what is given."`
	Env     []string     `short:"e" help:"Environment variable for the server; repeatable." placeholder:"NAME=VALUE" sep:"none"`
	Header  []string     `short:"H" help:"HTTP header; repeatable." placeholder:"NAME: VALUE" sep:"none"`
	Dir     string       `name:"cwd" help:"Working folder of the server." placeholder:"DIR"`
	Timeout console.Span `help:"Limit of a call without progress." placeholder:"TIME"`
	commandFlag
	writeFlags
}

// Run writes the entry.
func (c *addCmd) Run(ctx context.Context, std Setup) error {
	command, given, err := c.words()
	if err != nil {
		return err
	}
	if (c.URL != "") == given {
		return console.Usage("mcp add: give NAME URL, or NAME -- COMMAND ARGS…")
	}
	env, err := pairs(c.Env, "=", "-e")
	if err != nil {
		return err
	}
	headers, err := pairs(c.Header, ":", "-H")
	if err != nil {
		return err
	}
	t := mcpconfig.Target{Type: mcpconfig.HTTP, URL: c.URL, Headers: headers}
	if given {
		t = mcpconfig.Target{Type: mcpconfig.Stdio, Command: command[0], Args: command[1:], Env: env, Cwd: c.Dir}
	}
	switch {
	case c.Type != "" && (mcpconfig.Transport(c.Type) == mcpconfig.Stdio) != given:
		return console.Usage("mcp add: --type %s does not fit what is given", c.Type)
	case c.Type != "":
		t.Type = mcpconfig.Transport(c.Type)
	}
	opt := c.options()
	opt.CallTimeout = spanTime(c.Timeout)
	err = editServers(ctx, std, c.JSON, c.Name, func(p mcpconfig.Paths) (string, error) { return p.AddServer(c.Name, t, opt) }, "added to")
	if err == nil && given {
		warnOfMissingProgram(std.Streams, command[0])
	}
	if err != nil || given || c.JSON {
		return err
	}
	return signInAfterAdd(ctx, std, c.Name)
}

// warnOfMissingProgram warns that a server's program is not on this machine. It is not an error: the entry
// may be meant for another machine. A value with a variable is known only at the start, and a relative path
// depends on the folder that the server starts in.
func warnOfMissingProgram(std console.Streams, command string) {
	if strings.Contains(command, "$") || (filepath.Base(command) != command && !filepath.IsAbs(command)) {
		return
	}
	if _, err := exec.LookPath(command); err != nil {
		fmt.Fprintf(std.Err, "jcode: %s is not there yet: %s\n", text.Visible(command), text.Visible(howToInstall(command)))
	}
}

// editServers changes a file and says which.
func editServers(ctx context.Context, std Setup, asJSON bool, name string, change func(mcpconfig.Paths) (string, error), done string) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	path, err := change(a.Paths)
	if err != nil {
		return console.Usage("%w", err)
	}
	if asJSON {
		return console.PrintJSON(std.Out, map[string]string{"name": name, "file": path})
	}
	fmt.Fprintf(std.Out, "%s: %s %s\n", name, done, path)
	return nil
}

// addJSONCmd adds a server from an entry in the JSON form that documentation shows.
type addJSONCmd struct {
	Name  string `arg:"" help:"Server."`
	Value string `arg:"" help:"The entry as JSON; - reads it from standard input."`
	writeFlags
}

// Run writes the entry with all of its keys.
func (c *addJSONCmd) Run(ctx context.Context, std Setup) error {
	data := []byte(c.Value)
	if c.Value == "-" {
		var err error
		if data, err = io.ReadAll(io.LimitReader(std.In, 1<<20)); err != nil {
			return console.Usage("read the entry: %w", err)
		}
	}
	return editServers(ctx, std, c.JSON, c.Name, func(p mcpconfig.Paths) (string, error) { return p.AddServerJSON(c.Name, data, c.options()) }, "added to")
}

// oneServer names a configured server, and the form of the output.
type oneServer struct {
	Name string `arg:"" help:"Server."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// removeCmd removes a server.
type removeCmd struct{ oneServer }

// Run removes the entry from the file that has it.
func (c *removeCmd) Run(ctx context.Context, std Setup) error {
	return editServers(ctx, std, c.JSON, c.Name, func(p mcpconfig.Paths) (string, error) { return p.RemoveServer(c.Name) }, "removed from")
}

// enableCmd switches a server on.
type enableCmd struct{ oneServer }

// Run enables the server in its file.
func (c *enableCmd) Run(ctx context.Context, std Setup) error {
	return editServers(ctx, std, c.JSON, c.Name, func(p mcpconfig.Paths) (string, error) { return p.EnableServer(c.Name, true) }, "enabled in")
}

// disableCmd switches a server off.
type disableCmd struct{ oneServer }

// Run disables the server in its file.
func (c *disableCmd) Run(ctx context.Context, std Setup) error {
	return editServers(ctx, std, c.JSON, c.Name, func(p mcpconfig.Paths) (string, error) { return p.EnableServer(c.Name, false) }, "disabled in")
}
