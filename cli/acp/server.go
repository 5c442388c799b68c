package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"

	"jcode/internal/jsonerr"
	"jcode/session"
)

// closeWait bounds how long sessions may take to end when the client is gone.
const closeWait = 2 * time.Second

// listPage is how many sessions one answer of session/list has.
const listPage = 100

// server answers one client.
type server struct {
	host Host
	conn *conn
	ctx  context.Context // ends with the connection

	mu       sync.Mutex
	client   acp.ClientCapabilities
	greeted  bool
	sessions map[string]*openSession
}

// Serve speaks the protocol with one client until the input ends or ctx does, then closes
// all sessions. Nothing but messages is written to out.
func Serve(ctx context.Context, in io.Reader, out io.Writer, host Host) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{host: host, conn: newConn(in, out), ctx: ctx, sessions: map[string]*openSession{}}
	err := s.conn.serve(ctx, s)
	cancel()
	s.closeAll()
	return err
}

// within waits for f, at most so long.
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
	case method != acp.AgentMethodInitialize && !s.initialized():
		return failed(&acp.RequestError{Code: -32600, Message: "Invalid request: initialize comes first"})
	}
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	return do(ctx, params)
}

func failed(err error) func() (any, error) { return func() (any, error) { return nil, err } }

// method begins a request; what it returns finishes it.
type method func(ctx context.Context, params json.RawMessage) func() (any, error)

