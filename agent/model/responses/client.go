package responses

import (
	"context"
	"errors"
	"io"
	"net/http"

	openai "github.com/sashabaranov/go-openai"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
)

// Protocol is this protocol's name in opaque parts.
const Protocol = string(provider.Responses)

// Client is a model.Client for an endpoint that speaks Responses. What the endpoint refused is remembered per
// model for as long as the client exists.
type Client struct {
	*endpoint.Endpoint
	api     *openai.Client
	learned *endpoint.Learned[features]
}

// New returns a client. It opens no connection. The error names the wrong field of the configuration.
func New(cfg provider.Config) (*Client, error) {
	end, err := endpoint.New(cfg)
	if err != nil {
		return nil, err
	}
	conf := openai.DefaultConfig(string(cfg.Key))
	conf.BaseURL = end.URL("")
	conf.HTTPClient = end.HTTP(endpoint.Transport{Endpoint: end})
	learned := endpoint.NewLearned(func(id string) *features { return newFeatures(cfg, id) }, (*features).clone)
	return &Client{Endpoint: end, api: openai.NewClientWithConfig(conf), learned: learned}, nil
}

// Lost reports whether a part of an earlier answer no longer reaches a model: the endpoint refused the
// model's reasoning.
func (c *Client) Lost(id string, o model.Opaque) bool {
	return c.learned.Holds(id, func(f *features) bool { return !f.encrypted || f.lost[o.Raw] })
}

// Stream sends the request, and repeats it as long as that may help.
func (c *Client) Stream(ctx context.Context, req model.Request, emit func(model.Event)) (model.Response, error) {
	q := &question{c: c, req: &req, f: c.learned.Of(req.Model)}
	q.encode()
	return c.Ask(ctx, &req, q, emit)
}

// question is one request in the form in which it is sent next.
type question struct {
	c    *Client
	req  *model.Request
	f    *features
	body []byte
}

func (q *question) encode() {
	e := encoder{Body: q.c.NewBody(q.req), f: q.f, req: q.f.Fit(q.req), provider: q.c.Config.Name}
	q.body = e.encode()
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
	sent := &endpoint.Sent{Exchange: x, Body: q.body, Read: func(resp *http.Response) io.ReadCloser { return normalBody(resp, silent) }}
	a := newAnswer(say, x)
	err := q.stream(sent.In(ctx), a)
	whole := a.ended && !x.HasFault() && parent.Err() == nil
	resp := a.response(q.req, whole)
	if !whole {
		resp.Opaque = nil
		bad := q.c.Judge(ctx, x, err)
		if a.counted {
			bad.Used = a.usage
		}
		return resp, bad
	}
	q.c.Sign(&resp, Protocol, q.req.Model)
	if !a.counted {
		resp.Usage = endpoint.Estimate(q.body, &resp)
	}
	return resp, nil
}

// placeholder fills the model field of the request that go-openai makes: endpoint.Transport sends the real body.
const placeholder = "placeholder"

// stream runs one exchange through go-openai. A regular end is not an error.
func (q *question) stream(ctx context.Context, a *answer) error {
	s, err := q.c.api.CreateResponseStream(ctx, openai.CreateResponseRequest{Model: placeholder, Input: ""})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // the answer has been read, or failed
	for !a.ended {
		raw, err := s.RecvRaw()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := a.take(raw); err != nil {
			return err
		}
	}
	return nil
}
