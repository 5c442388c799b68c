package mcptest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// OAuthServer is an MCP server over HTTP that requires a sign-in, with its authorization server. Its fault is
// chosen by name, see the switches on mode.
type OAuthServer struct {
	*HTTPServer
	// Issuer is the authorization server.
	Issuer *httptest.Server

	mode string

	mu      sync.Mutex
	seen    []string // requests to the authorization server, by path or grant
	clients map[string]string
	codes   map[string]url.Values
	access  map[string]string // token → scopes
	refresh map[string]string
	next    int
	expires int
	forms   []url.Values
	failing int // requests to the token endpoint that are still refused with status 503
	proofs  proofs
}

// NewOAuth starts both servers.
func NewOAuth(mode string) *OAuthServer {
	s := &OAuthServer{
		HTTPServer: NewHTTP("ok"), mode: mode, clients: map[string]string{}, codes: map[string]url.Values{},
		access: map[string]string{}, refresh: map[string]string{}, expires: 3600, proofs: newProofs(),
	}
	s.Issuer = httptest.NewServer(http.HandlerFunc(s.authorizationServer))
	s.guard = s.resourceServer
	return s
}

// Close ends both servers.
func (s *OAuthServer) Close() {
	s.CloseClientConnections()
	s.HTTPServer.Close()
	s.Issuer.CloseClientConnections()
	s.Issuer.Close()
}

// Seen counts requests to the authorization server: paths, and grants of the token endpoint.
func (s *OAuthServer) Seen(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, x := range s.seen {
		if x == what {
			n++
		}
	}
	return n
}

// Forms lists the bodies that the token endpoint received.
func (s *OAuthServer) Forms() []url.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.forms)
}

// Expire makes all access tokens invalid at once.
func (s *OAuthServer) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.access = map[string]string{}
}

// Accept makes the server accept a token that was never issued.
func (s *OAuthServer) Accept(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.access[token] = "read write"
}

// Revoke makes the refresh tokens invalid too.
func (s *OAuthServer) Revoke() {
	s.Expire()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh = map[string]string{}
}

// ForgetClients makes the authorization server forget its registrations.
func (s *OAuthServer) ForgetClients() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = map[string]string{}
}

// Lifetime sets how long new access tokens are said to last, in seconds.
func (s *OAuthServer) Lifetime(seconds int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expires = seconds
}

// FailTokens makes the token endpoint answer its next n requests with status 503.
func (s *OAuthServer) FailTokens(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = n
}

