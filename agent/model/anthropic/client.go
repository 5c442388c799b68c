package anthropic

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
)

// Protocol is this protocol's name in opaque parts.
const Protocol = string(provider.Messages)

// Client is a model.Client for an endpoint that speaks Messages. What the endpoint refused
// once is remembered per model for as long as the client lives.
type Client struct {
	*endpoint.Endpoint
	api   sdk.MessageService
	extra []endpoint.Field

	mu      sync.Mutex
	learned map[string]*features // by model
}

// New makes a client. It opens no connection. The error says which field of the
// configuration is wrong.
func New(cfg provider.Config) (*Client, error) {
	// The SDK's paths begin with v1, and so do the maker's own tools.
	cfg.BaseURL = strings.TrimSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/v1")
	end, err := endpoint.New(cfg)
	if err != nil {
		return nil, err
	}
	extra, err := endpoint.Fields(cfg.ExtraBody)
	if err != nil {
		return nil, fmt.Errorf("extra body fields of provider %q: %w", cfg.Name, err)
	}
	options := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(), option.WithMaxRetries(0),
		option.WithBaseURL(end.URL("/")), option.WithHTTPClient(&http.Client{Transport: transport{end}}),
	}
	if cfg.Key != "" {
		options = append(options, option.WithAPIKey(string(cfg.Key)))
	}
	if cfg.Token != "" {
		options = append(options, option.WithAuthToken(string(cfg.Token)))
	}
	return &Client{Endpoint: end, api: sdk.NewMessageService(options...), extra: extra, learned: map[string]*features{}}, nil
}

// ListModels asks the endpoint which models it offers, in its order.
func (c *Client) ListModels(ctx context.Context) ([]provider.Listed, error) {
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if c.Config.Key != "" {
		header.Set("X-Api-Key", string(c.Config.Key))
	}
	if c.Config.Token != "" {
		header.Set("Authorization", "Bearer "+string(c.Config.Token))
	}
	return c.ListAt(ctx, "/v1/models?limit=1000", header)
}

func (c *Client) features(id string) *features {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.learned[id]
	if f == nil {
		f = newFeatures(c.Config, id)
		c.learned[id] = f
	}
	return f.clone()
}

func (c *Client) remember(id string, f *features) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learned[id] = f.clone()
}

// Stream sends the request, and sends it again as long as that may help.
func (c *Client) Stream(ctx context.Context, req model.Request, emit func(model.Event)) (model.Response, error) {
	q := &question{c: c, req: &req, f: c.features(req.Model)}
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
	e := encoder{f: q.f, req: q.req, extra: q.c.extra, provider: q.c.Config.Name}
	q.body = e.encode()
	q.beta = strings.Join(e.betas, ",")
}

// Adapt looks for another form of a refused request, and remembers it.
func (q *question) Adapt(bad *endpoint.Failure) (string, bool) {
	notice, ok := q.f.learn(q.req, bad.Fault)
	if ok {
		q.c.remember(q.req.Model, q.f)
		q.encode()
	}
	return notice, ok
}

// Attempt sends the request once.
func (q *question) Attempt(parent context.Context, say *endpoint.Speaker) (model.Response, *endpoint.Failure) {
	ctx, silent, stop := q.c.Watch(parent)
	defer stop()
	x := &exchange{Exchange: endpoint.Exchange{Asked: q.req.Model, Silent: silent}, body: q.body, beta: q.beta}
	a := newAnswer(say, &x.Exchange)
	err := q.stream(context.WithValue(ctx, exchangeKey{}, x), a)
	whole := (a.stopped || a.stopReason) && !x.HasFault() && parent.Err() == nil
	resp := a.response(q.req, whole)
	switch {
	case !whole:
		resp.Opaque = nil
		bad := q.c.Judge(ctx, &x.Exchange, err)
		if a.counted {
			bad.Used = a.usage.total()
		}
		q.fits(bad)
		return resp, bad
	case a.reason == string(sdk.StopReasonModelContextWindowExceeded):
		bad := endpoint.Fail(model.ClassOverflow, 0, q.c.Name()+": the model's context window was full in the middle of its answer", nil)
		bad.Used = a.usage.total()
		return resp, bad
	}
	for i := range resp.Opaque {
		o := &resp.Opaque[i]
		o.Protocol, o.Provider, o.Model = Protocol, q.c.Config.Name, q.req.Model
	}
	if !a.counted {
		resp.Usage = model.Usage{Input: model.EstimateBytes(len(q.body)), Output: model.EstimateBytes(len(resp.Text) + len(resp.Reasoning)), Estimated: true}
	}
	return resp, nil
}

// fits lets a request that is only too long because of its output limit be sent again with a
// lower one.
func (q *question) fits(bad *endpoint.Failure) {
	if bad.Err.Class != model.ClassOverflow {
		return
	}
	if room := roomForOutput(bad.Fault); room >= leastOutput && room < q.f.maxTokens {
		bad.Bad = true
	}
}

// stream runs one exchange through the SDK. A regular end is no error.
func (q *question) stream(ctx context.Context, a *answer) error {
	// The service alone, not the whole client, and the response before it is decoded: the
	// whole client would add 19 MB to the binary, and its decoder a millisecond per hundred
	// deltas.
	var resp *http.Response
	s := q.c.api.NewStreaming(ctx, sdk.MessageNewParams{}, option.WithResponseInto(&resp))
	if err := s.Err(); err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // the answer has been read, or failed
	return a.read(resp)
}

type exchangeKey struct{}

// exchange is one request and what comes of it.
type exchange struct {
	endpoint.Exchange
	body []byte // the encoded request
	beta string // the Anthropic-Beta header
}

// transport is the RoundTripper under the SDK: it sends our body in place of the SDK's, keeps
// refusals, whose words are judged elsewhere, and says that the server lives.
type transport struct{ *endpoint.Endpoint }

// RoundTrip sends the body of the exchange in the request's context.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		return t.Endpoint.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	if req.Body != nil {
		_ = req.Body.Close() // the SDK's own body, an in-memory reader
	}
	req.ContentLength = int64(len(x.body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
	req.Body, _ = req.GetBody()
	if x.beta != "" {
		req.Header.Set("Anthropic-Beta", x.beta)
	}
	resp, err := t.Endpoint.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if x.Refused(resp) {
		resp.StatusCode = max(resp.StatusCode, http.StatusBadRequest)
		resp.Body = io.NopCloser(strings.NewReader(`{"type":"error"}`))
		return resp, nil
	}
	resp.Body = endpoint.SkipMark(x.Silent.Reader(resp.Body))
	return resp, nil
}
