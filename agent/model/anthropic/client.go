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

// question is one request of this protocol.
type question = endpoint.Question[features]

// Stream sends the request, and repeats it as long as that may help.
func (c *Client) Stream(ctx context.Context, req model.Request, emit func(model.Event)) (model.Response, error) {
	f := c.learned.Of(req.Model)
	if said := f.expectMismatch(&req); said != "" {
		c.learned.Keep(req.Model, f)
		emit(model.NoticeEvent{Text: said})
	}
	if said := f.FitAnswer(&req, answers()); said != "" {
		c.learned.Keep(req.Model, f)
		emit(model.NoticeEvent{Text: said})
	}
	s := &sender{Client: c}
	q := &question{
		End: c.Endpoint, Protocol: Protocol, Req: &req, F: f, Learned: c.learned,
		Encode: s.encode, Learn: (*features).learn, Send: s.send, Judge: fits,
	}
	return q.Ask(ctx, emit)
}

// sender sends one request.
type sender struct {
	*Client
	beta string // the Anthropic-Beta header
}

func (s *sender) encode(q *question) []byte {
	e := encoder{Body: s.at.body(s.Endpoint, q.Req), f: q.F, req: q.F.Fit(q.Req), at: s.at, provider: s.Config.Name}
	body := e.encode()
	if s.beta = ""; !s.at.betasInBody {
		s.beta = strings.Join(e.betas, ",")
	}
	return body
}

// send sends the request once.
func (s *sender) send(ctx, parent context.Context, q *question, x *endpoint.Exchange, say *endpoint.Speaker) (got endpoint.Answer) {
	a := newAnswer(say, x)
	got.Err = s.stream(ctx, q, x, a)
	got.Whole = (a.stopped || a.reason != "") && x.Sound(parent)
	got.Response, got.Counted = a.response(q.Req, got.Whole), a.counted
	if a.counted {
		got.Used = a.usage.total()
	}
	if a.reason == "model_context_window_exceeded" {
		got.Failed = endpoint.Fail(model.ClassOverflow, 0, s.Name()+": the model's context window was full in the middle of its answer", nil)
	}
	return got
}

// fits lets a request that is too long only because of its output limit be repeated with a lower one.
func fits(q *question, _ *endpoint.Exchange, bad *endpoint.Failure) {
	if bad.Err.Class != model.ClassOverflow {
		return
	}
	if room := roomForOutput(bad.Fault); room >= leastOutput && room < q.F.maxTokens {
		bad.Bad = true
	}
}

// stream sends the request and reads its answer. A regular end is not an error.
func (s *sender) stream(ctx context.Context, q *question, x *endpoint.Exchange, a *answer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL(s.at.path(q.Req.Model)), bytes.NewReader(q.Body))
	if err != nil {
		return err
	}
	req.Header = s.header()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if s.beta != "" {
		req.Header.Set("Anthropic-Beta", s.beta)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // the answer has been read, or failed
	if x.Refused(resp) {
		return errRefused
	}
	resp.Body = endpoint.SkipMark(x.Silent.Reader(resp.Body))
	if s.at.frames != nil {
		return s.at.frames(a, resp.Body)
	}
	return a.read(resp)
}

// errRefused ends an exchange; the exchange holds the refusal.
var errRefused = errors.New("the request was refused")