func (s *server) methods() map[string]method {
	return map[string]method{
		acp.AgentMethodInitialize:             now(s.initialize),
		acp.AgentMethodAuthenticate:           later(s.authenticate),
		acp.AgentMethodSessionNew:             later(s.newSession),
		acp.AgentMethodSessionLoad:            later(s.loadSession),
		acp.AgentMethodSessionResume:          later(s.resumeSession),
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

func (s *server) initialized() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.greeted
}

func (s *server) capabilities() acp.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// agentCapabilities are what the agent can do. The SDK's type has no session/delete yet.
type agentCapabilities struct {
	LoadSession         bool                   `json:"loadSession"`
	McpCapabilities     acp.McpCapabilities    `json:"mcpCapabilities"`
	PromptCapabilities  acp.PromptCapabilities `json:"promptCapabilities"`
	SessionCapabilities struct {
		List                  struct{} `json:"list"`
		Resume                struct{} `json:"resume"`
		Close                 struct{} `json:"close"`
		Delete                struct{} `json:"delete"`
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
	s.mu.Lock()
	s.client, s.greeted = p.ClientCapabilities, true
	s.mu.Unlock()
	out := initialized{
		ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo:       &acp.Implementation{Name: "jcode", Title: acp.Ptr("jcode"), Version: s.host.Version()},
		AuthMethods:     []acp.AuthMethod{},
	}
	out.AgentCapabilities.LoadSession = true
	out.AgentCapabilities.McpCapabilities = acp.McpCapabilities{Http: true}
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

// place checks where a session shall be.
func (s *server) place(cwd string, dirs []string, servers []acp.McpServer) (Opening, error) {
	for _, dir := range append([]string{cwd}, dirs...) {
		if !filepath.IsAbs(dir) {
			return Opening{}, invalid("the folder %q is no absolute path", dir)
		}
	}
	o := Opening{Cwd: cwd, Dirs: dirs, Servers: map[string]json.RawMessage{}}
	for _, server := range servers {
		name, entry, err := serverEntry(server)
		if err != nil {
			return o, err
		}
		if _, twice := o.Servers[name]; twice {
			return o, invalid("two MCP servers are called %q", name)
		}
		o.Servers[name] = entry
	}
	return o, nil
}

// serverEntry is an MCP server of the client as an entry of a configuration file.
func serverEntry(server acp.McpServer) (name string, entry json.RawMessage, err error) {
	var v any
	switch {
	case server.Stdio != nil:
		env := map[string]string{}
		for _, e := range server.Stdio.Env {
			env[e.Name] = e.Value
		}
		name, v = server.Stdio.Name, map[string]any{"command": server.Stdio.Command, "args": server.Stdio.Args, "env": env}
	case server.Http != nil:
		headers := map[string]string{}
		for _, h := range server.Http.Headers {
			headers[h.Name] = h.Value
		}
		name, v = server.Http.Name, map[string]any{"url": server.Http.Url, "headers": headers}
	default:
		return "", nil, invalid("MCP servers are reached over stdio or http")
	}
	if name == "" {
		return "", nil, invalid("an MCP server has no name")
	}
	entry, err = json.Marshal(v)
	return name, entry, err
}

// open opens a session and keeps it.
func (s *server) open(ctx context.Context, o Opening) (*openSession, error) {
	if s.find(o.ID) != nil {
		return nil, invalid("session %s is open already in this connection", o.ID)
	}
	caps := s.capabilities()
	if caps.Fs.ReadTextFile || caps.Fs.WriteTextFile {
		o.Files = files{conn: s.conn, session: o.ID, can: caps.Fs}
	}
	w, err := s.host.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	opened := newOpenSession(s, o, w)
	s.mu.Lock()
	_, twice := s.sessions[o.ID]
	late := s.ctx.Err() != nil
	if !twice && !late {
		s.sessions[o.ID] = opened
	}
	s.mu.Unlock()
	if twice || late {
		opened.close()
		return nil, invalid("session %s is open already in this connection", o.ID)
	}
	return opened, nil
}

func (s *server) newSession(ctx context.Context, p acp.NewSessionRequest) (any, error) {
	o, err := s.place(p.Cwd, p.AdditionalDirectories, p.McpServers)
	if err != nil {
		return nil, err
	}
	if o.ID, err = session.NewID(); err != nil {
		return nil, err
	}
	o.New = true
	opened, err := s.open(ctx, o)
	if err != nil {
		return nil, err
	}
	options, modes := opened.options(), opened.modes()
	opened.begin()
	return acp.NewSessionResponse{SessionId: acp.SessionId(o.ID), ConfigOptions: options, Modes: modes}, nil
}

func (s *server) loadSession(ctx context.Context, p acp.LoadSessionRequest) (any, error) {
	opened, err := s.goOn(ctx, string(p.SessionId), p.Cwd, p.AdditionalDirectories, p.McpServers)
	if err != nil {
		return nil, err
	}
	opened.replay()
	options, modes := opened.options(), opened.modes()
	opened.begin()
	return acp.LoadSessionResponse{ConfigOptions: options, Modes: modes}, nil
}

func (s *server) resumeSession(ctx context.Context, p acp.ResumeSessionRequest) (any, error) {
	opened, err := s.goOn(ctx, string(p.SessionId), p.Cwd, p.AdditionalDirectories, p.McpServers)
	if err != nil {
		return nil, err
	}
	options, modes := opened.options(), opened.modes()
	opened.begin()
	return acp.ResumeSessionResponse{ConfigOptions: options, Modes: modes}, nil
}

// goOn opens a stored session.
func (s *server) goOn(ctx context.Context, id, cwd string, dirs []string, servers []acp.McpServer) (*openSession, error) {
	o, err := s.place(cwd, dirs, servers)
	if err != nil {
		return nil, err
	}
	o.ID = id
	opened, err := s.open(ctx, o)
	if errors.Is(err, session.ErrNotFound) {
		return nil, &acp.RequestError{Code: -32002, Message: fmt.Sprintf("there is no session %q", id)}
	}
	return opened, err
}

// listSessions returns a page of the stored sessions; the cursor is the place of the next one.
func (s *server) listSessions(ctx context.Context, p acp.ListSessionsRequest) (any, error) {
	at := 0
	if p.Cursor != nil && *p.Cursor != "" {
		raw, err := base64.RawURLEncoding.DecodeString(*p.Cursor)
		if err == nil {
			at, err = strconv.Atoi(string(raw))
		}
		if err != nil || at < 0 {
			return nil, invalid("the cursor is none that session/list returned")
		}
	}
	cwd := ""
	if p.Cwd != nil {
		if cwd = *p.Cwd; cwd != "" && !filepath.IsAbs(cwd) {
			return nil, invalid("the folder %q is no absolute path", cwd)
		}
	}
	rows, err := s.host.List(ctx, cwd)
	if err != nil {
		return nil, err
	}
	out := acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	rows = rows[min(at, len(rows)):]
	if len(rows) > listPage {
		rows = rows[:listPage]
		out.NextCursor = acp.Ptr(base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(at + listPage))))
	}
	for _, r := range rows {
		out.Sessions = append(out.Sessions, acp.SessionInfo{
			SessionId: acp.SessionId(r.ID), Cwd: r.Cwd, Title: acp.Ptr(r.Title), UpdatedAt: acp.Ptr(r.Updated.UTC().Format(time.RFC3339)),
		})
	}
	return out, nil
}

// sessionRequest names a session and nothing else.
type sessionRequest struct {
	SessionID string `json:"sessionId"`
}

// Validate is called by decode.
func (r *sessionRequest) Validate() error {
	if r.SessionID == "" {
		return errors.New("sessionId is missing")
	}
	return nil
}

func (s *server) deleteSession(ctx context.Context, p sessionRequest) (any, error) {
	if o := s.take(p.SessionID); o != nil {
		o.close()
	}
	err := s.host.Delete(ctx, p.SessionID)
	if errors.Is(err, session.ErrNotFound) { // deleted already, or never stored
		err = nil
	}
	return struct{}{}, err
}

func (s *server) closeSession(_ context.Context, p sessionRequest) (any, error) {
	o := s.take(p.SessionID)
	if o == nil {
		return nil, s.unknown(p.SessionID)
	}
	o.close()
	return struct{}{}, nil
}

func (s *server) find(id string) *openSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// take removes a session from the open ones.
func (s *server) take(id string) *openSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.sessions[id]
	delete(s.sessions, id)
	return o
}

func (s *server) unknown(id string) error {
	return invalid("no session %q is open here: session/new, session/load or session/resume opens one", id)
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
