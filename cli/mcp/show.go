package mcpcli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"jcode/cli/console"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/mcp"
	mcpconfig "jcode/mcp/config"
)

// listCmd lists the configured servers.
type listCmd struct {
	JSON           bool         `name:"json" help:"Print JSON."`
	Check          bool         `help:"Connect those that may run and show their tools and price."`
	ConnectTimeout console.Span `help:"How long to wait with --check." placeholder:"TIME"`
}

// listedServer is one line of `jcode mcp list --json`.
type listedServer struct {
	mcp.Status
	Enabled  bool   `json:"enabled"`
	Approved bool   `json:"approved"`
	Target   string `json:"target"`
}

// Run lists the servers.
func (c *listCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	if c.Check {
		wait, cancel := context.WithTimeout(ctx, cmp.Or(spanTime(c.ConnectTimeout), mcpconfig.DefaultConnectTimeout))
		defer cancel()
		a.Servers.Start()
		a.Servers.WaitReady(wait)
	}
	for _, w := range a.Servers.Warnings() {
		fmt.Fprintln(std.Err, "jcode: "+w)
	}
	list := slicex.Map(a.Servers.Snapshot(), func(d mcp.Details) listedServer {
		return listedServer{Status: d.Status, Enabled: d.Enabled, Approved: d.Pending == nil, Target: d.Line}
	})
	if c.JSON {
		return console.PrintJSON(std.Out, map[string]any{"servers": list})
	}
	if len(list) == 0 {
		fmt.Fprintln(std.Out, "No MCP servers. Add one: jcode mcp add NAME -- COMMAND ARGS…, or jcode mcp add NAME URL")
		return nil
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Name, stateText(s, c.Check), s.Transport, s.Target, s.Source)
	}
	return w.Flush()
}

// stateText describes a server's state in a few words.
func stateText(s listedServer, checked bool) string {
	switch {
	case s.State == mcp.StateNeedsSignIn:
		return text.Headline(s.Error) // it names the state
	case s.Error != "" && checked:
		return string(s.State) + ": " + text.Headline(s.Error)
	case s.Error != "":
		return "invalid: " + text.Headline(s.Error)
	case checked && s.State == mcp.StateConnected:
		return "connected, " + text.Count(s.Tools, "tool") + ", " + text.Count(s.Tokens, "token")
	case checked && s.State != mcp.StateDisconnected:
		return string(s.State)
	case !s.Approved:
		return "needs approval"
	case !s.Enabled:
		return "disabled"
	}
	return "enabled"
}

// getCmd shows one server.
type getCmd struct{ oneServer }

// Run shows the merged entry without secrets.
func (c *getCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	d, err := a.Servers.Definition(c.Name)
	if err != nil {
		return console.Usage("%w", err)
	}
	if c.JSON {
		return console.PrintJSON(std.Out, d)
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, value)
		}
	}
	line("name", d.Name)
	line("type", string(d.Type))
	line("command", strings.TrimSpace(mcpconfig.Target{Type: mcpconfig.Stdio, Command: d.Command, Args: d.Args}.Line()))
	line("url", d.URL)
	line("cwd", d.Cwd)
	for _, m := range []struct {
		name   string
		values map[string]string
	}{{"env", d.Env}, {"header", d.Headers}} {
		for _, k := range slices.Sorted(maps.Keys(m.values)) {
			line(m.name, k+" = "+m.values[k])
		}
	}
	line("enabled", fmt.Sprint(d.Enabled))
	line("approved", fmt.Sprint(d.Approved))
	line("timeouts", fmt.Sprintf("connect %s, call %s, in all %s", d.ConnectTimeout, d.CallTimeout, d.MaxCallTime))
	for _, s := range d.Sources {
		line("defined in", fmt.Sprintf("%s:%d (%s)", s.File, s.Line, s.Scope))
	}
	for _, warning := range d.Warnings {
		line("warning", warning)
	}
	line("error", d.Error)
	return w.Flush()
}
