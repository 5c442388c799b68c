package tour

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Board simulates an MCP server that requires a sign-in, and its authorization server, on a loopback address.
// It listens nowhere else, and sends nothing.
type Board struct {
	server *http.Server
	listen net.Listener
	opened chan struct{} // closed once a signed-in client was served
	once   sync.Once

	mu    sync.Mutex
	codes map[string]url.Values // what was requested, by authorization code
	token string
}

// OpenBoard starts the server. The caller closes it.
func OpenBoard(ctx context.Context) (*Board, error) {
	listen, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("play a server to sign in to: %w", err)
	}
	b := &Board{listen: listen, opened: make(chan struct{}), codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-protected-resource", b.resource)
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", b.resource)
	mux.HandleFunc("/.well-known/oauth-authorization-server", b.metadata)
	mux.HandleFunc("/register", b.register)
	mux.HandleFunc("/authorize", b.authorize)
	mux.HandleFunc("/token", b.issue)
	mux.HandleFunc("/mcp", b.mcp)
	b.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = b.server.Serve(listen) }() // it ends with Close
	return b, nil
}

// Close ends the server.
func (b *Board) Close() { _ = b.server.Close() } // nothing is left to be told

// Address is where the MCP server is.
func (b *Board) Address() string { return b.base() + "/mcp" }

// SignedIn is closed once a signed-in client was served.
func (b *Board) SignedIn() <-chan struct{} { return b.opened }

func (b *Board) base() string { return "http://" + b.listen.Addr().String() }

// Browse simulates the person's browser: it follows an address of the board to where that leads.
func (b *Board) Browse(ctx context.Context, address string) error {
	transport := &http.Transport{} // no proxy
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fmt.Errorf("play the browser: %w", err)
	}
	if req.URL.Host != b.listen.Addr().String() {
		return fmt.Errorf("play the browser: %s is not the tour's server", req.URL.Host)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("play the browser: %w", err)
	}
	return resp.Body.Close()
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func (b *Board) resource(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"resource": b.Address(), "authorization_servers": []string{b.base()}, "scopes_supported": []string{"tasks:read"}})
}

func (b *Board) metadata(w http.ResponseWriter, _ *http.Request) {
	base := b.base()
	reply(w, http.StatusOK, map[string]any{
		"issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token", "registration_endpoint": base + "/register",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{"tasks:read"},
		"token_endpoint_auth_methods_supported": []string{"none"},
	})
}

func (b *Board) register(w http.ResponseWriter, req *http.Request) {
	var asked struct {
		RedirectURIs []string `json:"redirect_uris"`
	}
	if err := json.NewDecoder(io.LimitReader(req.Body, maxMessage)).Decode(&asked); err != nil || len(asked.RedirectURIs) == 0 {
		reply(w, http.StatusBadRequest, map[string]string{"error": "invalid_redirect_uri"})
		return
	}
	reply(w, http.StatusCreated, map[string]any{"client_id": "tour", "redirect_uris": asked.RedirectURIs, "token_endpoint_auth_method": "none"})
}

// authorize redirects the browser at once: the simulated person says yes.
func (b *Board) authorize(w http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || back.Hostname() != "127.0.0.1" && back.Hostname() != "localhost" {
		http.Error(w, "redirect_uri must be a loopback address", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	b.mu.Lock()
	b.codes[code] = q
	b.mu.Unlock()
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, req, back.String(), http.StatusFound)
}

// issue exchanges a code for a token.
func (b *Board) issue(w http.ResponseWriter, req *http.Request) {
	req.Body = http.MaxBytesReader(w, req.Body, maxMessage)
	if err := req.ParseForm(); err != nil {
		reply(w, http.StatusBadRequest, map[string]string{"error": "invalid_request"})
		return
	}
	sum := sha256.Sum256([]byte(req.PostForm.Get("code_verifier")))
	b.mu.Lock()
	defer b.mu.Unlock()
	asked, ok := b.codes[req.PostForm.Get("code")]
	if !ok || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
		reply(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
		return
	}
	delete(b.codes, req.PostForm.Get("code"))
	b.token = rand.Text()
	reply(w, http.StatusOK, map[string]any{"access_token": b.token, "token_type": "Bearer", "expires_in": 3600, "scope": asked.Get("scope")})
}

// mcp serves one tool to signed-in clients, each answer as plain JSON.
func (b *Board) mcp(w http.ResponseWriter, req *http.Request) {
	b.mu.Lock()
	ok := b.token != "" && req.Header.Get("Authorization") == "Bearer "+b.token
	b.mu.Unlock()
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+b.base()+`/.well-known/oauth-protected-resource/mcp"`)
		http.Error(w, "sign in first", http.StatusUnauthorized)
		return
	}
	b.once.Do(func() { close(b.opened) })
	if req.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Version string `json:"protocolVersion"`
		} `json:"params"`
	}
	if err := json.NewDecoder(io.LimitReader(req.Body, maxMessage)).Decode(&call); err != nil {
		http.Error(w, "not a JSON-RPC message", http.StatusBadRequest)
		return
	}
	if len(call.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": call.ID}
	switch call.Method {
	case "initialize":
		answer["result"] = map[string]any{
			"protocolVersion": call.Params.Version, "serverInfo": map[string]string{"name": "board", "version": "1"},
			"capabilities": map[string]any{"tools": map[string]any{}},
		}
	case "ping":
		answer["result"] = map[string]any{}
	case "tools/list":
		answer["result"] = map[string]any{"tools": []any{map[string]any{
			"name": "task", "description": "Read a task of the team's board.", "annotations": map[string]bool{"readOnlyHint": true},
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"id": map[string]string{"type": "string"}}, "required": []string{"id"}},
		}}}
	case "tools/call":
		answer["result"] = map[string]any{"content": []any{map[string]string{"type": "text", "text": "GREET-7, open: people are greeted in small letters. Reported by Ada."}}}
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "there is no method " + call.Method}
	}
	reply(w, http.StatusOK, answer)
}
