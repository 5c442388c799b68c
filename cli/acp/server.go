package acp

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"

	"jcode/internal/jsonerr"
)

// closeWait bounds how long sessions may take to end when the client is gone.
const closeWait = 2 * time.Second

// server answers one client.
type server struct {
	host   Host
	client *client
	ctx    context.Context // ends with the connection

	mu       sync.Mutex
	sessions map[string]*openSession
}

// Serve speaks the protocol with one client until the input ends or ctx does, then closes
// all sessions. Nothing but messages is written to out.
func Serve(ctx context.Context, in io.Reader, out io.Writer, host Host) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{host: host, client: &client{conn: newConn(in, out)}, ctx: ctx, sessions: map[string]*openSession{}}
	err := s.client.conn.serve(ctx, s)
	cancel()
	s.closeAll()
	return err
}

// within waits for f, at most for limit.
func within(limit time.Duration, f func()) {
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

func (s *server) closeAll() {
	s.mu.Lock()
	all := s.sessions
	s.sessions = map[string]*openSession{}
	s.mu.Unlock()
	var wait sync.WaitGroup
	for _, o := range all {
		wait.Go(o.close)
	}
	within(closeWait, wait.Wait)
}

// notification implements handler.
func (s *server) notification(method string, params json.RawMessage) {
	if method != acp.AgentMethodSessionCancel {
		return // an unknown notification has no answer
	}
	var p acp.CancelNotification
	if json.Unmarshal(params, &p) != nil {
		return
	}
	if o := s.find(string(p.SessionId)); o != nil {
		o.cancel()
	}
}

// request implements handler.
func (s *server) request(ctx context.Context, method string, params json.RawMessage) func() (any, error) {
	do, known := s.methods()[method]
	switch {
	case !known:
		return failed(&acp.RequestError{Code: -32601, Message: "Method not found: " + method})
	case method != acp.AgentMethodInitialize && !s.client.initialized():
		return failed(&acp.RequestError{Code: -32600, Message: "Invalid request: initialize comes first"})
	}
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	return do(ctx, params)
}

func failed(err error) func() (any, error) { return func() (any, error) { return nil, err } }

// method starts a request; the func that it returns finishes it.
type method func(ctx context.Context, params json.RawMessage) func() (any, error)

func (s *server) methods() map[string]method {
	return map[string]method{
		acp.AgentMethodInitialize:             now(s.initialize),
		acp.AgentMethodAuthenticate:           later(s.authenticate),
		acp.AgentMethodSessionNew:             later(s.newSession),
		acp.AgentMethodSessionLoad:            later(s.loadSession),
		acp.AgentMethodSessionResume:          later(s.resumeSession),
		acp.AgentMethodSessionFork:            later(s.forkSession),
		acp.AgentMethodSessionList:            later(s.listSessions),
		"session/delete":                      later(s.deleteSession),
		acp.AgentMethodSessionClose:           later(s.closeSession),
		acp.AgentMethodSessionPrompt:          s.prompt,
		acp.AgentMethodSessionSetMode:         later(s.setMode),
		acp.AgentMethodSessionSetConfigOption: later(s.setConfigOption),
	}
}

// later decodes the parameters and leaves the work to the request's goroutine.
func later[P any](do func(context.Context, P) (any, error)) method {
	return func(ctx context.Context, params json.RawMessage) func() (any, error) {
		return func() (any, error) {
			p, err := decode[P](params)
			if err != nil {
				return nil, err
			}
			return do(ctx, p)
		}
	}
}

// now does the work before the next message is read.
func now[P any](do func(context.Context, P) (any, error)) method {
	return func(ctx context.Context, params json.RawMessage) func() (any, error) {
		p, err := decode[P](params)
		if err != nil {
			return failed(err)
		}
		result, err := do(ctx, p)
		return func() (any, error) { return result, err }
	}
}

func decode[P any](params json.RawMessage) (P, error) {
	var p P
	if err := json.Unmarshal(params, &p); err != nil {
		return p, invalid("%v", jsonerr.Plain(err))
	}
	if v, ok := any(&p).(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return p, invalid("%v", err)
		}
	}
	return p, nil
}

// agentCapabilities says what the agent can do. The SDK's stable type has neither session/delete nor session/fork yet.
type agentCapabilities struct {
	LoadSession         bool                   `json:"loadSession"`
	McpCapabilities     acp.McpCapabilities    `json:"mcpCapabilities"`
	PromptCapabilities  acp.PromptCapabilities `json:"promptCapabilities"`
	SessionCapabilities struct {
		List                  struct{} `json:"list"`
		Resume                struct{} `json:"resume"`
		Close                 struct{} `json:"close"`
		Delete                struct{} `json:"delete"`
		Fork                  struct{} `json:"fork"`
		AdditionalDirectories struct{} `json:"additionalDirectories"`
	} `json:"sessionCapabilities"`
}

type initialized struct {
	ProtocolVersion   int                 `json:"protocolVersion"`
	AgentCapabilities agentCapabilities   `json:"agentCapabilities"`
	AgentInfo         *acp.Implementation `json:"agentInfo"`
	AuthMethods       []acp.AuthMethod    `json:"authMethods"`
}

func (s *server) initialize(ctx context.Context, p acp.InitializeRequest) (any, error) {
	s.client.greet(p.ClientCapabilities)
	out := initialized{
		ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo:       &acp.Implementation{Name: "jcode", Title: acp.Ptr("jcode"), Version: s.host.Version()},
		AuthMethods:     []acp.AuthMethod{},
	}
	out.AgentCapabilities.LoadSession = true
	out.AgentCapabilities.McpCapabilities = acp.McpCapabilities{Http: true, Sse: true}
	out.AgentCapabilities.PromptCapabilities = acp.PromptCapabilities{Image: true, EmbeddedContext: true}
	if p.ClientCapabilities.Auth.Terminal && s.host.Ready(ctx) != nil {
		out.AuthMethods = append(out.AuthMethods, acp.AuthMethod{Terminal: &acp.AuthMethodTerminalInline{
			Id: "setup", Name: "Set up a model", Type: "terminal", Args: []string{},
			Description: acp.Ptr("Opens jcode in a terminal: it looks for local servers or takes an API key."),
		}})
	}
	return out, nil
}

func (s *server) authenticate(ctx context.Context, _ acp.AuthenticateRequest) (any, error) {
	return struct{}{}, s.host.Ready(ctx)
}

// prompt registers the prompt at once, so that a cancel that follows it finds it.
func (s *server) prompt(ctx context.Context, params json.RawMessage) func() (any, error) {
	p, err := decode[acp.PromptRequest](params)
	if err != nil {
		return failed(err)
	}
	o := s.find(string(p.SessionId))
	if o == nil {
		return failed(s.unknown(string(p.SessionId)))
	}
	pending := o.register()
	return func() (any, error) { return o.run(ctx, pending, p.Prompt) }
}

func (s *server) setMode(_ context.Context, p acp.SetSessionModeRequest) (any, error) {
	o := s.find(string(p.SessionId))
	if o == nil {
		return nil, s.unknown(string(p.SessionId))
	}
	return struct{}{}, o.setMode(string(p.ModeId))
}

func (s *server) setConfigOption(ctx context.Context, p configRequest) (any, error) {
	o := s.find(p.SessionID)
	if o == nil {
		return nil, s.unknown(p.SessionID)
	}
	if err := o.set(ctx, p.ConfigID, p.Value); err != nil {
		return nil, err
	}
	return map[string]any{"configOptions": o.options()}, nil
}
