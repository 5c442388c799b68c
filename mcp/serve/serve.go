// Package serve owns jcode as an MCP server: its own tools, offered to another program over
// stdin and stdout.
//
// It must not know servers that jcode connects to; a tool is whatever the dispatcher has.
package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/text"
	"jcode/tools"
)

// Options configures Run.
type Options struct {
	Dispatcher *tools.Dispatcher
	// Tools are canonical names or globs; nil: read, grep, glob and ls. A name or glob behind
	// "lua:" picks among the Lua tools only, and may name one that comes later.
	Tools []string
	// Refresh compares Lua tool folders with the disk before tools are listed. May be nil.
	Refresh func()
	Mode    tools.Mode
	Version string
	In      io.Reader
	Out     io.Writer
}

// luaPattern begins a pattern for Lua tools. A name cannot contain a colon, so it is not a name.
const luaPattern = "lua:"

// lastAsking is the newest protocol in which a server asks its client while a call runs.
const lastAsking = "2025-11-25"

// The lines of a command's output that are shown while it runs.
const (
	maxProgress   = 200 // cells
	progressPause = 200 * time.Millisecond
)

// grace is how long calls may take to end after the client has gone.
const grace = 700 * time.Millisecond

// Run offers jcode's tools as an MCP server until the input ends. Every call passes through the
// same dispatcher and gate as the agent's. Questions go to the client as a form if it can show
// one; otherwise the call is refused. Tools that are added, changed or removed while it runs are
// announced. Nothing but the protocol is written to Out.
func Run(ctx context.Context, opt Options) error {
	if opt.Tools == nil {
		opt.Tools = []string{"read", "grep", "glob", "ls"}
	}
	if err := opt.unknownNames(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := sdk.NewServer(&sdk.Implementation{Name: "jcode", Version: opt.Version}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}},
	})
	offer := &offer{opt: opt, ctx: ctx, server: server, offered: map[string]tools.Spec{}}
	changed, unwatch := opt.Dispatcher.Registry.Watch()
	defer unwatch()
	offer.update()
	server.AddReceivingMiddleware(offer.fresh)
	var follower sync.WaitGroup
	follower.Go(func() { offer.follow(changed) })
	defer follower.Wait()
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		out := &lineWriter{out: opt.Out}
		ended <- server.Run(ctx, &sdk.IOTransport{Reader: newCheckedLines(opt.In, out, cancel), Writer: out})
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(grace): // do not wait any longer for calls that do not end
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// offer keeps the offered tools in step with the registry.
type offer struct {
	opt    Options
	ctx    context.Context // ends with the input
	server *sdk.Server

	mu      sync.Mutex
	offered map[string]tools.Spec // by wire name
}

// follow updates the offer at every change of the registry.
func (o *offer) follow(changed <-chan struct{}) {
	for {
		select {
		case <-changed:
			o.update()
		case <-o.ctx.Done():
			return
		}
	}
}

// fresh compares folders with the disk before tools are listed or called, so that a client that
// has just written a tool finds it at once.
func (o *offer) fresh(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "tools/list" || method == "tools/call" {
			if o.opt.Refresh != nil {
				o.opt.Refresh()
			}
			o.update()
		}
		return next(ctx, method, req)
	}
}

// update adds, replaces and removes tools of the server, which notifies the client once for
// changes that happen together.
func (o *offer) update() {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := map[string]tools.Spec{}
	for _, e := range o.opt.served() {
		now[e.Spec.Wire] = e.Spec
		if was, ok := o.offered[e.Spec.Wire]; ok && sameOffer(was, e.Spec) {
			continue
		}
		o.server.AddTool(&sdk.Tool{
			Name: e.Spec.Wire, Description: e.Spec.Description, InputSchema: e.Spec.Parameters,
			Annotations: &sdk.ToolAnnotations{ReadOnlyHint: e.Spec.ReadOnly},
		}, o.opt.handler(o.ctx, e))
	}
	var gone []string
	for wire := range o.offered {
		if _, ok := now[wire]; !ok {
			gone = append(gone, wire)
		}
	}
	if len(gone) > 0 {
		o.server.RemoveTools(gone...)
	}
	o.offered = now
}

// sameOffer reports whether two specs are the same tool to a client.
func sameOffer(a, b tools.Spec) bool {
	return a.Name == b.Name && a.Description == b.Description && a.ReadOnly == b.ReadOnly && a.Hash == b.Hash && bytes.Equal(a.Parameters, b.Parameters)
}

// served lists the tools that the patterns select now. What is hidden from the agent is hidden from clients
// too: Lua of a project that nobody trusts.
func (opt Options) served() []tools.Entry {
	return slices.DeleteFunc(opt.Dispatcher.Registry.Snapshot(nil).List(), func(e tools.Entry) bool {
		return e.Spec.Hidden && e.Spec.Group == tools.GroupLua || !slices.ContainsFunc(opt.Tools, func(p string) bool { return picks(p, e.Spec) })
	})
}

// picks reports whether a pattern picks a tool. Tools that manage servers, and those of
// other servers, are only picked by a pattern that names them in full.
func picks(pattern string, spec tools.Spec) bool {
	if name, ok := strings.CutPrefix(pattern, luaPattern); ok {
		return spec.Group == tools.GroupLua && tools.MatchName(name, spec.Name)
	}
	if slices.Contains(ofConversations(), spec.Name) {
		return false
	}
	if spec.Group == tools.GroupMCP || strings.HasPrefix(spec.Name, "mcp_") {
		return pattern == spec.Name || pattern == spec.Wire || spec.Server != "" && strings.HasPrefix(pattern, "mcp:"+spec.Server+":") && tools.MatchName(pattern, spec.Name)
	}
	return tools.MatchName(pattern, spec.Name)
}

