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
		End: c.Endpoint, Protocol: protocolChat, Req: &req, F: f, Learned: c.learned,
		Encode: c.encode, Learn: (*features).learn, Send: c.send,
	}
	return q.Ask(ctx, emit)
}

func (c *Client) encode(q *question) []byte {
	e := encoder{Body: c.NewBody(q.Req), f: q.F, req: q.F.Fit(q.Req), provider: c.Config.Name}
	return e.encode()
}

// send sends a request once.
func (c *Client) send(ctx, parent context.Context, q *question, of *endpoint.Exchange, say *endpoint.Speaker) (got endpoint.Answer) {
	x := &exchange{Exchange: of}
	sent := &endpoint.Sent{Exchange: of, Body: q.Body, Read: func(resp *http.Response) io.ReadCloser { return newNormalBody(resp, x) }}
	a := newAnswer(say, provider.Yes(c.Config.Quirks.ThinkOpen))
	got.Err = c.stream(sent.In(ctx), a)
	got.Whole = got.Err == nil && (x.sawDone || x.Finish != "") || x.Finish != "" && x.Sound(parent)
	if endpoint.BrokenFinish(x.Finish) {
		got.Whole = false
	}
	got.Response, got.Counted = a.response(q.Req, x, got.Whole), true
	if x.counted {
		got.Used = x.usage
	} else {
		got.Response.Usage = endpoint.Estimate(q.Body, &got.Response)
	}
	return got
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
