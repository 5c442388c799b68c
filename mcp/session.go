package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/text"
	"jcode/mcp/config"
	"jcode/mcp/schema"
	"jcode/mcp/wire"
)

// listKind says which list of a server changed.
type listKind int

const (
	listTools listKind = iota
	listPrompts
	listResources
)

// sessionHooks are the callbacks from a session to its owner. They are called from goroutines
// of the protocol library and must not block, except elicit.
type sessionHooks struct {
	changed func(listKind)
	elicit  func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error)
	roots   []string
	version string // jcode's
	alive   time.Duration
}

// session is one live protocol session.
type session struct {
	link  wire.Link
	log   *wire.Log
	cs    *sdk.ClientSession
	hooks sessionHooks

	ctx    context.Context // ends with the session
	cancel context.CancelCauseFunc
	closed sync.WaitGroup

	info sessionInfo

	tokens atomic.Int64
	mu     sync.Mutex
	calls  map[string]*runningCall // by progress token
	asking int                     // open elicitations
}

// sessionInfo is what the server said in the handshake.
type sessionInfo struct {
	name, version string
	protocol      string
	instructions  string
	capabilities  json.RawMessage
	prompts       bool
	resources     bool
	completions   bool
	roots         []string // the folders that were announced to it
}

// errDisconnected ends the calls of a session that is closed on purpose.
var errDisconnected = errors.New("server disconnected")

// openSession performs the handshake over a link. On failure it closes the link.
func openSession(ctx context.Context, l wire.Link, log *wire.Log, hooks sessionHooks, protocol string) (*session, error) {
	s := &session{link: l, log: log, hooks: hooks, calls: map[string]*runningCall{}}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	client := sdk.NewClient(&sdk.Implementation{Name: "jcode", Version: hooks.version}, s.clientOptions())
	for _, dir := range hooks.roots {
		//nolint:staticcheck // servers of the older protocols, which are most, ask for roots
		client.AddRoots(&sdk.Root{URI: fileURI(dir), Name: filepath.Base(dir)})
	}
	l.Tap().Notice = func(method string) {
		switch method {
		case "notifications/tools/list_changed":
			hooks.changed(listTools)
		case "notifications/prompts/list_changed":
			hooks.changed(listPrompts)
		case "notifications/resources/list_changed":
			hooks.changed(listResources)
		}
	}
	// The library waits for its transport when ctx ends; so the transport ends first.
	stop := context.AfterFunc(ctx, l.Close)
	cs, err := client.Connect(ctx, l.Transport(), &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	stop()
	if err != nil {
		l.Close()
		s.cancel(errDisconnected)
		return nil, err
	}
	s.cs = cs
	s.info = readInfo(cs.InitializeResult())
	s.info.roots = hooks.roots
	return s, nil
}

func (s *session) clientOptions() *sdk.ClientOptions {
	can := &sdk.ClientCapabilities{
		Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}},
	}
	if len(s.hooks.roots) > 0 {
		can.RootsV2 = &sdk.RootCapabilities{} //nolint:staticcheck // see AddRoots
	}
	return &sdk.ClientOptions{
		Capabilities: can,
		ElicitationHandler: func(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return s.elicit(ctx, req.Params)
		},
		// The library subscribes to changes that have a handler. The notices themselves are
		// taken from the stream, where they come before the response that follows them.
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) {},
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) {},
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {},
		//nolint:staticcheck // servers of the older protocols log this way
		LoggingMessageHandler: func(_ context.Context, req *sdk.LoggingMessageRequest) {
			if data, err := json.Marshal(req.Params.Data); err == nil {
				s.log.Note("[%s] %s %s", req.Params.Level, text.Clean(req.Params.Logger), text.Ellipsis(text.Clean(string(data)), 4000))
			}
		},
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) { s.progress(req.Params) },
		KeepAlive:                   s.hooks.alive,
	}
}

func readInfo(r *sdk.InitializeResult) sessionInfo {
	var info sessionInfo
	if r == nil {
		return info
	}
	info.protocol, info.instructions = r.ProtocolVersion, text.Clean(r.Instructions)
	if r.ServerInfo != nil {
		info.name, info.version = text.Clean(r.ServerInfo.Name), text.Clean(r.ServerInfo.Version)
	}
	if c := r.Capabilities; c != nil {
		info.prompts, info.resources, info.completions = c.Prompts != nil, c.Resources != nil, c.Completions != nil
		if raw, err := json.Marshal(c); err == nil {
			info.capabilities = raw
		}
	}
	return info
}

