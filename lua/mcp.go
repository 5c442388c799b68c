package lua

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"jcode/internal/text"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

// mcpCall implements jcode.mcp_call through the same dispatcher and gate.
func (s *principal) mcpCall(ctx context.Context, a arguments) ([]any, error) {
	server, tool := a.text(0), a.text(1)
	if s.env == wire.EnvTool && !slices.Contains(s.perms.MCP, server+":"+tool) {
		return one(refusal(tools.KindPermission, "%s with %q", s.declareText("mcp"), server+":"+tool)), nil
	}
	name := "mcp:" + server + ":" + tool
	_, known, _ := s.around.opts.Registry.Snapshot(nil).Lookup(name)
	if s.around.opts.MCP == nil && !known {
		return one(refusal(tools.KindMCP, "MCP client not initialized: MCP servers are switched off here (--no-mcp)")), nil
	}
	if no := s.missingTool(server, tool); !known && no != nil {
		return one(no), nil
	}
	return s.dispatch(ctx, name, a.at(2), nil)
}

// missingServer returns why the name of a server's tool is unknown: the server is not connected,
// or has no such tool. It returns nil for names that belong to no known server.
func (s *principal) missingServer(name string) *wire.Object {
	if s.around.opts.MCP == nil || !strings.HasPrefix(name, "mcp") {
		return nil
	}
	for _, st := range s.around.opts.MCP.List() {
		for _, prefix := range []string{"mcp:" + st.Name + ":", "mcp__" + st.Name + "__"} {
			if tool, ok := strings.CutPrefix(name, prefix); ok {
				return s.missingTool(st.Name, tool)
			}
		}
	}
	if rest, ok := strings.CutPrefix(name, "mcp:"); ok {
		return refusal(tools.KindMCP, "MCP call failed: the server of %s is not connected: it was disconnected or never added; tools.mcp_list() lists the servers that run", rest)
	}
	return nil
}

// missingTool returns why a server's tool does not exist.
func (s *principal) missingTool(server, tool string) *wire.Object {
	if s.around.opts.MCP == nil {
		return nil
	}
	st, known := s.around.opts.MCP.Status(server)
	switch {
	case !known:
		return refusal(tools.KindMCP, "MCP call failed: server %s is not connected: it was disconnected or never added; tools.mcp_list() lists the servers that run", server)
	case st.State == "connected":
		var have []string
		for _, e := range s.around.opts.Registry.Snapshot(s.caller.Scope).List() {
			if e.Spec.Group == tools.GroupMCP && e.Spec.Server == server {
				have = append(have, strings.TrimPrefix(e.Spec.Name, "mcp:"+server+":"))
			}
		}
		return refusal(tools.KindUnknown, "unknown intent: server %s has no tool %q; it has: %s", server, tool, text.Cut(strings.Join(have, ", "), 500))
	}
	why := "MCP call failed: server " + server + " is " + st.State
	if st.Attempt > 0 {
		why += fmt.Sprintf(" (attempt %d)", st.Attempt)
	}
	if st.Error != "" {
		why += ": " + st.Error
	}
	if st.State == "failed" {
		why += "; it is not retried automatically: tools.mcp_restart, /mcp or mcp_connect does"
	} else {
		why += "; its tools come back when it is connected, call again then"
	}
	return refusal(tools.KindMCP, "%s", why)
}

// callMCPAdmin implements tools.mcp_*. None of these waits for a server.
func (s *principal) callMCPAdmin(f wire.Func, a arguments) ([]any, error) {
	m, name := s.around.opts.MCP, a.text(0)
	switch f.Field() {
	case "mcp_status":
		if m != nil {
			if st, ok := m.Status(name); ok {
				return one(statusTable(st)), nil
			}
		}
		return one(nil), nil
	case "mcp_list":
		list := []any{}
		if m != nil {
			for _, st := range m.List() {
				list = append(list, statusTable(st))
			}
		}
		return one(list), nil
	}
	if s.script == nil {
		return s.refuse(f, "permission denied: "+f.Name+" is for startup.lua, and for plugins that declare permissions.mcp_admin; not for tools")
	}
	if !s.all && !s.perms.MCPAdmin {
		return s.undeclared(f, "mcp_admin")
	}
	switch f.Field() {
	case "mcp_add":
		target, err := parseTarget(a.at(1))
		if err != nil {
			return []any{false, err.Error()}, nil
		}
		if m == nil {
			return []any{false, "MCP is not available"}, nil
		}
		target.Owner, target.Ask = s.owner, !s.all
		if err := m.Add(name, target); err != nil {
			return []any{false, err.Error()}, nil
		}
		return one(true), nil
	case "mcp_remove":
		return one(m != nil && m.Remove(name)), nil
	case "mcp_restart":
		return one(m != nil && m.Restart(name)), nil
	}
	return nil, &pool.ProtocolError{What: "unknown function " + f.Name}
}

// statusTable returns a status as a table; absent fields are nil in Lua.
func statusTable(st MCPStatus) *wire.Object {
	o := wire.NewObject("name", st.Name, "state", st.State, "tools", 0.0)
	if st.State == "connected" {
		o.Set("tools", float64(st.Tools))
	}
	if st.Error != "" && (st.State == "reconnecting" || st.State == "failed") {
		o.Set("error", st.Error)
	}
	if st.State == "reconnecting" && st.Attempt > 0 {
		o.Set("attempt", float64(st.Attempt))
	}
	return o
}

// parseTarget reads the target of mcp_add.
func parseTarget(v any) (MCPTarget, error) {
	var t MCPTarget
	if s, ok := v.(string); ok {
		t.URL = s
	} else {
		o, ok := v.(*wire.Object)
		if !ok {
			return t, fmt.Errorf("the target must be a URL or a table with command or url")
		}
		for i := range o.Len() {
			key, item := o.At(i)
			if err := t.field(key, item); err != nil {
				return t, err
			}
		}
	}
	if (t.URL == "") == (t.Command == "") {
		return t, fmt.Errorf("the target needs a url or a command, not both")
	}
	if t.URL != "" {
		u, err := url.Parse(t.URL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return t, fmt.Errorf("%q is not an http or https URL", t.URL)
		}
	}
	return t, nil
}

func (t *MCPTarget) field(key string, v any) (err error) {
	switch key {
	case "url", "command", "cwd":
		s, ok := v.(string)
		if !ok || strings.TrimSpace(s) == "" {
			return fmt.Errorf("target.%s must be a text", key)
		}
		*map[string]*string{"url": &t.URL, "command": &t.Command, "cwd": &t.Dir}[key] = s
	case "args":
		if t.Args, err = wire.Texts(v); err != nil {
			return fmt.Errorf("target.args must be a list of texts")
		}
	case "env":
		t.Env, err = textMap(key, v)
	case "headers":
		t.Headers, err = textMap(key, v)
	default:
		return fmt.Errorf("unknown key target.%s; known: command, args, env, cwd, url, headers", key)
	}
	return err
}

func textMap(key string, v any) (map[string]string, error) {
	o, ok := v.(*wire.Object)
	if !ok {
		return nil, fmt.Errorf("target.%s must be a table of texts", key)
	}
	out := make(map[string]string, o.Len())
	for i := range o.Len() {
		name, item := o.At(i)
		s, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("target.%s.%s must be a text", key, name)
		}
		out[name] = s
	}
	return out, nil
}
