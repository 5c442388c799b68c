package cloudtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"jcode/internal/testkit/modeltest"
)

// Bedrock is Amazon Bedrock, with the models of Anthropic in their own form.
type Bedrock struct {
	Models *modeltest.Handler
	IDs    []string // models and inference profiles
	Key    string   // an API key, which is sent as a bearer token
	Fault  string   // an exception in place of the end of each answer, such as throttlingException
	Log    Log

	mu      sync.Mutex
	account Account
	expired map[string]bool // access key IDs whose time is over
	ahead   time.Duration   // how far its clock is ahead
}

// Account sets whose signatures are good from now on; those before are expired.
func (b *Bedrock) Account(a Account) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.expired == nil {
		b.expired = map[string]bool{}
	}
	b.expired[b.account.ID] = true
	delete(b.expired, a.ID)
	b.account = a
}

// Ahead sets its clock.
func (b *Bedrock) Ahead(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ahead = d
}

// ServeHTTP answers one request.
func (b *Bedrock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	b.mu.Lock()
	account, now := b.account, time.Now().Add(b.ahead).UTC()
	old := b.expired
	b.mu.Unlock()
	w.Header().Set("Date", now.Format(http.TimeFormat))
	refuse := func(status int, kind, message string) {
		w.Header().Set("X-Amzn-Errortype", kind+":http://internal.amazon.com/")
		w.Header().Set("X-Amzn-Requestid", "11111111-2222")
		text, _ := json.Marshal(map[string]string{"message": message})
		b.Log.refuse(w, status, string(text))
	}
	credential := regexp.MustCompile(`Credential=([^/]+)/`).FindStringSubmatch(r.Header.Get("Authorization"))
	switch bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); {
	case ok && (b.Key == "" || bearer != b.Key):
		refuse(http.StatusForbidden, "AccessDeniedException", "Authentication failed: Please make sure your API Key is valid.")
		return
	case ok:
	case credential != nil && old[credential[1]]:
		refuse(http.StatusForbidden, "ExpiredTokenException", "The security token included in the request is expired")
		return
	default:
		if kind, message := account.check(r, body, now); kind != "" {
			refuse(http.StatusForbidden, kind, message)
			return
		}
	}
	b.Log.pass(r)
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/foundation-models":
		b.list(w, "modelSummaries", "modelId", func(id string) bool { return !strings.Contains(strings.TrimPrefix(id, "anthropic."), "anthropic.") })
	case r.Method == http.MethodGet && r.URL.Path == "/inference-profiles":
		b.list(w, "inferenceProfileSummaries", "inferenceProfileId", func(id string) bool { return !strings.HasPrefix(id, "anthropic.") })
	case r.Method == http.MethodPost && len(parts) == 3 && parts[0] == "model" && parts[2] == "invoke-with-response-stream":
		id, err := url.PathUnescape(parts[1])
		if err != nil || !slices.Contains(b.IDs, id) {
			refuse(http.StatusBadRequest, "ValidationException", "The provided model identifier is invalid.")
			return
		}
		b.invoke(w, r, id, body, refuse)
	default:
		refuse(http.StatusNotFound, "UnknownOperationException", "unknown operation "+r.URL.Path)
	}
}

