package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Handler plays the script as an http.Handler, for use without a test. It serves
// POST …/chat/completions and GET …/models under any prefix. It is safe for
// concurrent use.
type Handler struct {
	mu        sync.Mutex
	script    []Reply
	routes    []func(Request) (Reply, bool)
	requests  []Request
	ends      []time.Time // of the answers, by request; zero while one is being sent
	picked    []bool      // by request: it has its reply
	breaches  []string
	models    []string
	lenient   bool
	calls     int
	issued    map[string]issuedBlock // thinking blocks of Messages, by signature
	thoughtOf map[string]string      // the signature of the thinking before a call, by its id
	binds     bool
	cache     promptCache
	cached    []Cached
	drag      drag

	arrived chan struct{} // closed and replaced when a request arrives

	stopOnce sync.Once
	stopped  chan struct{}
}

// NewHandler returns a handler that replies in order, one reply per request. A request beyond the script is
// answered with 400 and is a breach.
func NewHandler(replies ...Reply) *Handler {
	return &Handler{
		script:  replies,
		models:  []string{"test-model"},
		arrived: make(chan struct{}),
		stopped: make(chan struct{}),
		issued:  map[string]issuedBlock{}, thoughtOf: map[string]string{},
		drag: dragFromEnv(),
	}
}

// Add appends replies to the script.
func (h *Handler) Add(replies ...Reply) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.script = append(h.script, replies...)
}

// Route answers matching requests with the result of answer, before the script is used; this way side
// requests such as titles consume no reply. Routes are tried in the order in which they were added.
func (h *Handler) Route(answer func(Request) (Reply, bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.routes = append(h.routes, answer)
}

// Models sets the IDs that GET /models lists.
func (h *Handler) Models(ids ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.models = ids
}

// Lenient answers requests that breach the validator as if they were valid. The breaches are still recorded,
// and still fail the test.
func (h *Handler) Lenient() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lenient = true
}

// BindThinking refuses thinking blocks if the conversation before them has changed, as newer models do.
func (h *Handler) BindThinking() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.binds = true
}

// Requests returns the chat requests so far, in the order of their arrival.
func (h *Handler) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Request(nil), h.requests...)
}

// Breaches returns what the validator found so far, one line each.
func (h *Handler) Breaches() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.breaches...)
}

// Wait returns the n-th chat request (1-based) as soon as it has arrived; false when the time is up or the
// server stopped.
func (h *Handler) Wait(n int, limit time.Duration) (Request, bool) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		h.mu.Lock()
		if len(h.requests) >= n && h.picked[n-1] {
			r := h.requests[n-1]
			h.mu.Unlock()
			return r, true
		}
		arrived := h.arrived
		h.mu.Unlock()
		select {
		case <-arrived:
		case <-h.stopped:
			return Request{}, false
		case <-timer.C:
			return Request{}, false
		}
	}
}

// Stop ends every open stream.
func (h *Handler) Stop() { h.stopOnce.Do(func() { close(h.stopped) }) }

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		h.serveModels(w)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		h.serve(w, r, chatProtocol)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages"):
		h.serve(w, r, messagesProtocol)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses"):
		h.serve(w, r, responsesProtocol)
	default:
		http.NotFound(w, r)
	}
}

func (h *Handler) serveModels(w http.ResponseWriter) {
	type entry struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	h.mu.Lock()
	list := struct {
		Object string  `json:"object"`
		Data   []entry `json:"data"`
	}{Object: "list", Data: []entry{}}
	for _, id := range h.models {
		list.Data = append(list.Data, entry{ID: id, Object: "model"})
	}
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	writeJSON(w, list)
}

// protocol is the protocol of a request.
type protocol int

