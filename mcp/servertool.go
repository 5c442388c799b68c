package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"jcode/internal/rawjson"
	"jcode/internal/text"
	"jcode/mcp/config"
	"jcode/mcp/schema"
	"jcode/mcp/wire"
	"jcode/tools"
)

// serverTool is one tool of a server as jcode's own.
type serverTool struct {
	m      *Manager
	server string
	info   schema.Tool
	spec   tools.Spec
}

func ownerOf(server string) string { return "mcp:" + server }

// newServerTool wraps a tool. Hidden tools are called through mcp_call.
func newServerTool(m *Manager, e config.Entry, hash string, info schema.Tool, hidden bool) serverTool {
	readOnly := e.Trusted && info.ReadOnly
	s := tools.Spec{
		Name: config.CanonicalName(e.Name, info.Name), Wire: info.Wire, Description: describeTool(e.Name, info),
		Parameters: info.Sent.Schema, Needs: tools.CapMCP, Group: tools.GroupMCP, Server: e.Name,
		Hash: hash, ReadOnly: readOnly, Trusted: e.Trusted, Hidden: hidden,
		MaxOutput: e.MaxResultTokens*bytesPerToken + 1024, Beside: true,
	}
	if hidden {
		s.Note = "deferred: found by mcp_search, called through mcp_call"
	}
	if !info.Sent.Wrapped && rawjson.Kind(info.InputSchema) == "an object" && !bytes.Equal(bytes.TrimSpace(info.InputSchema), []byte("{}")) {
		s.Check = info.InputSchema
	}
	return serverTool{m: m, server: e.Name, info: info, spec: s}
}

// describeTool is what the model reads of a tool.
func describeTool(server string, info schema.Tool) string {
	d := strings.TrimSpace(info.Description)
	if d == "" {
		d = "(no description)"
	}
	d = "[MCP:" + server + "] " + d
	if note := info.Sent.Note; note != "" {
		return text.Ellipsis(d, schema.MaxDescription-len(note)-1) + " " + note
	}
	return text.Ellipsis(d, schema.MaxDescription)
}

// Spec describes the tool.
func (t serverTool) Spec() tools.Spec { return t.spec }

// Plan declares that the call reaches a server.
func (t serverTool) Plan(_ context.Context, call tools.Call) (tools.Plan, error) {
	return tools.Plan{
		Accesses: []tools.Access{{Kind: tools.AccessMCP, Target: t.server + ":" + t.info.Name, Hash: t.spec.Hash, ReadOnly: t.spec.ReadOnly}},
		Summary:  "Call " + t.info.Name + " of MCP server " + t.server,
		Notes:    []string{"arguments: " + string(call.Arguments)},
	}, nil
}

// Run calls the server.
func (t serverTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	args := call.Arguments
	if t.info.Sent.Wrapped {
		args = rawjson.Member(args, schema.Argument)
	}
	raw, err := t.m.call(ctx, t.server, t.info.Name, args, func(line string) { call.Progress(tools.Progress{Text: line}) })
	if err != nil {
		t.m.SignIns().moreRights(t.server, err)
		return tools.Result{}, t.failure(ctx, err)
	}
	defer wire.Release(len(raw))
	r := t.result(raw)
	if call.Caller.Origin != tools.OriginScript && len(raw) >= rawjson.Large {
		r.Data = nil // only scripts read it
	}
	return r, nil
}

