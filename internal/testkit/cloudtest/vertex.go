package cloudtest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"jcode/internal/testkit/modeltest"
)

// Vertex is Google's Vertex: Anthropic's models by rawPredict, and an API like OpenAI's for others.
type Vertex struct {
	Models          *modeltest.Handler
	Project, Region string
	IDs             []string               // as Google names them: claude-x, google/gemini-x
	Token           func(token string) int // the status for a token, 0 if it is good
	Log             Log
}

// ServeHTTP answers one request.
func (v *Vertex) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, kind, message string) {
		text, _ := json.Marshal([]any{map[string]any{"error": map[string]any{"code": status, "message": message, "status": kind}}})
		v.Log.refuse(w, status, string(text))
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	status := http.StatusUnauthorized
	if ok {
		status = v.Token(token)
	}
	if status != 0 {
		refuse(status, "UNAUTHENTICATED", "Request had invalid authentication credentials. Expected OAuth 2 access token.")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/v1/projects/"+v.Project+"/locations/"+v.Region)
	id, of, anthropic := strings.Cut(strings.TrimPrefix(rest, "/publishers/anthropic/models/"), ":")
	switch {
	case !ok:
		refuse(http.StatusForbidden, "PERMISSION_DENIED", "Permission denied on resource project.")
	case rest == "/endpoints/openapi/chat/completions":
		var asked struct{ Model string }
		if json.Unmarshal(body, &asked) != nil || !strings.Contains(asked.Model, "/") || !slices.Contains(v.IDs, asked.Model) {
			refuse(http.StatusNotFound, "NOT_FOUND", "Publisher model "+asked.Model+" was not found.")
			return
		}
		v.Log.pass(r)
		r.URL.Path, r.Body = "/v1/chat/completions", io.NopCloser(strings.NewReader(string(body)))
		v.Models.ServeHTTP(w, r)
	case !strings.HasPrefix(rest, "/publishers/anthropic/models/") || !anthropic || of != "streamRawPredict" || r.Method != http.MethodPost:
		refuse(http.StatusNotFound, "NOT_FOUND", "unknown method "+rest)
	case !slices.Contains(v.IDs, id):
		refuse(http.StatusNotFound, "NOT_FOUND", "Publisher model "+id+" was not found or your project does not have access to it.")
	default:
		v.predict(w, r, id, body, refuse)
	}
}

func (v *Vertex) predict(w http.ResponseWriter, r *http.Request, id string, body []byte, refuse func(int, string, string)) {
	inner, wrong := unwrap(body, "vertex-2023-10-16", false)
	if wrong == "" && r.Header.Get("Anthropic-Version") != "" {
		wrong = "anthropic-version belongs into the body"
	}
	if wrong != "" {
		refuse(http.StatusBadRequest, "INVALID_ARGUMENT", wrong)
		return
	}
	v.Log.pass(r)
	if betas := r.Header.Get("Anthropic-Beta"); betas != "" {
		inner.betas = strings.Split(betas, ",")
	}
	answer := answered(v.Models, r, id, inner)
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // a client that has gone needs no answer
}