const (
	chatProtocol protocol = iota
	messagesProtocol
	responsesProtocol
)

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, in protocol) {
	at := time.Now()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client disconnected in the middle of its request
	}
	req := decodeRequest(raw, r.Header, r.URL.Path, at, in)
	var found []string
	var refused string
	switch in {
	case chatProtocol:
		found = Check(raw)
	case messagesProtocol:
		found, refused = h.checkMessages(raw, r.Header)
	case responsesProtocol:
		found = h.checkResponses(raw, r.Header)
	}
	if refused != "" && len(found) == 0 {
		h.note(&req)
		h.pick(req.Index)
		p := player{w: w, ctx: r.Context(), stopped: h.stopped, reply: Refusal("invalid_request_error", refused), in: in}
		p.play(false)
		return
	}
	reply, strict := h.admit(&req, found)
	if strict {
		reply = Refusal("invalid_request_error", "modeltest: "+strings.Join(found, "; "))
	}
	for reply.choose != nil {
		reply = reply.choose(req)
	}
	defer h.answered(req.Index)
	p := player{w: w, ctx: r.Context(), stopped: h.stopped, reply: h.drag.on(reply), nextID: h.nextID, in: in, model: req.Model}
	if in == messagesProtocol {
		list, _ := req.Fields["messages"].([]any)
		p.prefix = prefixOf(req.Fields, len(list))
		h.mu.Lock()
		p.cached = h.cache.use(req.Fields)
		h.cached = append(h.cached, p.cached)
		h.mu.Unlock()
	}
	p.keep = h.keepThinking
	for _, t := range req.Tools {
		if text(t.Fields, "type") == "custom" && in == responsesProtocol {
			if p.custom == nil {
				p.custom = map[string]bool{}
			}
			p.custom[t.Name] = true
		}
	}
	p.play(req.Stream)
}

// keepThinking remembers a thinking block that is sent, and the calls after it.
func (h *Handler) keepThinking(signature string, b issuedBlock, calls []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.issued[signature] = b
	for _, id := range calls {
		h.thoughtOf[id] = signature
	}
}

// note records a request.
func (h *Handler) note(req *Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	req.Index = len(h.requests)
	h.requests, h.ends, h.picked = append(h.requests, *req), append(h.ends, time.Time{}), append(h.picked, false)
}

// pick notes that a request has its reply: whoever waits for it may cause the next one.
func (h *Handler) pick(index int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.picked[index] = true
	close(h.arrived)
	h.arrived = make(chan struct{})
}

// admit records a request and picks its reply; strict says that it must be refused.
func (h *Handler) admit(req *Request, found []string) (reply Reply, strict bool) {
	h.note(req)
	defer h.pick(req.Index)
	h.mu.Lock()
	for _, f := range found {
		h.breaches = append(h.breaches, fmt.Sprintf("request %d: %s", req.Index, f))
	}
	routes, strict := h.routes, len(found) > 0 && !h.lenient
	h.mu.Unlock()
	if strict {
		return Reply{}, true
	}
	for _, route := range routes {
		if reply, ok := route(*req); ok {
			return reply, false
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.script) == 0 {
		h.breaches = append(h.breaches, fmt.Sprintf("request %d: the script has no reply left (last message: %.200q)", req.Index, req.Last().Content))
		return Refusal("invalid_request_error", "modeltest: the script has no reply left"), false
	}
	reply = h.script[0]
	switch {
	case reply.times < 0: // forever
	case reply.times > 1:
		h.script = append([]Reply{reply.Times(reply.times - 1)}, h.script[1:]...)
	default:
		h.script = h.script[1:]
	}
	return reply, false
}

func (h *Handler) answered(index int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if index < len(h.ends) {
		h.ends[index] = time.Now()
	}
}

// Gaps returns for each request but the first how long it arrived after the end of the previous answer: the
// time that the client needed in between.
func (h *Handler) Gaps() []time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []time.Duration
	for i := 1; i < len(h.requests); i++ {
		if end := h.ends[i-1]; !end.IsZero() {
			out = append(out, h.requests[i].Time.Sub(end))
		}
	}
	return out
}

// Reset forgets the requests so far; the script stays.
func (h *Handler) Reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests, h.ends, h.cached = nil, nil, nil
}

func (h *Handler) nextID() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	return fmt.Sprintf("call_%d", h.calls)
}

func writeJSON(w io.Writer, v any) {
	// A failed write means that the client is gone; there is nobody to tell.
	_ = json.NewEncoder(w).Encode(v)
}
