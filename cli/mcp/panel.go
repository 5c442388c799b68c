package mcpcli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/mcp"
	"jcode/tools/command"
)

// serverActions are the actions of a person on MCP servers: the panel, and the words of /mcp.
type serverActions struct{ mcp *mcp.Manager }

// panel returns the live view of MCP servers.
func (a serverActions) panel() command.Panel {
	act := func(f func(name string) error) func(context.Context, command.Row) (string, error) {
		return func(_ context.Context, row command.Row) (string, error) { return "", f(row.ID) }
	}
	return command.Panel{
		Name: "mcp", Help: "MCP servers: state, tools, log; connect, disconnect, reload …", Title: "MCP servers", Live: true,
		Verbs: a.verbs(), Other: command.Verb{Hint: "NAME", Help: "show a server's tools", Shows: true, Run: a.named, Complete: a.names},
		Empty: "No MCP servers. Add one with `jcode mcp add NAME -- command`, or ask the agent to connect one.",
		Rows:  func(context.Context) ([]command.Row, error) { return slicex.Map(a.mcp.Snapshot(), serverRow), nil },
		Actions: []command.Action{
			{Label: "connect or restart", Run: act(func(name string) error {
				if d, err := a.mcp.Server(name); err == nil && d.State == mcp.StateNeedsSignIn {
					return a.mcp.SignIns().Begin(name)
				}
				return a.mcp.Restart(name)
			})},
			{Key: "ctrl+d", Label: "disconnect", Run: func(_ context.Context, row command.Row) (string, error) {
				_, err := a.mcp.Disconnect(row.ID, "the user")
				return "", err
			}},
			{Key: "ctrl+e", Label: "enable or disable", Run: act(func(name string) error {
				d, err := a.mcp.Server(name)
				if err != nil {
					return err
				}
				return a.mcp.SetEnabled(name, !d.Enabled)
			})},
			{Key: "ctrl+t", Label: "approve", Confirm: true, Run: act(func(name string) error {
				d, err := a.mcp.Server(name)
				if err != nil {
					return err
				}
				if d.Pending == nil {
					return errors.New("there is nothing to approve")
				}
				return a.mcp.Approve(name, d.Pending.Hash, true)
			})},
		},
	}
}

func serverRow(d mcp.Details) command.Row {
	row := command.Row{ID: d.Name, Name: d.Name, Info: d.Line, State: serverState(d, time.Now()), Bad: d.Error != ""}
	row.Keys = []string{"connect or restart", "enable or disable"}
	if d.State == mcp.StateConnected || d.State == mcp.StateConnecting || d.State == mcp.StateReconnecting {
		row.Keys = append(row.Keys, "disconnect")
	}
	if d.Pending != nil {
		row.Keys = append(row.Keys, "approve")
	}
	var detail []string
	add := func(label, value string) {
		if value != "" {
			detail = append(detail, label+value)
		}
	}
	add("", d.Error)
	add("waits for approval: ", pendingText(d.Pending))
	add("runs: ", d.Confined)
	add("server: ", d.Server)
	add("from: ", string(d.Source))
	if d.ToolList != nil {
		var names []string
		for _, t := range d.ToolList {
			names = append(names, t.Name)
		}
		add("tools: ", strings.Join(names, ", "))
	}
	for _, s := range d.Skipped {
		add("tool "+s.Name+": ", s.Why)
	}
	if d.Stray > 0 {
		add(fmt.Sprintf("%d lines on its stdout were no messages, the last: ", d.Stray), strings.Join(d.StrayLines, " | "))
	}
	add("protocol: ", d.Protocol)
	add("roots: ", strings.Join(d.Roots, ", "))
	add("stderr: ", strings.TrimSpace(d.Stderr))
	add("log: ", d.Log)
	detail = append(detail, d.Warnings...)
	row.Detail = strings.Join(detail, "\n")
	return row
}

// serverState describes a server's state in a few words.
func serverState(d mcp.Details, now time.Time) string {
	switch {
	case d.State == mcp.StateConnected:
		return text.Count(d.Tools, "tool") + ", " + text.Count(d.Tokens, "token")
	case d.State == mcp.StateDisconnected && d.Reason != "":
		return d.Reason
	case d.State == mcp.StateReconnecting && d.NextTry.After(now):
		return fmt.Sprintf("retry %d in %.0f s", d.Attempt, math.Ceil(d.NextTry.Sub(now).Seconds()))
	case d.State == mcp.StateReconnecting:
		return fmt.Sprintf("retry %d …", d.Attempt)
	case d.State == mcp.StateConnecting:
		return "connecting …"
	}
	return string(d.State)
}

func pendingText(p *mcp.Pending) string {
	if p == nil {
		return ""
	}
	return strings.Join(append([]string{p.Line}, p.Notes...), "\n")
}
