package mcptest

import (
	"fmt"
	"net/http"
	"strings"
)

// forbids refuses calls of every account, whatever its rights, in one mode.
func (s *OAuthServer) forbids(w http.ResponseWriter, req *http.Request) bool {
	if s.mode != "forbids" || !strings.Contains(peekBody(req), `"tools/call"`) {
		return false
	}
	http.Error(w, "not for you", http.StatusForbidden)
	return true
}

// faultyToken answers in modes whose token endpoint, or all of whose endpoints, misbehave.
func (s *OAuthServer) faultyToken(w http.ResponseWriter, req *http.Request) bool {
	atToken := req.URL.Path == "/token"
	s.mu.Lock()
	failing := atToken && s.failing > 0
	if failing {
		s.failing--
	}
	s.mu.Unlock()
	switch {
	case failing:
		http.Error(w, "back in a minute", http.StatusServiceUnavailable)
	case s.mode == "slowmeta", s.mode == "slowtoken" && atToken:
		<-req.Context().Done()
	case s.mode == "tokenhtml" && atToken:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>Welcome</html>")
	case s.mode == "tokenaway" && atToken:
		http.Redirect(w, req, s.Elsewhere, http.StatusTemporaryRedirect)
	case s.mode == "forgets404" && atToken && req.PostForm.Get("grant_type") == "refresh_token":
		http.NotFound(w, req)
	default:
		return false
	}
	return true
}