// ofConversations lists the tools that work for a conversation, which there is none of here.
func ofConversations() []string { return []string{"agent", "ask", "task", "todo"} }

// unknownNames returns an error for patterns that pick nothing, with the reason if it is known.
func (opt Options) unknownNames() error {
	list := opt.Dispatcher.Registry.Snapshot(nil).List()
	for _, p := range opt.Tools {
		i := slices.IndexFunc(list, func(e tools.Entry) bool { return picks(p, e.Spec) })
		switch {
		case strings.HasPrefix(p, luaPattern): // what it names may come later
		case slices.Contains(ofConversations(), p):
			return fmt.Errorf("%q works for a conversation, and jcode mcp serve has none", p)
		case i < 0:
			return fmt.Errorf("no tool is called %q; jcode tools lists them, and %s%s names a Lua tool that is added later", p, luaPattern, p)
		case p == list[i].Spec.Name && list[i].Spec.Hidden && list[i].Spec.Group == tools.GroupLua:
			return fmt.Errorf("%q is Lua of a project that is not trusted: start jcode here and trust it, or add --trust for one run", p)
		}
	}
	return nil
}

// handler returns the handler for the calls of one tool.
func (opt Options) handler(ctx context.Context, e tools.Entry) sdk.ToolHandler {
	var counter atomic.Int64
	return func(callCtx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		callCtx, cancel := context.WithCancel(callCtx)
		defer cancel()
		stop := context.AfterFunc(ctx, cancel)
		defer stop()
		caller := tools.Caller{Origin: tools.OriginClient, Label: clientName(req.Session), Mode: func() tools.Mode { return opt.Mode }}
		if canAsk(req.Session) {
			caller.Asker = clientAsker{req.Session}
		}
		call := tools.Call{
			ID: "serve-" + e.Spec.Wire[:min(len(e.Spec.Wire), 20)] + "-" + strconv.FormatInt(counter.Add(1), 36), Name: e.Spec.Name,
			Arguments: req.Params.Arguments, Caller: caller, Progress: progressTo(callCtx, req),
		}
		res := opt.Dispatcher.Dispatch(callCtx, call).Result
		out := &sdk.CallToolResult{IsError: res.Failed, Content: []sdk.Content{&sdk.TextContent{Text: res.Text}}}
		for _, p := range res.Parts {
			out.Content = append(out.Content, &sdk.ImageContent{MIMEType: p.MIME, Data: p.Data})
		}
		return out, nil
	}
}

func clientName(s *sdk.ServerSession) string {
	if p := s.InitializeParams(); p != nil && p.ClientInfo != nil && p.ClientInfo.Name != "" {
		return text.FirstLine(p.ClientInfo.Name, 60)
	}
	return "MCP client"
}

// canAsk reports whether the client shows forms.
func canAsk(s *sdk.ServerSession) bool {
	p := s.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil || p.ProtocolVersion > lastAsking {
		return false
	}
	e := p.Capabilities.Elicitation
	return e.Form != nil || e.URL == nil
}

// progressTo sends a call's progress when the client wants it.
func progressTo(ctx context.Context, req *sdk.CallToolRequest) func(tools.Progress) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	var n atomic.Int64
	var mu sync.Mutex
	var last time.Time
	return func(p tools.Progress) {
		message := p.Text
		if message == "" { // of a command: the last line that it has written
			lines := strings.Split(strings.TrimRight(p.Output, " \t\r\n"), "\n")
			message = text.FirstLine(text.Clean(lines[len(lines)-1]), maxProgress)
			mu.Lock()
			soon := time.Since(last) < progressPause
			if message != "" && !soon {
				last = time.Now()
			}
			mu.Unlock()
			if message == "" || soon {
				return
			}
		}
		// Progress that does not arrive is not a failure of the call.
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: message, Progress: float64(n.Add(1))})
	}
}

// clientAsker puts approval questions to the client's person.
type clientAsker struct{ session *sdk.ServerSession }

// Ask shows the question as a form with one choice.
func (a clientAsker) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	lines := []string{q.Heading()}
	if q.Command != "" {
		lines = append(lines, q.Command)
	}
	lines = append(lines, q.Details...)
	if q.Diff != "" {
		lines = append(lines, q.Diff) // in full: what is approved is what is seen
	}
	labels := make([]string, len(q.Options))
	for i, o := range q.Options {
		labels[i] = o.Label
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "required": []string{"answer"},
		"properties": map[string]any{"answer": map[string]any{"type": "string", "title": "Allow?", "enum": labels}},
	})
	if err != nil {
		return tools.Answer{}, err
	}
	res, err := a.session.Elicit(ctx, &sdk.ElicitParams{Mode: "form", Message: text.Visible(strings.Join(lines, "\n")), RequestedSchema: json.RawMessage(schema)})
	switch {
	case err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "elicitation result"): // a form without a choice
		return tools.Answer{Scope: tools.AnswerNo, Option: -1, Word: "the form came back without a choice"}, nil
	case err != nil:
		return tools.Answer{}, fmt.Errorf("ask the client: %w", err)
	}
	chosen, _ := res.Content["answer"].(string)
	i := slices.Index(labels, chosen)
	if res.Action != "accept" || i < 0 {
		return tools.Answer{Scope: tools.AnswerNo, Option: -1}, nil
	}
	return tools.Answer{Scope: q.Options[i].Scope, Option: i}, nil
}
