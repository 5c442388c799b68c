package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"jcode/internal/rawjson"
	"jcode/mcp/schema"
)

// Exchange is one request of ours and its raw answer. It travels in the request's context, so
// that transports can fill it in.
type Exchange struct {
	method string

	mu     sync.Mutex
	raw    json.RawMessage
	sent   bool  // a byte of it may have reached the server
	failed error // why it failed below the protocol
}

type exchangeKey struct{}

// WithExchange returns a context for one request and the exchange that its answer fills.
func WithExchange(ctx context.Context, method string) (context.Context, *Exchange) {
	x := &Exchange{method: method}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

func exchangeOf(ctx context.Context, method string) *Exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*Exchange); ok && x.method == method {
		return x
	}
	return nil
}

func (x *Exchange) markSent() {
	if x != nil {
		x.mu.Lock()
		x.sent = true
		x.mu.Unlock()
	}
}

func (x *Exchange) fail(err error) {
	if x != nil {
		x.mu.Lock()
		x.failed = err
		x.mu.Unlock()
	}
}

// Outcome returns the raw result, whether a byte was sent, and the failure below the
// protocol.
func (x *Exchange) Outcome() (raw json.RawMessage, sent bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.raw, x.sent, x.failed
}

// Tap observes the requests and responses of one session. Results that jcode reads raw are removed from the
// responses, and the protocol library gets a small placeholder: so one bad item can't invalidate a list, and
// a large result is not decoded twice.
type Tap struct {
	http bool

	// Notice is called for the server's notifications in the order of the stream: before a response
	// that follows them. It is set before the first message.
	Notice func(method string)

	// doom fails a request whose answer can't be used, after grace; nil if each request has its own HTTP
	// response.
	doom  func(id string, err error)
	grace time.Duration

	mu         sync.Mutex
	pending    map[string]pendingRequest
	last       int64 // the highest id of ours
	suspicions []suspicion
	// forms are the raw schemas of the server's questions by their canonical form, because the
	// library loses the order of their fields.
	forms map[string]json.RawMessage
}

type pendingRequest struct {
	method string
	x      *Exchange
	at     time.Time
}

func newTap(http bool) *Tap {
	return &Tap{http: http, grace: blameGrace, pending: map[string]pendingRequest{}}
}

// request records a request of ours that is about to be written.
func (t *Tap) request(id, method string, x *Exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending[id] = pendingRequest{method, x, time.Now()}
	if n, err := strconv.ParseInt(id, 10, 64); err == nil {
		t.last = max(t.last, n)
	}
}

// forget drops a request that is no longer pending, without an answer of the server.
func (t *Tap) forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pending, id)
}

// see processes a message of the server and returns what the library must see of it.
func (t *Tap) see(e envelope) envelope {
	if e.method == "" {
		return t.response(e)
	}
	if e.method == "elicitation/create" {
		t.keepForm(rawjson.Member(e.params, "requestedSchema"))
	}
	if e.id == nil && t.Notice != nil {
		t.Notice(e.method)
	}
	return e
}

// maxForms bounds how many forms are remembered.
const maxForms = 16

func (t *Tap) keepForm(raw json.RawMessage) {
	var schema any
	if len(raw) == 0 || json.Unmarshal(raw, &schema) != nil {
		return
	}
	key, err := json.Marshal(schema)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.forms == nil || len(t.forms) >= maxForms {
		t.forms = map[string]json.RawMessage{}
	}
	t.forms[string(key)] = raw
}

// Form returns a schema as the server wrote it.
func (t *Tap) Form(schema any) any {
	key, err := json.Marshal(schema)
	if err != nil {
		return schema
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if raw, ok := t.forms[string(key)]; ok {
		return raw
	}
	return schema
}

// response returns what the library must see in place of a response's result.
func (t *Tap) response(e envelope) envelope {
	key := IDKey(e.id)
	t.mu.Lock()
	p, ok := t.pending[key]
	delete(t.pending, key)
	suspects := len(t.suspicions) > 0
	t.mu.Unlock()
	if suspects {
		t.judge()
	}
	switch {
	case !ok:
		t.stray(e)
		return e
	case e.err == nil && e.result == nil:
		e.err = json.RawMessage(`{"code":-32603,"message":"the server's answer has neither result nor error"}`)
		return e
	case e.err != nil || needsInput(p.method, e.result):
		return e
	}
	standIn := p.standIn(e.result, t.http)
	if standIn == nil {
		return e
	}
	if p.x != nil {
		p.x.mu.Lock()
		p.x.raw = e.result
		p.x.mu.Unlock()
	}
	e.result = standIn
	return e
}

// isPending reports whether a request with this id waits for its response.
func (t *Tap) isPending(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.pending[id]
	return ok
}

// standIn returns a result that the library can always decode, nil for methods whose results it reads itself.
func (p pendingRequest) standIn(raw json.RawMessage, http bool) json.RawMessage {
	switch p.method {
	case "tools/list":
		return schema.ForSDK(raw, http)
	case "tools/call":
		return json.RawMessage(`{"resultType":"complete","content":[]}`)
	case "prompts/list":
		return json.RawMessage(`{"resultType":"complete","prompts":[]}`)
	case "resources/list":
		return json.RawMessage(`{"resultType":"complete","resources":[]}`)
	case "resources/templates/list":
		return json.RawMessage(`{"resultType":"complete","resourceTemplates":[]}`)
	case "prompts/get":
		return json.RawMessage(`{"resultType":"complete","messages":[]}`)
	case "resources/read":
		return json.RawMessage(`{"resultType":"complete","contents":[]}`)
	}
	return nil
}

// needsInput recognises the results of the 2026 protocol that ask the client something before
// the real result: the library answers those itself.
func needsInput(method string, raw json.RawMessage) bool {
	switch method {
	case "tools/call", "prompts/get", "resources/read":
		// A result is an object, and its type comes with few bytes; large results are
		// not searched.
		return len(raw) < 1<<20 && bytes.Contains(raw, []byte(`"input_required"`)) && rawjson.String(rawjson.Member(raw, "resultType")) == "input_required"
	}
	return false
}
