package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"jcode/cli/board"
	"jcode/cli/console"
	"jcode/internal/jsonerr"
	"jcode/internal/text"
	"jcode/mcp"
	mcpconfig "jcode/mcp/config"
	"jcode/mcp/serve"
	"jcode/tools"
)

// probeFlags say how to reach a server outside of a conversation.
type probeFlags struct {
	URL            string   `name:"url" help:"Instead of a configured server: this address." placeholder:"URL"`
	Header         []string `short:"H" help:"HTTP header with --url; repeatable." placeholder:"NAME: VALUE" sep:"none"`
	Env            []string `short:"e" help:"Environment variable for the command; repeatable." placeholder:"NAME=VALUE" sep:"none"`
	Timeout        span     `help:"Limit of a call without progress." placeholder:"TIME"`
	ConnectTimeout span     `help:"Limit of connecting." placeholder:"TIME"`
	JSON           bool     `name:"json" help:"Print JSON."`
	commandFlag
}

// isTarget reports whether the server is given by --url or a command, not by name.
func (p probeFlags) isTarget() bool { return p.URL != "" || p.Command != nil }

// probe connects as open does and calls do with the connection; err is why the connection failed.
func (p probeFlags) probe(ctx context.Context, f *flags, std Streams, name string, elicit mcp.Elicitor, do func(probe *mcp.Probe, err error) error) error {
	a, err := openServers(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	probe, err := p.open(ctx, a, name, elicit)
	if probe == nil {
		return failure(nil, err)
	}
	defer probe.Close()
	return do(probe, err)
}

// open connects to a configured server, or to the target of the flags. The probe is not nil if the connection
// failed.
func (p probeFlags) open(ctx context.Context, a *app, name string, elicit mcp.Elicitor) (*mcp.Probe, error) {
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
		return a.mcp.ProbeTarget(ctx, "command", mcpconfig.Target{Type: mcpconfig.Stdio, Command: command[0], Args: command[1:], Env: env}, opt)
	case p.URL != "":
		headers, err := pairs(p.Header, ":", "-H")
		if err != nil {
			return nil, err
		}
		return a.mcp.ProbeTarget(ctx, "url", mcpconfig.Target{Type: mcpconfig.HTTP, URL: p.URL, Headers: headers}, opt)
	case name == "":
		return nil, console.Usage("name a server, or give --url URL or -- COMMAND ARGS…")
	}
	if _, err := a.mcp.Definition(name); err != nil {
		return nil, console.Usage("%w", err)
	}
	return a.mcp.ProbeServer(ctx, name, opt)
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

// mcpTestCmd connects a server and reports what happened.
type mcpTestCmd struct {
	Name string `arg:"" optional:"" help:"Server; or give --url URL or -- COMMAND ARGS…"`
	probeFlags
}

// Run prints the report; exit 1 when the server failed.
func (c *mcpTestCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return c.probe(ctx, f, std, c.Name, mcp.Unattended{}, func(probe *mcp.Probe, err error) error {
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

// mcpToolsCmd lists a server's tools.
type mcpToolsCmd struct {
	Name string `arg:"" optional:"" help:"Server; or give --url URL or -- COMMAND ARGS…"`
	probeFlags
}

// Run lists the tools, with --json as the server sent them.
func (c *mcpToolsCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return c.probe(ctx, f, std, c.Name, mcp.Unattended{}, func(probe *mcp.Probe, err error) error {
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

// mcpCallCmd calls a tool.
type mcpCallCmd struct {
	First  string `arg:"" name:"server" help:"Server; with --url or -- COMMAND ARGS… the tool."`
	Second string `arg:"" optional:"" name:"tool" help:"Tool; with --url or -- COMMAND ARGS… its arguments."`
	Third  string `arg:"" optional:"" name:"arguments" help:"JSON object, - for standard input, or @FILE."`
	probeFlags
}

// Run calls the tool; exit 1 when it failed.
func (c *mcpCallCmd) Run(ctx context.Context, f *flags, std Streams) error {
	server, tool, arguments, extra := c.First, c.Second, c.Third, ""
	if c.isTarget() {
		server, tool, arguments, extra = "", c.First, c.Second, c.Third
	}
	if tool == "" || extra != "" {
		return console.Usage("mcp call: give NAME TOOL [JSON], or TOOL [JSON] with --url URL or -- COMMAND ARGS…")
	}
	args, err := callArguments(arguments, std)
	if err != nil {
		return err
	}
	elicit := mcp.Unattended{AcceptDefaults: f.Elicit == "accept-defaults"}
	return c.probe(ctx, f, std, server, elicit, func(probe *mcp.Probe, err error) error {
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
func callArguments(given string, std Streams) (json.RawMessage, error) {
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

// mcpServeCmd serves jcode's own tools.
type mcpServeCmd struct {
	Tools []string `help:"Tools to offer: names or globs, lua:* for all Lua tools (default: read, grep, glob, ls)." placeholder:"LIST"`
}

// Run serves until the input ends. Servers are connected only if tools of theirs are named.
func (c *mcpServeCmd) Run(ctx context.Context, f *flags, std Streams) error {
	withServers := false
	for _, t := range c.Tools {
		withServers = withServers || strings.HasPrefix(t, "mcp")
	}
	f.NoMCP = !withServers
	a, err := newApp(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	if withServers {
		wait, cancel := context.WithTimeout(ctx, printWait)
		a.mcp.Start()
		a.mcp.WaitReady(wait)
		cancel()
	}
	if a.mode == "" {
		a.mode = tools.ModeAsk
	}
	opt := serve.Options{Dispatcher: a.dispatcher, Tools: c.Tools, Mode: a.mode, Version: Version(), In: std.In, Out: std.Out}
	if !f.NoLua && beyondBuiltins(a.registry, c.Tools) {
		a.board.Aside(func(n board.Notice) { fmt.Fprintln(std.Err, "jcode:", text.Clean(n.Text)) })
		close(a.started)
		a.list.Load(ctx)
		opt.Refresh = a.list.Look
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
