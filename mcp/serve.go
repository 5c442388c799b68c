package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/tools"
)

// ServeOptions are what serving jcode's own tools needs.
type ServeOptions struct {
	Dispatcher *tools.Dispatcher
	// Tools are canonical names or globs; nil: read, grep, glob and ls.
	Tools   []string
	Mode    tools.Mode
	Version string
	In      io.Reader
	Out     io.Writer
}

// serveGrace is how long calls may take to end when the client has gone.
const serveGrace = 700 * time.Millisecond

// Serve offers jcode's tools as an MCP server until the input ends. Every call passes the
// same dispatcher and gate as the agent's; what would ask is put to the client as a form
// when it can show one, and refused else. Nothing but the protocol is written to Out.
func Serve(ctx context.Context, opt ServeOptions) error {
	if opt.Tools == nil {
		opt.Tools = []string{"read", "grep", "glob", "ls"}
	}
	list, err := servedTools(opt)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := sdk.NewServer(&sdk.Implementation{Name: "jcode", Version: opt.Version}, nil)
	for _, e := range list {
		server.AddTool(&sdk.Tool{
			Name: e.Spec.Wire, Description: e.Spec.Description, InputSchema: e.Spec.Parameters,
			Annotations: &sdk.ToolAnnotations{ReadOnlyHint: e.Spec.ReadOnly},
		}, opt.handler(ctx, e))
	}
	ended := make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, &sdk.IOTransport{Reader: &endingReader{opt.In, cancel}, Writer: nopWriteCloser{opt.Out}})
	}()
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(serveGrace): // a call that does not end is left behind
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// endingReader ends the calls when the client's side is closed.
type endingReader struct {
	io.Reader
	end func()
}

func (r *endingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.end()
	}
	return n, err
}

func (r *endingReader) Close() error { return nil }

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// servedTools picks the tools by name. Those that manage servers, and those of other
// servers, are only offered when a pattern names them in full.
func servedTools(opt ServeOptions) ([]tools.Entry, error) {
	var out []tools.Entry
	matched := map[string]bool{}
	for _, e := range opt.Dispatcher.Registry.Snapshot(nil).List() {
		special := e.Spec.Group == tools.GroupMCP || strings.HasPrefix(e.Spec.Name, "mcp_")
		i := slices.IndexFunc(opt.Tools, func(p string) bool {
			if special {
				return p == e.Spec.Name || p == e.Spec.Wire || e.Spec.Server != "" && strings.HasPrefix(p, "mcp:"+e.Spec.Server+":") && tools.MatchName(p, e.Spec.Name)
			}
			return tools.MatchName(p, e.Spec.Name)
		})
		if i < 0 {
			continue
		}
		matched[opt.Tools[i]] = true
		out = append(out, e)
	}
	for _, p := range opt.Tools {
		if !matched[p] {
			return nil, fmt.Errorf("no tool is called %q", p)
		}
	}
	return out, nil
}

// handler carries out the calls of one tool.
func (opt ServeOptions) handler(ctx context.Context, e tools.Entry) sdk.ToolHandler {
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
		return cutText(firstLine(p.ClientInfo.Name, 60), 60)
	}
	return "MCP client"
}

// canAsk reports whether the client shows forms.
func canAsk(s *sdk.ServerSession) bool {
	p := s.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil || p.ProtocolVersion > classicProtocol {
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
	return func(p tools.Progress) {
		if p.Text == "" {
			return
		}
		// Progress that does not arrive is no failure of the call.
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: p.Text, Progress: float64(n.Add(1))})
	}
}

// clientAsker puts approval questions to the client's person.
type clientAsker struct{ session *sdk.ServerSession }

// Ask shows the question as a form with one choice.
func (a clientAsker) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	lines := []string{q.Title}
	if q.Command != "" {
		lines = append(lines, q.Command)
	}
	lines = append(lines, q.Details...)
	if q.Diff != "" {
		lines = append(lines, cutText(q.Diff, 8000))
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
	res, err := a.session.Elicit(ctx, &sdk.ElicitParams{Mode: "form", Message: strings.Join(lines, "\n"), RequestedSchema: json.RawMessage(schema)})
	if err != nil {
		return tools.Answer{}, fmt.Errorf("ask the client: %w", err)
	}
	chosen, _ := res.Content["answer"].(string)
	i := slices.Index(labels, chosen)
	if res.Action != "accept" || i < 0 {
		return tools.Answer{Scope: tools.AnswerNo, Option: -1}, nil
	}
	return tools.Answer{Scope: q.Options[i].Scope, Option: i}, nil
}