func (b *Bedrock) list(w http.ResponseWriter, field, name string, which func(string) bool) {
	list := []map[string]any{}
	for _, id := range b.IDs {
		if which(id) {
			list = append(list, map[string]any{name: id, "inferenceTypesSupported": []string{"ON_DEMAND"}, "responseStreamingSupported": true})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{field: list}) // a client that has gone needs no answer
}

// invoke has the models answer a request that has the right envelope.
func (b *Bedrock) invoke(w http.ResponseWriter, r *http.Request, id string, body []byte, refuse func(int, string, string)) {
	inner, wrong := unwrap(body, "bedrock-2023-05-31", true)
	if wrong == "" && (r.Header.Get("Anthropic-Version") != "" || r.Header.Get("Anthropic-Beta") != "") {
		wrong = "anthropic-version and anthropic-beta belong into the body"
	}
	if wrong != "" {
		refuse(http.StatusBadRequest, "ValidationException", wrong)
		return
	}
	answer := answered(b.Models, r, id, inner)
	if answer.Code != http.StatusOK {
		var said struct {
			Error struct{ Message string } `json:"error"`
		}
		_ = json.Unmarshal(answer.Body.Bytes(), &said) // "" is a message, too
		refuse(answer.Code, "ValidationException", said.Error.Message)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	enc := eventstream.NewEncoder()
	frame := func(kind, of string, payload []byte) {
		var m eventstream.Message
		m.Headers.Set(":message-type", eventstream.StringValue(kind))
		m.Headers.Set(":"+kind+"-type", eventstream.StringValue(of))
		m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
		m.Payload = payload
		_ = enc.Encode(w, m) // a client that has gone needs no answer
		_ = http.NewResponseController(w).Flush()
	}
	for _, data := range events(answer) {
		if b.Fault != "" && strings.Contains(data, `"message_delta"`) {
			frame("exception", b.Fault, []byte(`{"message":"Too many requests, please wait before trying again."}`))
			return
		}
		frame("event", "chunk", fmt.Appendf(nil, `{"bytes":%q,"p":"abcdef"}`, base64.StdEncoding.EncodeToString([]byte(data))))
	}
}

// answered has the models answer a request of Messages.
func answered(models *modeltest.Handler, r *http.Request, id string, inner request) *httptest.ResponseRecorder {
	fields := inner.fields
	fields["model"], _ = json.Marshal(id)
	body, err := json.Marshal(fields)
	if err != nil {
		panic(err) // it was JSON before
	}
	again := httptest.NewRequestWithContext(r.Context(), http.MethodPost, "/v1/messages", bytes.NewReader(body))
	again.Header.Set("Anthropic-Version", "2023-06-01")
	again.Header.Set("X-Api-Key", "checked")
	if len(inner.betas) > 0 {
		again.Header.Set("Anthropic-Beta", strings.Join(inner.betas, ","))
	}
	answer := httptest.NewRecorder()
	models.ServeHTTP(answer, again)
	return answer
}

// request is one that was taken out of a cloud's envelope.
type request struct {
	fields map[string]json.RawMessage
	betas  []string
}

// events returns the data of a stream.
func events(answer *httptest.ResponseRecorder) (out []string) {
	for _, line := range strings.Split(answer.Body.String(), "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			out = append(out, data)
		}
	}
	return out
}

// unwrap takes a request out of a cloud's envelope, and says what is wrong with that.
func unwrap(body []byte, version string, bedrock bool) (inner request, wrong string) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return inner, "malformed input request: " + err.Error()
	}
	if string(fields["anthropic_version"]) != `"`+version+`"` {
		return inner, "anthropic_version: " + version + " is required"
	}
	if _, ok := fields["model"]; ok {
		return inner, "model: Extra inputs are not permitted"
	}
	if _, ok := fields["stream"]; ok && bedrock {
		return inner, "stream: Extra inputs are not permitted"
	}
	if _, ok := fields["anthropic_beta"]; ok && !bedrock {
		return inner, "anthropic_beta: Extra inputs are not permitted"
	}
	if bytes.Contains(body, []byte(`"eager_input_streaming"`)) {
		return inner, "tools.0.custom.eager_input_streaming: Extra inputs are not permitted"
	}
	if raw, ok := fields["anthropic_beta"]; ok && json.Unmarshal(raw, &inner.betas) != nil {
		return inner, "anthropic_beta: a list is required"
	}
	delete(fields, "anthropic_version")
	delete(fields, "anthropic_beta")
	fields["stream"] = json.RawMessage("true")
	inner.fields = fields
	return inner, ""
}