// resourceServer answers what belongs to signing in; false leaves the request to the MCP server.
func (s *OAuthServer) resourceServer(w http.ResponseWriter, req *http.Request) bool {
	if strings.HasPrefix(req.URL.Path, "/.well-known/oauth-protected-resource") {
		s.resourceMetadata(w, req)
		return true
	}
	token, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	scopes, ok := s.access[token]
	s.mu.Unlock()
	if strings.HasPrefix(s.mode, "dpop") {
		if why := s.unproven(w, req); why != "" {
			w.Header().Set("WWW-Authenticate", `DPoP algs="ES384 ES256", error="`+why+`", resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource/mcp"`)
			http.Error(w, "prove that the token is yours", http.StatusUnauthorized)
			return true
		}
		ok = true
	}
	if !ok && s.mode == "openstart" && strings.Contains(peekBody(req), `"initialize"`) {
		return false
	}
	if !ok {
		challenge := `Bearer resource_metadata="` + s.URL + `/.well-known/oauth-protected-resource/mcp"`
		if s.mode == "challenged" || s.mode == "openstart" {
			challenge += `, scope="files:read"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		http.Error(w, "sign in first", http.StatusUnauthorized)
		return true
	}
	if s.mode == "elsewhere" { // a signed-in client is redirected
		http.Redirect(w, req, s.Elsewhere, http.StatusTemporaryRedirect)
		return true
	}
	if s.forbids(w, req) {
		return true
	}
	if s.mode == "stepup" || s.mode == "endless" || s.mode == "unknownscope" {
		body := peekBody(req)
		if strings.Contains(body, `"tools/call"`) && (s.mode == "endless" || !strings.Contains(scopes, "write")) {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
			http.Error(w, "more rights are needed", http.StatusForbidden)
			return true
		}
	}
	return false
}

func (s *OAuthServer) resourceMetadata(w http.ResponseWriter, req *http.Request) {
	meta := map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.Issuer.URL}, "scopes_supported": []string{"read"}}
	switch s.mode {
	case "resource":
		meta["resource"] = "https://other.example/mcp"
	case "noservers":
		delete(meta, "authorization_servers")
	case "html":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>Welcome</html>")
		return
	case "loop":
		http.Redirect(w, req, req.URL.Path+"?again", http.StatusFound)
		return
	case "insecure":
		meta["authorization_servers"] = []string{"http://auth.example"}
	case "dpop", "dpopunbound":
		meta["dpop_bound_access_tokens_required"] = true
	}
	writeJSON(w, http.StatusOK, meta)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func (s *OAuthServer) authorizationServer(w http.ResponseWriter, req *http.Request) {
	what := req.URL.Path
	if what == "/token" {
		_ = req.ParseForm() // an unreadable body has no grant
		what = req.PostForm.Get("grant_type")
	}
	s.mu.Lock()
	s.seen = append(s.seen, what)
	s.mu.Unlock()
	if s.faultyToken(w, req) {
		return
	}
	switch req.URL.Path {
	case "/.well-known/oauth-authorization-server":
		s.metadata(w)
	case "/register":
		s.register(w, req)
	case "/revoke":
		s.revoke(req)
	case "/authorize":
		s.authorize(w, req)
	case "/token":
		s.token(w, req)
	default:
		http.NotFound(w, req)
	}
}

func (s *OAuthServer) metadata(w http.ResponseWriter) {
	base := s.Issuer.URL
	meta := map[string]any{
		"issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token", "registration_endpoint": base + "/register",
		"revocation_endpoint":      base + "/revoke",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"scopes_supported": []string{"read", "write", "offline_access"},
	}
	switch s.mode {
	case "issuer":
		meta["issuer"] = "https://evil.example"
	case "endpoint":
		meta["token_endpoint"] = "http://evil.example/token"
	case "nopkce":
		delete(meta, "code_challenge_methods_supported")
	case "noregister":
		delete(meta, "registration_endpoint")
	case "iss", "noiss":
		meta["authorization_response_iss_parameter_supported"] = true
	case "dpop", "dpopnonce", "dpopclock", "offersdpop":
		meta["dpop_signing_alg_values_supported"] = []string{"RS256", "ES256"}
	}
	writeJSON(w, http.StatusOK, meta)
}

func (s *OAuthServer) register(w http.ResponseWriter, req *http.Request) {
	var asked struct {
		RedirectURIs []string `json:"redirect_uris"`
	}
	if json.NewDecoder(req.Body).Decode(&asked) != nil || len(asked.RedirectURIs) == 0 {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_redirect_uri"})
		return
	}
	s.mu.Lock()
	s.next++
	id := fmt.Sprint("client-", s.next)
	s.clients[id] = asked.RedirectURIs[0]
	s.mu.Unlock()
	writeJSON(w, http.StatusCreated, map[string]any{"client_id": id, "redirect_uris": asked.RedirectURIs, "token_endpoint_auth_method": "none"})
}

// revoke makes a refresh token of its client, and all access tokens, invalid.
func (s *OAuthServer) revoke(req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := req.PostFormValue("token")
	if _, known := s.refresh[token]; known && s.clients[req.PostFormValue("client_id")] != "" {
		delete(s.refresh, token)
		s.access = map[string]string{}
	}
}

func (s *OAuthServer) authorize(w http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		http.Error(w, "no redirect", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.next++
	code := fmt.Sprint("code-", s.next)
	s.codes[code] = q
	s.mu.Unlock()
	answer := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {s.Issuer.URL}}
	switch s.mode {
	case "state":
		answer.Set("state", "another")
	case "iss":
		answer.Set("iss", "https://evil.example")
	case "noiss":
		answer.Del("iss")
	case "unknownscope":
		if strings.Contains(q.Get("scope"), "write") {
			answer = url.Values{"error": {"invalid_scope"}, "state": {q.Get("state")}, "iss": {s.Issuer.URL}}
		}
	case "denied":
		answer = url.Values{"error": {"access_denied"}, "error_description": {"the person said no"}, "state": {q.Get("state")}}
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, req, back.String(), http.StatusFound)
}

func (s *OAuthServer) token(w http.ResponseWriter, req *http.Request) {
	form := req.PostForm
	refuse := func(code string) {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": code, "error_description": "as the test wants it"})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forms = append(s.forms, form)
	key := ""
	if strings.HasPrefix(s.mode, "dpop") && s.mode != "dpopunbound" {
		var why string
		if key, why = s.proofs.check(w, req, s.mode, s.Issuer.URL+"/token", ""); why != "" {
			refuse(why)
			return
		}
	}
	scope := form.Get("scope")
	switch form.Get("grant_type") {
	case "authorization_code":
		asked, ok := s.codes[form.Get("code")]
		delete(s.codes, form.Get("code"))
		if _, known := s.clients[form.Get("client_id")]; !known && form.Get("client_id") != "given" {
			refuse("invalid_client")
			return
		}
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if !ok || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || asked.Get("redirect_uri") != form.Get("redirect_uri") || form.Get("resource") != s.URL+"/mcp" {
			refuse("invalid_grant")
			return
		}
		scope = asked.Get("scope")
	case "refresh_token":
		old, ok := s.refresh[form.Get("refresh_token")]
		if !ok {
			refuse("invalid_grant")
			return
		}
		if s.mode == "slowrefresh" {
			time.Sleep(50 * time.Millisecond) // so that two of them would meet
		}
		if s.mode != "norotate" {
			delete(s.refresh, form.Get("refresh_token"))
		}
		scope = old
		if bound := s.proofs.bound[form.Get("refresh_token")]; bound != key {
			refuse("invalid_grant")
			return
		}
	case "urn:ietf:params:oauth:grant-type:jwt-bearer":
		if s.mode == "workload" {
			break // the test looks at it
		}
		user, secret, basic := req.BasicAuth()
		if !basic || user != "robot" || secret != "s3cret" || form.Get("assertion") != "grant for "+s.Issuer.URL+" "+s.URL+"/mcp" {
			refuse("invalid_grant")
			return
		}
	case "client_credentials":
		if form.Get("client_assertion") != "" {
			break // the test looks at it
		}
		user, secret, basic := req.BasicAuth()
		if !(basic && user == "robot" && secret == "s3cret") {
			refuse("invalid_client")
			return
		}
	default:
		refuse("unsupported_grant_type")
		return
	}
	s.next++
	token := fmt.Sprint("access-", s.next)
	s.access[token] = scope
	out := map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": s.expires, "scope": scope}
	if s.mode == "kind" {
		out["token_type"], out["expires_in"] = "BEARER", "3600"
	}
	if s.mode == "mac" {
		out["token_type"] = "mac"
	}
	if key != "" {
		s.proofs.bound[token], out["token_type"] = key, "DPoP"
	}
	if g := form.Get("grant_type"); (g == "authorization_code" || g == "refresh_token") && !(s.mode == "norotate" && g == "refresh_token") {
		refresh := fmt.Sprint("refresh-", s.next)
		s.refresh[refresh] = scope
		s.proofs.bound[refresh] = key
		out["refresh_token"] = refresh
	}
	writeJSON(w, http.StatusOK, out)
}
