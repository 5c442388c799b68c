package anthropic

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
)

// Protocol is this protocol's name in opaque parts.
const Protocol = string(provider.Messages)

// Client is a model.Client for an endpoint that speaks Messages. What the endpoint refused is remembered per
// model for as long as the client exists.
type Client struct {
	*endpoint.Endpoint
	http    *http.Client
	at      envelope
	learned *endpoint.Learned[features]
}

// New returns a client. It opens no connection. The error names the wrong field of the configuration.
func New(cfg provider.Config) (*Client, error) {
	// The provider's own tools use the address without v1; both are accepted.
	address, query := provider.SplitURL(cfg.BaseURL)
	if cfg.BaseURL = strings.TrimSuffix(address, "/v1"); query != "" {
		cfg.BaseURL += "?" + query
	}
	end, err := endpoint.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Client{
		Endpoint: end,
		http:     end.HTTP(end),
		at:       envelopeOf(cfg.Cloud),
		learned:  endpoint.NewLearned(func(id string) *features { return newFeatures(cfg, id) }, (*features).clone),
	}, nil
}

// header returns the headers of every request: the API version and the key.
func (c *Client) header() http.Header {
	h := http.Header{}
	if c.at.version == "" {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	switch {
	case c.Config.Key == "":
	case c.at.version != "":
		h.Set("Authorization", "Bearer "+string(c.Config.Key))
	default:
		h.Set("X-Api-Key", string(c.Config.Key))
	}
	if c.Config.Token != "" {
		h.Set("Authorization", "Bearer "+string(c.Config.Token))
	}
	return h
}

// ListModels asks the endpoint which models it offers, in its order.
func (c *Client) ListModels(ctx context.Context) ([]provider.Listed, error) {
	if c.at.list != nil {
		return c.at.list(ctx, c.Endpoint)
	}
	return c.ListAt(ctx, "/v1/models?limit=1000", c.header())
}

// Lost reports whether a part of an earlier answer no longer reaches a model: the endpoint refused the
// model's thinking, or drops it because what preceded it has changed.
func (c *Client) Lost(id string, o model.Opaque) bool {
	return c.learned.Holds(id, func(f *features) bool { return !f.thoughts || f.lost[o.Raw] })
}

// Stream sends the request, and repeats it as long as that may help.
func (c *Client) Stream(ctx context.Context, req model.Request, emit func(model.Event)) (model.Response, error) {
	q := &question{c: c, req: &req, f: c.learned.Of(req.Model)}
	if said := q.f.expectMismatch(&req); said != "" {
		c.learned.Keep(req.Model, q.f)
		emit(model.NoticeEvent{Text: said})
	}
	q.encode()
	return c.Ask(ctx, &req, q, emit)
}

// question is one request in the form in which it is sent next.
type question struct {
	c    *Client
	req  *model.Request
	f    *features
	body []byte
	beta string // the Anthropic-Beta header
}

func (q *question) encode() {
	e := encoder{Body: q.c.at.body(q.c.Endpoint, q.req), f: q.f, req: q.f.Fit(q.req), at: q.c.at, provider: q.c.Config.Name}
	q.body = e.encode()
	if q.beta = ""; !q.c.at.betasInBody {
		q.beta = strings.Join(e.betas, ",")
	}
}

// Adapt looks for another form of a refused request, and remembers it.
func (q *question) Adapt(bad *endpoint.Failure) (string, bool) {
	notice, ok := q.f.learn(q.req, bad.Fault)
	if ok {
		q.c.learned.Keep(q.req.Model, q.f)
		q.encode()
	}
	return notice, ok
}

// Sent implements endpoint.Protocol.
func (q *question) Sent() []byte { return q.body }

// Attempt sends the request once.
func (q *question) Attempt(parent context.Context, say *endpoint.Speaker) (model.Response, *endpoint.Failure) {
	ctx, silent, stop := q.c.Watch(parent)
	defer stop()
	x := &endpoint.Exchange{Asked: q.req.Model, Silent: silent}
	a := newAnswer(say, x)
	err := q.stream(ctx, x, a)
	whole := (a.stopped || a.reason != "") && !x.HasFault() && parent.Err() == nil
	resp := a.response(q.req, whole)
	switch {
	case !whole:
		resp.Opaque = nil
		bad := q.c.Judge(ctx, x, err)
		if a.counted {
			bad.Used = a.usage.total()
		}
		q.fits(bad)
		return resp, bad
	case a.reason == "model_context_window_exceeded":
		bad := endpoint.Fail(model.ClassOverflow, 0, q.c.Name()+": the model's context window was full in the middle of its answer", nil)
		bad.Used = a.usage.total()
		return resp, bad
	}
	q.c.Sign(&resp, Protocol, q.req.Model)
	if !a.counted {
		resp.Usage = endpoint.Estimate(q.body, &resp)
	}
	return resp, nil
}

// fits lets a request that is too long only because of its output limit be repeated with a lower one.
func (q *question) fits(bad *endpoint.Failure) {
	if bad.Err.Class != model.ClassOverflow {
		return
	}
	if room := roomForOutput(bad.Fault); room >= leastOutput && room < q.f.maxTokens {
		bad.Bad = true
	}
}

// stream sends the request and reads its answer. A regular end is not an error.
func (q *question) stream(ctx context.Context, x *endpoint.Exchange, a *answer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.c.URL(q.c.at.path(q.req.Model)), bytes.NewReader(q.body))
	if err != nil {
		return err
	}
	req.Header = q.c.header()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if q.beta != "" {
		req.Header.Set("Anthropic-Beta", q.beta)
	}
	resp, err := q.c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // the answer has been read, or failed
	if x.Refused(resp) {
		return errRefused
	}
	resp.Body = endpoint.SkipMark(x.Silent.Reader(resp.Body))
	if q.c.at.frames != nil {
		return q.c.at.frames(a, resp.Body)
	}
	return a.read(resp)
}

// errRefused ends an exchange; the exchange holds the refusal.
var errRefused = errors.New("the request was refused")
