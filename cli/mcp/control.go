package mcpcli

import (
	"context"

	"jcode/internal/slicex"
	"jcode/lua"
	"jcode/mcp"
	mcpconfig "jcode/mcp/config"
	"jcode/tools"
)

// control gives scripts access to the MCP manager. No method waits for a server.
type control struct {
	mcp     *mcp.Manager
	approve approver
}

// Add implements lua.MCPControl. What a plugin adds must first be approved by a person.
func (l control) Add(name string, t lua.MCPTarget) error {
	target := mcpconfig.Target{Command: t.Command, Args: t.Args, Env: t.Env, Cwd: t.Dir, URL: t.URL, Headers: t.Headers}
	if !t.Ask {
		return l.mcp.Add(name, target, nil)
	}
	return l.mcp.Add(name, target, func(ctx context.Context, plan tools.Plan) error { return l.approve(ctx, t.Owner, plan) })
}

// Remove implements lua.MCPControl.
func (l control) Remove(name string) bool { return l.mcp.Remove(name) }

// Restart implements lua.MCPControl.
func (l control) Restart(name string) bool {
	_, ok := l.Status(name)
	return ok && l.mcp.Retry(name) == nil
}

// Status implements lua.MCPControl.
func (l control) Status(name string) (lua.MCPStatus, bool) {
	for _, st := range l.List() {
		if st.Name == name {
			return st, true
		}
	}
	return lua.MCPStatus{}, false
}

// List implements lua.MCPControl: entries that do not run are left out.
func (l control) List() []lua.MCPStatus { return luaServers(l.mcp.Running()) }

func luaServers(running []mcp.Status) []lua.MCPStatus {
	return slicex.Map(running, func(st mcp.Status) lua.MCPStatus {
		return lua.MCPStatus{Name: st.Name, State: string(st.State), Tools: st.Tools, Error: st.Error, Attempt: st.Attempt}
	})
}