func fileURI(dir string) string {
	path := filepath.ToSlash(dir)
	if path != "" && path[0] != '/' {
		path = "/" + path // a drive letter
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// close ends the session: calls first, with the reason, then the transport, then the
// library's session, which would otherwise wait for its calls.
func (s *session) close(reason error) {
	s.cancel(reason)
	s.link.Close()
	s.closed.Go(func() { _ = s.cs.Close() }) // the transport's end is not an error
}

// wait waits until the session has ended completely, or ctx ends.
func (s *session) wait(ctx context.Context) bool {
	done := make(chan struct{})
	go func() {
		<-s.link.Gone()
		s.closed.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// request runs one request and returns its raw result and whether it may have reached the
// server.
func (s *session) request(ctx context.Context, method string, do func(context.Context) error) (json.RawMessage, bool, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	defer stop()
	ctx, x := wire.WithExchange(ctx, method)
	err := do(ctx)
	raw, sent, failed := x.Outcome()
	switch {
	case failed != nil:
		return nil, sent, failed
	case err == nil:
		return raw, sent, nil
	case s.ctx.Err() != nil:
		return nil, sent, context.Cause(s.ctx)
	}
	select {
	case <-s.link.Lost():
		// The library reports a lost connection in its own words.
		if !wire.Refused(err) {
			return nil, sent, s.link.Reason()
		}
	default:
	}
	if cause := context.Cause(ctx); ctx.Err() != nil && cause != nil {
		return nil, sent, cause
	}
	if errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil, sent, &wire.Fault{Text: "connection lost", Retry: wire.RetryLost, Err: err}
	}
	return nil, sent, err
}

const (
	maxPages = 200
	maxItems = 10_000
)

// partialError reports that later pages of a list could not be read.
type partialError struct {
	page, items int
	err         error
}

func (e *partialError) Error() string {
	reason := plainError(e.err)
	if wire.Refused(e.err) {
		reason = wire.ErrorText(e.err)
	}
	return fmt.Sprintf("the list ends after %d items: page %d failed: %s", e.items, e.page, reason)
}

func (e *partialError) Unwrap() error { return e.err }

// pages reads all pages of a list and stops at a cursor that repeats. A later page that fails
// is requested once more; then the error is a partialError, and the pages before it are
// returned.
func (s *session) pages(ctx context.Context, method string, ask func(ctx context.Context, cursor string) error, read func(json.RawMessage) (n int, next string, err error)) (cut string, err error) {
	cursor, total := "", 0
	seen := map[string]bool{}
	for page := 1; ; page++ {
		once := func() (json.RawMessage, error) {
			raw, _, err := s.request(ctx, method, func(ctx context.Context) error { return ask(ctx, cursor) })
			return raw, err
		}
		raw, err := once()
		if err != nil && page > 1 && ctx.Err() == nil && s.ctx.Err() == nil {
			s.log.Note("%s, page %d: %v; asking again", method, page, err)
			if raw, err = once(); err != nil {
				return "", &partialError{page, total, err}
			}
		}
		if err != nil {
			if refusal, ok := errors.AsType[*jsonrpc.Error](err); page == 1 && ok && refusal.Code == jsonrpc.CodeMethodNotFound {
				return "", nil // the server has no such list
			}
			return "", err
		}
		n, next, err := read(raw)
		switch {
		case err != nil && page > 1:
			return "", &partialError{page, total, err}
		case err != nil:
			return "", err
		}
		total += n
		switch {
		case next == "":
			return "", nil
		case seen[next]:
			return fmt.Sprintf("the list was cut after %d items: the server's cursor %q does not move", total, text.Ellipsis(next, 40)), nil
		case page >= maxPages || total >= maxItems:
			return fmt.Sprintf("the list was cut after %d items on %d pages", total, page), nil
		}
		seen[next] = true
		cursor = next
	}
}

// listTools returns all tools, each validated separately. With a partialError it returns those
// of the first pages.
func (s *session) listTools(ctx context.Context, server string, http bool) ([]schema.Tool, []schema.Skipped, error) {
	reader := schema.Reader{HTTP: http, Wire: func(tool string) string { return config.WireName(server, tool) }}
	var tools []schema.Tool
	var skipped []schema.Skipped
	cut, err := s.pages(ctx, "tools/list",
		func(ctx context.Context, cursor string) error {
			_, err := s.cs.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
			return err
		},
		func(raw json.RawMessage) (int, string, error) {
			page, err := reader.Page(raw)
			if err != nil {
				return 0, "", err
			}
			tools = append(tools, page.Tools...)
			skipped = append(skipped, page.Skipped...)
			return len(page.Tools) + len(page.Skipped), page.Next, nil
		})
	if partial, ok := errors.AsType[*partialError](err); ok {
		skipped = append(skipped, schema.Skipped{Name: "(list)", Why: partial.Error()})
	}
	if cut != "" {
		// A cursor that does not move sends the same page again: those are not duplicates.
		skipped = dropRepeats(append(skipped, schema.Skipped{Name: "(list)", Why: cut}))
	}
	return tools, skipped, err
}

func dropRepeats(list []schema.Skipped) []schema.Skipped {
	seen := map[schema.Skipped]bool{}
	var out []schema.Skipped
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
