// Package geminitest is a scripted server that speaks Google's generateContent as strictly as the real one.
//
// It must not know jcode's own packages: it speaks HTTP and JSON only.
package geminitest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Reply answers one request: pieces of a stream, or a refusal.
type Reply struct {
	Pieces []string
	Status int
	Body   string
}

// Server is a scripted server. Requests that break the rules are refused with 400 and fail the test, unless Refused
// holds the words.
type Server struct {
	URL    string // with the version
	Bearer string // the token of Vertex; "" wants a key of the Gemini API

	mu      sync.Mutex
	replies []Reply
	bodies  []map[string]any
	raws    []string
	paths   []string
	refused []string
	issued  map[string]bool // signatures
}

// Key is the key that a Server takes.
const Key = "AIza-test-key-of-the-server"

// New starts a server with a script.
func New(tb testing.TB, replies ...Reply) *Server {
	s := &Server{replies: replies, issued: map[string]bool{}}
	srv := httptest.NewServer(s)
	s.URL = srv.URL + "/v1beta"
	tb.Cleanup(srv.Close)
	return s
}

// Stream answers with pieces.
func Stream(pieces ...string) Reply { return Reply{Pieces: pieces} }

// Refuse answers with an error as Google writes it; details may be "".
func Refuse(code int, status, message, details string) Reply {
	if details == "" {
		details = "[]"
	}
	return Reply{Status: code, Body: fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q,"details":%s}}`, code, message, status, details)}
}

// Bodies returns the requests that were answered, decoded.
func (s *Server) Bodies() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]map[string]any(nil), s.bodies...)
}

// Raws returns them as they came.
func (s *Server) Raws() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.raws...)
}

// Paths returns their addresses.
func (s *Server) Paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.paths...)
}

// Refused returns why requests were refused by the rules.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.refused...)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	write := func(status int, kind, body string) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // a client that has gone needs no answer
	}
	refuse := func(reply Reply) { write(reply.Status, "application/json; charset=UTF-8", reply.Body) }
	if s.Bearer != "" && r.Header.Get("Authorization") != "Bearer "+s.Bearer || s.Bearer == "" && r.Header.Get("X-Goog-Api-Key") != Key {
		refuse(Refuse(http.StatusUnauthorized, "UNAUTHENTICATED", "API key not valid. Please pass a valid API key.", ""))
		return
	}
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		write(http.StatusOK, "application/json", `{"models":[{"name":"models/gemini-3.1-pro","inputTokenLimit":1048576,"supportedGenerationMethods":["generateContent"]},{"name":"models/embedding","supportedGenerationMethods":["embedContent"]}]}`)
		return
	}
	id, method, ok := strings.Cut(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], ":")
	if !ok || method != "streamGenerateContent" || r.URL.Query().Get("alt") != "sse" || r.Method != http.MethodPost {
		refuse(Refuse(http.StatusNotFound, "NOT_FOUND", "unknown method "+r.URL.String(), ""))
		return
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		refuse(Refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "Invalid JSON payload received. "+err.Error(), ""))
		return
	}
	if wrong := (checker{id: id, issued: s.issued}).check(body); wrong != "" {
		s.refused = append(s.refused, wrong)
		refuse(Refuse(http.StatusBadRequest, "INVALID_ARGUMENT", wrong, ""))
		return
	}
	s.bodies, s.raws, s.paths = append(s.bodies, body), append(s.raws, string(raw)), append(s.paths, r.URL.Path)
	if len(s.replies) == 0 {
		refuse(Refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "the script has no reply left", ""))
		return
	}
	reply := s.replies[0]
	s.replies = s.replies[1:]
	if reply.Status != 0 {
		refuse(reply)
		return
	}
	var out strings.Builder
	for _, p := range reply.Pieces {
		s.issue(p)
		out.WriteString("data: " + p + "\r\n\r\n")
	}
	write(http.StatusOK, "text/event-stream", out.String())
}

// issue remembers the signatures of a piece.
func (s *Server) issue(piece string) {
	for rest := piece; ; {
		_, after, ok := strings.Cut(rest, `"thoughtSignature":"`)
		if !ok {
			return
		}
		signature, tail, _ := strings.Cut(after, `"`)
		s.issued[signature], rest = true, tail
	}
}
