package responses

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

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
	extra   []endpoint.Field
	learned *endpoint.Learned[features]
}

// New returns a client. It opens no connection. The error names the wrong field of the configuration.
func New(cfg provider.Config) (*Client, error) {
	end, err := endpoint.New(cfg)
	if err != nil {
		return nil, err
	}
	extra, err := endpoint.Fields(cfg.ExtraBody)
	if err != nil {
		return nil, fmt.Errorf("extra body fields of provider %q: %w", cfg.Name, err)
	}
	conf := openai.DefaultConfig(string(cfg.Key))
	conf.BaseURL = end.URL("")
	conf.HTTPClient = end.HTTP(transport{end})
	learned := endpoint.NewLearned(func(id string) *features { return newFeatures(cfg, id) }, (*features).clone)
	return &Client{Endpoint: end, api: openai.NewClientWithConfig(conf), extra: extra, learned: learned}, nil
}

// Lost reports whether a part of an earlier answer no longer reaches a model: the endpoint refused the
// model's reasoning.
func (c *Client) Lost(id string, _ model.Opaque) bool {
	return c.learned.Holds(id, func(f *features) bool { return !f.encrypted })
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
	e := encoder{f: q.f, req: q.req, extra: q.c.extra, provider: q.c.Config.Name}
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

// Attempt sends the request once.
func (q *question) Attempt(parent context.Context, say *endpoint.Speaker) (model.Response, *endpoint.Failure) {
	ctx, silent, stop := q.c.Watch(parent)
	defer stop()
	x := &exchange{Exchange: endpoint.Exchange{Asked: q.req.Model, Silent: silent}, body: q.body}
	a := newAnswer(say, &x.Exchange)
	err := q.stream(context.WithValue(ctx, exchangeKey{}, x), a)
	whole := a.ended && !x.HasFault() && parent.Err() == nil
	resp := a.response(q.req, whole)
	if !whole {
		resp.Opaque = nil
		bad := q.c.Judge(ctx, &x.Exchange, err)
		if a.counted {
			bad.Used = a.usage
		}
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

// placeholder fills the model field of the request that go-openai makes: the transport sends the real body.
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

type exchangeKey struct{}

// exchange is one request and its reply.
type exchange struct {
	endpoint.Exchange
	body []byte // the encoded request
}

// transport is the RoundTripper under go-openai: it replaces the library's body with ours, and keeps
// refusals, which are judged elsewhere.
type transport struct{ *endpoint.Endpoint }

// RoundTrip sends the body of the exchange in the request's context.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		return t.Endpoint.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	if req.Body != nil {
		_ = req.Body.Close() // go-openai's own body, an in-memory reader
	}
	req.ContentLength = int64(len(x.body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
	req.Body, _ = req.GetBody()
	resp, err := t.Endpoint.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if x.Refused(resp) {
		resp.StatusCode = max(resp.StatusCode, http.StatusBadRequest)
		resp.Body = io.NopCloser(strings.NewReader(`{"error":{"message":"refused"}}`))
		return resp, nil
	}
	if resp.StatusCode >= 300 {
		return resp, nil // net/http follows it with the whole request
	}
	resp.Body = x.Silent.Reader(resp.Body)
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind == "application/json" {
		resp.Body = oneEvent(resp.Body)
	} else {
		resp.Body = &dataLines{body: resp.Body, r: bufio.NewReaderSize(endpoint.SkipMark(resp.Body), 32<<10)}
	}
	return resp, nil
}

// oneEvent turns a response that arrived as one object into the event that ends a stream.
func oneEvent(body io.ReadCloser) io.ReadCloser {
	defer func() { _ = body.Close() }() // it is read here
	raw, err := io.ReadAll(io.LimitReader(body, endpoint.MaxAnswer+1))
	if err != nil || len(raw) > endpoint.MaxAnswer || !json.Valid(raw) {
		return io.NopCloser(bytes.NewReader(raw)) // not an answer; this was reported
	}
	var line bytes.Buffer
	line.WriteString(`data: {"type":"response.completed","response":`)
	_ = json.Compact(&line, raw) // it is valid
	line.WriteString("}\n\n")
	return io.NopCloser(&line)
}

// dataLines keeps only the data of an event stream, which go-openai can read. The library keeps every other
// line, in case it is an error, and takes a payload that begins with an error object for the end.
type dataLines struct {
	body io.ReadCloser
	r    *bufio.Reader
	out  []byte // ready to be read
	line []byte
	err  error
}

// Read returns data lines, each followed by an empty one.
func (d *dataLines) Read(p []byte) (int, error) {
	for len(d.out) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		d.fill()
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

func (d *dataLines) fill() {
	d.line = d.line[:0]
	for {
		part, err := d.r.ReadSlice('\n')
		d.line = append(d.line, part...)
		if errors.Is(err, bufio.ErrBufferFull) && len(d.line) <= endpoint.MaxAnswer {
			continue
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			err = endpoint.ErrTooLarge
		}
		d.err = err
		break
	}
	data, ok := bytes.CutPrefix(d.line, []byte("data:"))
	if !ok {
		return
	}
	data = bytes.TrimSpace(data)
	d.out = append(d.out[:0], "data: "...)
	if rest, ok := bytes.CutPrefix(data, []byte(`{"error":`)); ok {
		d.out = append(d.out, `{"type":"error","error":`...)
		data = rest
	}
	d.out = append(append(d.out, data...), "\n\n"...)
}

// Close closes the response.
func (d *dataLines) Close() error { return d.body.Close() }
