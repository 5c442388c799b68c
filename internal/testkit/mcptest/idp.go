package mcptest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
)

// Provider is a company's identity provider: it signs a person in, and exchanges its ID
// tokens for grants of other authorization servers.
type Provider struct {
	*httptest.Server

	mu      sync.Mutex
	next    int
	codes   map[string]bool
	refresh map[string]bool
	ids     map[string]bool
	seen    map[string]int
}

// NewProvider starts a provider.
func NewProvider() *Provider {
	p := &Provider{codes: map[string]bool{}, refresh: map[string]bool{}, ids: map[string]bool{}, seen: map[string]int{}}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	return p
}

// Seen counts the requests with a grant, or for a path.
func (p *Provider) Seen(what string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[what]
}

// Expire makes all ID tokens invalid, and with sessions the refresh tokens too.
func (p *Provider) Expire(sessions bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids = map[string]bool{}
	if sessions {
		p.refresh = map[string]bool{}
	}
}

// IDToken returns an ID token that the provider accepts.
func (p *Provider) IDToken() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	id := fmt.Sprint("id-", p.next)
	p.ids[id] = true
	return id
}

func (p *Provider) serve(w http.ResponseWriter, req *http.Request) {
	_ = req.ParseForm() // an unreadable body has no grant
	what := req.URL.Path
	if what == "/token" {
		what = req.PostForm.Get("grant_type")
	}
	p.mu.Lock()
	p.seen[what]++
	p.next++
	n := p.next
	p.mu.Unlock()
	switch req.URL.Path {
	case "/.well-known/openid-configuration":
		writeJSON(w, http.StatusOK, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token"})
	case "/authorize":
		back, err := url.Parse(req.Form.Get("redirect_uri"))
		if err != nil || req.Form.Get("code_challenge") == "" || req.Form.Has("resource") {
			http.Error(w, "faulty request", http.StatusBadRequest)
			return
		}
		code := fmt.Sprint("code-", n)
		p.mu.Lock()
		p.codes[code] = true
		p.mu.Unlock()
		back.RawQuery = url.Values{"code": {code}, "state": {req.Form.Get("state")}}.Encode()
		http.Redirect(w, req, back.String(), http.StatusFound)
	case "/token":
		p.token(w, req.PostForm, n)
	default:
		http.NotFound(w, req)
	}
}

func (p *Provider) token(w http.ResponseWriter, form url.Values, n int) {
	p.mu.Lock()
	ok := form.Get("client_id") == "jcode-at-idp"
	exchange := false
	switch form.Get("grant_type") {
	case "authorization_code":
		ok = ok && p.codes[form.Get("code")]
		delete(p.codes, form.Get("code"))
	case "refresh_token":
		ok = ok && p.refresh[form.Get("refresh_token")]
		delete(p.refresh, form.Get("refresh_token"))
	default:
		exchange = true
		ok = ok && p.ids[form.Get("subject_token")] && form.Get("requested_token_type") == "urn:ietf:params:oauth:token-type:id-jag"
	}
	refresh := fmt.Sprint("refresh-", n)
	if ok && !exchange {
		p.refresh[refresh] = true
	}
	p.mu.Unlock()
	switch {
	case !ok:
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
	case exchange:
		writeJSON(w, http.StatusOK, map[string]any{
			"access_token": "grant for " + form.Get("audience") + " " + form.Get("resource"), "token_type": "N_A",
			"issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
		})
	default:
		writeJSON(w, http.StatusOK, map[string]any{
			"access_token": fmt.Sprint("idp-access-", n), "token_type": "Bearer", "expires_in": 3600, "refresh_token": refresh, "id_token": p.IDToken(),
		})
	}
}
