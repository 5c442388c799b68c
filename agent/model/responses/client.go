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

// question is one request of this protocol.
type question = endpoint.Question[features]

// Stream sends the request, and repeats it as long as that may help.
func (c *Client) Stream(ctx context.Context, req model.Request, emit func(model.Event)) (model.Response, error) {
	f := c.learned.Of(req.Model)
	if said := f.FitAnswer(&req, endpoint.StrictAnswers()); said != "" {
		c.learned.Keep(req.Model, f)
		emit(model.NoticeEvent{Text: said})
	}
	q := &question{
		End: c.Endpoint, Protocol: Protocol, Req: &req, F: f, Learned: c.learned,
		Encode: c.encode, Learn: (*features).learn, Send: c.send,
	}
	return q.Ask(ctx, emit)
}

func (c *Client) encode(q *question) []byte {
	e := encoder{Body: c.NewBody(q.Req), f: q.F, req: q.F.Fit(q.Req), provider: c.Config.Name}
	return e.encode()
}

// send sends a request once.
func (c *Client) send(ctx, parent context.Context, q *question, x *endpoint.Exchange, say *endpoint.Speaker) (got endpoint.Answer) {
	sent := &endpoint.Sent{Exchange: x, Body: q.Body, Read: func(resp *http.Response) io.ReadCloser { return normalBody(resp, x.Silent) }}
	a := newAnswer(say, x)
	got.Err = c.stream(sent.In(ctx), a)
	got.Whole = a.ended && x.Sound(parent)
	got.Response, got.Counted = a.response(q.Req, got.Whole), a.counted
	if a.counted {
		got.Used = a.usage
	}
	return got
}

// placeholder fills the model field of the request that go-openai makes: endpoint.Transport sends the real body.
const placeholder = "placeholder"

// stream runs one exchange through go-openai. A regular end is not an error.
func (c *Client) stream(ctx context.Context, a *answer) error {
	s, err := c.api.CreateResponseStream(ctx, openai.CreateResponseRequest{Model: placeholder, Input: ""})
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
