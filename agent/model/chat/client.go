package chat

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

// Client is a model.Client for any OpenAI-compatible endpoint, built on go-openai. What the endpoint refused
// (stream_options, a role, reasoning sent back) is remembered per model for as long as the client exists.
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
	x := &exchange{Exchange: endpoint.Exchange{Asked: q.req.Model, Silent: silent}}
	sent := &endpoint.Sent{Exchange: &x.Exchange, Body: q.body, Read: func(resp *http.Response) io.ReadCloser { return newNormalBody(resp, x) }}
	a := newAnswer(say, provider.Yes(q.c.Config.Quirks.ThinkOpen))
	err := q.c.stream(sent.In(ctx), a)
	whole := err == nil && (x.sawDone || x.Finish != "") || x.Finish != "" && !x.HasFault() && parent.Err() == nil
	if endpoint.BrokenFinish(x.Finish) {
		whole = false
	}
	resp := a.response(q.req, x, whole)
	if !x.counted {
		resp.Usage = endpoint.Estimate(q.body, &resp)
	}
	if whole {
		q.c.Sign(&resp, protocolChat, q.req.Model)
		return resp, nil
	}
	resp.Opaque = nil // they belong to an incomplete answer
	bad := q.c.Judge(ctx, &x.Exchange, err)
	if x.counted {
		bad.Used = x.usage
	}
	return resp, bad
}

// placeholder fills the model field of the request that go-openai sees: its checks by model name would refuse
// what a server may accept. endpoint.Transport sends the real body.
const placeholder = "placeholder"

// stream runs one exchange through go-openai. A regular end is not an error.
func (c *Client) stream(ctx context.Context, a *answer) error {
	s, err := c.api.CreateChatCompletionStream(ctx, openai.ChatCompletionRequest{Model: placeholder})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // the answer has been read, or failed
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		a.take(&chunk)
	}
}
