package mcpcli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"jcode/cli/console"
	"jcode/cli/core"
	"jcode/internal/jsonerr"
	"jcode/internal/text"
	"jcode/mcp"
	mcpconfig "jcode/mcp/config"
	"jcode/mcp/serve"
	"jcode/tools"
)

// probeFlags say how to reach a server outside of a conversation.
type probeFlags struct {
	URL            string       `name:"url" help:"Instead of a configured server: this address." placeholder:"URL"`
	Header         []string     `short:"H" help:"HTTP header with --url; repeatable." placeholder:"NAME: VALUE" sep:"none"`
	Env            []string     `short:"e" help:"Environment variable for the command; repeatable." placeholder:"NAME=VALUE" sep:"none"`
	Timeout        console.Span `help:"Limit of a call without progress." placeholder:"TIME"`
	ConnectTimeout console.Span `help:"Limit of connecting." placeholder:"TIME"`
	JSON           bool         `name:"json" help:"Print JSON."`
	commandFlag
}

// isTarget reports whether the server is given by --url or a command, not by name.
func (p probeFlags) isTarget() bool { return p.URL != "" || p.Command != nil }

// probe connects as open does and calls do with the connection; err is why the connection failed.
func (p probeFlags) probe(ctx context.Context, std Setup, name string, elicit mcp.Elicitor, do func(probe *mcp.Probe, err error) error) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	probe, err := p.open(ctx, a, name, elicit)
	if probe == nil {
		return failure(nil, err)
	}
	defer probe.Close()
	return do(probe, err)
}

// open connects to a configured server, or to the target of the flags. The probe is not nil if the connection
// failed.
func (p probeFlags) open(ctx context.Context, a Opened, name string, elicit mcp.Elicitor) (*mcp.Probe, error) {
	command, given, err := p.words()
	opt := mcp.ProbeOptions{ConnectTimeout: spanTime(p.ConnectTimeout), CallTimeout: spanTime(p.Timeout), Elicitor: elicit}
	switch {
	case err != nil:
		return nil, err
	case given && p.URL != "":
		return nil, console.Usage("give --url or a command, not both")
	case given:
		env, err := pairs(p.Env, "=", "-e")
		if err != nil {
			return nil, err
		}
		return a.Servers.ProbeTarget(ctx, "command", mcpconfig.Target{Type: mcpconfig.Stdio, Command: command[0], Args: command[1:], Env: env}, opt)
	case p.URL != "":
		headers, err := pairs(p.Header, ":", "-H")
		if err != nil {
			return nil, err
		}
		return a.Servers.ProbeTarget(ctx, "url", mcpconfig.Target{Type: mcpconfig.HTTP, URL: p.URL, Headers: headers}, opt)
	case name == "":
		return nil, console.Usage("name a server, or give --url URL or -- COMMAND ARGS…")
	}
	if _, err := a.Servers.Definition(name); err != nil {
		return nil, console.Usage("%w", err)
	}
	return a.Servers.ProbeServer(ctx, name, opt)
}

// failure returns the error with which a failed connection is reported.
func failure(probe *mcp.Probe, err error) error {
	var exit *console.Exit
	if errors.As(err, &exit) {
		return err
	}
	if probe != nil {
		return &console.Exit{Code: console.ExitModel, Err: errors.New(probe.ErrorText(err))}
	}
	return serverFailure(err)
}

// testCmd connects a server and reports what happened.
type testCmd struct {
	Name string `arg:"" optional:"" help:"Server; or give --url URL or -- COMMAND ARGS…"`
	probeFlags
}

// Run prints the report; exit 1 when the server failed.
func (c *testCmd) Run(ctx context.Context, std Setup) error {
	return c.probe(ctx, std, c.Name, mcp.Unattended{}, func(probe *mcp.Probe, err error) error {
		report := probe.Report(err)
		if c.JSON {
			if printed := console.PrintJSON(std.Out, report); printed != nil {
				return printed
			}
		} else {
			printTest(std.Out, report)
		}
		if !report.OK {
			return &console.Exit{Code: console.ExitModel, Silent: true, Err: err}
		}
		return nil
	})
}

func printTest(w io.Writer, r mcp.TestReport) {
	if !r.OK {
		fmt.Fprintf(w, "%s: failed after %d ms: %s\n", r.Name, r.ConnectMS, r.Error)
		if r.Stderr != "" {
			fmt.Fprintln(w, "last lines of its stderr:")
			fmt.Fprintln(w, r.Stderr)
		}
	} else {
		fmt.Fprintf(w, "%s: connected in %d ms: %s %s, protocol %s\n", r.Name, r.ConnectMS, r.Server.Name, r.Server.Version, r.Server.Protocol)
		fmt.Fprintf(w, "%s, %s: %s\n", text.Count(len(r.Tools), "tool"), text.Count(r.Tokens, "token"), strings.Join(r.Tools, ", "))
	}
	if len(r.Roots) > 0 {
		fmt.Fprintln(w, "roots: "+strings.Join(r.Roots, ", "))
	}
	for _, s := range r.Repairs {
		fmt.Fprintf(w, "repaired: %s: %s\n", s.Name, s.Why)
	}
	if r.Stray > 0 {
		fmt.Fprintf(w, "%d lines on its stdout were no messages, the last: %s\n", r.Stray, strings.Join(r.StrayLines, " | "))
	}
}

