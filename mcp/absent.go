package mcp

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"jcode/mcp/config"
	"jcode/tools"
)

// SetDispatcher sets the dispatcher that carries out mcp_call, with the same checks, gate and
// grants as a direct call. The dispatcher asks the manager about tools of servers that are
// not connected.
func (m *Manager) SetDispatcher(d *tools.Dispatcher) {
	d.Absent = m.absent
	m.offer.standIns.dispatcher.Store(d)
}

// absent returns an error for a tool whose server is not connected. It returns nil for other
// names, and for tools that a connected server does not have.
func (m *Manager) absent(name string) error {
	rest, ok := strings.CutPrefix(name, "mcp:")
	server, _, _ := strings.Cut(rest, ":")
	if !ok {
		rest, ok = strings.CutPrefix(name, "mcp__")
		server, _, _ = strings.Cut(rest, "__")
	}
	if !ok {
		return nil
	}
	d, err := m.Server(server)
	switch {
	case err != nil:
		return nil
	case d.State == StateConnected && (len(d.ToolList) == 0 || registered(m.opt.Registry, d.Name)):
		return nil
	case d.State == StateConnected: // its tools go a moment before its connection does
		d.State, d.Reason = StateDisconnected, "disconnected"
	}
	return tools.Errorf(tools.KindMCP, "%s is not there: %s", name, d.absence(time.Now()))
}

// registered reports whether any tool of a server is in a registry.
func registered(reg *tools.Registry, server string) bool {
	return slices.ContainsFunc(reg.Snapshot(nil).All(), func(e tools.Entry) bool { return e.Spec.Server == server })
}

// absence describes why a server has no tools now, and what to do.
func (d Details) absence(now time.Time) string {
	s := "MCP server " + d.Name + " is " + string(d.State)
	switch {
	case strings.HasPrefix(d.Reason, "disconnected"):
		s = "MCP server " + d.Name + " was " + d.Reason
	case d.Reason != "":
		s += " (" + d.Reason + ")"
	}
	if d.Error != "" {
		s += ": " + d.Error
	}
	if d.Transport == config.Line && d.State == StateFailed {
		return s // nothing but its program can bring it back
	}
	switch d.State {
	case StateConnecting:
		return s + "; its tools are announced when they come"
	case StateReconnecting:
		if wait := d.NextTry.Sub(now); wait > 0 {
			s += fmt.Sprintf("; next try in %.0f s", wait.Seconds())
		}
		return s + ". Call again after that, or mcp_connect with name " + d.Name + " tries now"
	}
	return s + ". mcp_connect with name " + d.Name + " connects it"
}