// result converts a raw result.
func (t serverTool) result(raw json.RawMessage) tools.Result {
	m, limit := t.m, 0
	m.mu.Lock()
	e, ok := m.wants.entry(t.server)
	m.mu.Unlock()
	var rights Rights
	if ok {
		limit, rights = e.MaxResultTokens, m.approvals.rights(e)
	}
	c := converter{maxTokens: limit, blind: m.opt.Sees != nil && !m.opt.Sees()}
	var saved []string
	if m.saver.dir != "" {
		noted := func(path string, err error) (string, error) {
			if err == nil {
				saved = append(saved, path)
			}
			return path, err
		}
		c.save = func(mime string, data []byte) (string, error) { return noted(m.saver.save(mime, data)) }
		c.saveText = func(text string) (string, error) { return noted(m.saver.saveText(text)) }
	}
	got := c.convert(raw)
	data := map[string]any{}
	if got.script != "" {
		data["content"] = got.script
	}
	if got.structured != nil {
		data["data"] = got.structured
	}
	r := tools.Result{Text: got.text, Parts: got.parts, Data: data, Failed: got.isError, Display: tools.Display{Files: saved}}
	if got.isError {
		r.Kind = tools.KindMCP
		if more := rights.refused(got.text); more != "" {
			r.Text += "\n[" + more + "]"
		}
	}
	return r
}

// failure returns what the model reads of a call that failed below the tool.
func (t serverTool) failure(ctx context.Context, err error) error {
	secrets := t.m.secretsOf(t.server)
	timeout, timedOut := errors.AsType[*timeoutError](err)
	switch {
	case errors.Is(err, errDisconnected):
		return tools.Errorf(tools.KindMCP, "MCP call failed: server %s was disconnected", t.server)
	case timedOut:
		return tools.Errorf(tools.KindTimeout, "MCP call failed: %s", timeout.text)
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return tools.Errorf(tools.KindCancelled, "cancelled by user")
	}
	text := plainError(err)
	if wire.Refused(err) {
		text = wire.ErrorText(err)
	}
	text = config.Scrub(text, secrets)
	if more := t.rights().refused(text); more != "" {
		text += "; " + more
	}
	return tools.Errorf(tools.KindMCP, "MCP call failed: %s", text)
}

// rights returns how the server's program runs.
func (t serverTool) rights() Rights {
	t.m.mu.Lock()
	e, ok := t.m.wants.entry(t.server)
	t.m.mu.Unlock()
	if !ok {
		return Rights{}
	}
	return t.m.approvals.rights(e)
}

// reviveWait is how long a call waits for a server that it reconnects.
const reviveWait = 5 * time.Second

// call calls a tool of a server. It is retried only when it provably never ran.
func (m *Manager) call(ctx context.Context, server, tool string, args json.RawMessage, show func(string)) (json.RawMessage, error) {
	m.mu.Lock()
	a := m.actors[server]
	m.mu.Unlock()
	if a == nil {
		return nil, tools.Errorf(tools.KindMCP, "MCP server %s is not connected", server)
	}
	v := a.view.Load()
	if v.session == nil {
		if v = a.revive(ctx, v); v.session == nil {
			return nil, errors.New(v.describe(server, time.Now()))
		}
	}
	limits := callLimits{idle: v.entry.CallTimeout, total: v.entry.MaxCallTime}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	raw, _, err := v.session.call(ctx, tool, args, limits, show)
	if _, forgotten := errors.AsType[*wire.SessionLost](err); forgotten {
		// The server did not know the session: the call was refused before it ran.
		if v = a.renewed(ctx, v); v.session == nil {
			return nil, errors.New(v.describe(server, time.Now()))
		}
		raw, _, err = v.session.call(ctx, tool, args, limits, show)
	}
	if err == nil {
		a.succeeded.Store(true)
		a.settled(ctx)
	}
	return raw, err
}

// revive reconnects a server that a call needs. It waits only for a server that has no
// attempt scheduled.
func (a *actor) revive(ctx context.Context, v *view) *view {
	outcome := a.kick()
	if v.state == StateFailed {
		ctx, cancel := context.WithTimeout(ctx, reviveWait)
		defer cancel()
		_ = await(ctx, outcome) // the view says how it ended
	}
	return a.view.Load()
}

func (a *actor) renewed(ctx context.Context, v *view) *view {
	_ = await(ctx, a.renew(v.session)) // the view says how it ended
	return a.view.Load()
}