// toolsCmd lists a server's tools.
type toolsCmd struct {
	Name string `arg:"" optional:"" help:"Server; or give --url URL or -- COMMAND ARGS…"`
	probeFlags
}

// Run lists the tools, with --json as the server sent them.
func (c *toolsCmd) Run(ctx context.Context, std Setup) error {
	return c.probe(ctx, std, c.Name, mcp.Unattended{}, func(probe *mcp.Probe, err error) error {
		if err != nil {
			return failure(probe, err)
		}
		list := probe.Tools()
		if c.JSON {
			return console.PrintJSON(std.Out, list)
		}
		for _, t := range list.Tools {
			fmt.Fprintf(std.Out, "%s  %s\n", t.Name, text.Headline(t.Description))
		}
		for _, s := range list.Skipped {
			fmt.Fprintf(std.Err, "jcode: %s: %s\n", s.Name, s.Why)
		}
		return nil
	})
}

// callCmd calls a tool.
type callCmd struct {
	First  string `arg:"" name:"server" help:"Server; with --url or -- COMMAND ARGS… the tool."`
	Second string `arg:"" optional:"" name:"tool" help:"Tool; with --url or -- COMMAND ARGS… its arguments."`
	Third  string `arg:"" optional:"" name:"arguments" help:"JSON object, - for standard input, or @FILE."`
	probeFlags
}

// Run calls the tool; exit 1 when it failed.
func (c *callCmd) Run(ctx context.Context, std Setup) error {
	server, tool, arguments, extra := c.First, c.Second, c.Third, ""
	if c.isTarget() {
		server, tool, arguments, extra = "", c.First, c.Second, c.Third
	}
	if tool == "" || extra != "" {
		return console.Usage("mcp call: give NAME TOOL [JSON], or TOOL [JSON] with --url URL or -- COMMAND ARGS…")
	}
	args, err := callArguments(arguments, std.Streams)
	if err != nil {
		return err
	}
	elicit := mcp.Unattended{AcceptDefaults: std.AcceptDefaults}
	return c.probe(ctx, std, server, elicit, func(probe *mcp.Probe, err error) error {
		switch {
		case err != nil && c.JSON:
			report := mcp.CallReport{Text: probe.ErrorText(err), Error: &mcp.CallFailure{Message: probe.ErrorText(err)}}
			if printed := console.PrintJSON(std.Out, report); printed != nil {
				return printed
			}
			return &console.Exit{Code: console.ExitModel, Silent: true, Err: err}
		case err != nil:
			return failure(probe, err)
		}
		report := probe.Call(ctx, tool, args)
		if c.JSON {
			err = console.PrintJSON(std.Out, report)
		} else if report.OK {
			_, err = fmt.Fprintln(std.Out, report.Text)
		}
		if err != nil {
			return err
		}
		if !report.OK {
			return &console.Exit{Code: console.ExitModel, Silent: c.JSON, Err: errors.New(report.Text)}
		}
		return nil
	})
}

// callArguments reads the JSON object after the tool's name.
func callArguments(given string, std console.Streams) (json.RawMessage, error) {
	if given == "" {
		return json.RawMessage("{}"), nil
	}
	data := []byte(given)
	var err error
	switch {
	case given == "-":
		data, err = io.ReadAll(std.In)
	case strings.HasPrefix(given, "@"):
		data, err = os.ReadFile(given[1:])
	}
	if err != nil {
		return nil, console.Usage("read arguments: %w", err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, console.Usage("the arguments are not a JSON object: %w", jsonerr.Plain(err))
	}
	return data, nil
}

// serveCmd serves jcode's own tools.
type serveCmd struct {
	Tools []string `help:"Tools to offer: names or globs, lua:* for all Lua tools (default: read, grep, glob, ls)." placeholder:"LIST"`
}

// Run serves until the input ends. Servers are connected only if tools of theirs are named.
func (c *serveCmd) Run(ctx context.Context, std Setup) error {
	withServers := false
	for _, t := range c.Tools {
		withServers = withServers || strings.HasPrefix(t, "mcp")
	}
	a, err := std.Offer(ctx, withServers)
	if err != nil {
		return err
	}
	defer a.Close()
	if withServers {
		wait, cancel := context.WithTimeout(ctx, core.PrintWait)
		a.Servers.Start()
		a.Servers.WaitReady(wait)
		cancel()
	}
	opt := serve.Options{Dispatcher: a.Dispatcher, Tools: c.Tools, Mode: cmp.Or(a.Mode, tools.ModeAsk), Version: a.Version, In: std.In, Out: std.Out}
	if a.Scripts != nil && beyondBuiltins(a.Dispatcher.Registry, c.Tools) {
		opt.Refresh = a.Scripts(ctx, func(line string) { fmt.Fprintln(std.Err, "jcode:", text.Clean(line)) })
	}
	if err := serve.Run(ctx, opt); err != nil {
		return console.Usage("mcp serve: %w", err)
	}
	return nil
}

// beyondBuiltins reports whether a pattern may select a tool that a script brings.
func beyondBuiltins(registry *tools.Registry, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		_, builtin, _ := registry.Snapshot(nil).Lookup(p)
		return !builtin && !strings.HasPrefix(p, "mcp")
	})
}
