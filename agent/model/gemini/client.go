package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
)

// Protocol is this protocol's name in opaque parts.
const Protocol = string(provider.Gemini)

// Client is a model.Client for an endpoint that speaks generateContent. What the endpoint refused is remembered per
// model for as long as the client exists.
type Client struct {
	*endpoint.Endpoint
	http    *http.Client
	learned *endpoint.Learned[features]
}

// New returns a client. It opens no connection. The error names the wrong field of the configuration.
func New(cfg provider.Config) (*Client, error) {
	end, err := endpoint.New(cfg)
	if err != nil {
		return nil, err
	}
	learned := endpoint.NewLearned(func(id string) *features { return newFeatures(cfg, id) }, (*features).clone)
	return &Client{Endpoint: end, http: end.HTTP(end), learned: learned}, nil
}

// header returns the headers of every request.
func (c *Client) header() http.Header {
	if c.Config.Cloud == provider.Vertex {
		return c.KeyHeader()
	}
	h := http.Header{}
	if c.Config.Key != "" {
		h.Set("X-Goog-Api-Key", string(c.Config.Key))
	}
	return h
}

// path returns where a model is asked.
func (c *Client) path(id string) string {
	id = strings.TrimPrefix(strings.TrimPrefix(id, "models/"), "google/")
	if c.Config.Cloud == provider.Vertex {
		return "/publishers/google/models/" + id + ":streamGenerateContent?alt=sse"
	}
	return "/models/" + id + ":streamGenerateContent?alt=sse"
}

// ListModels asks the endpoint which models it offers, in its order.
func (c *Client) ListModels(ctx context.Context) ([]provider.Listed, error) {
	if c.Config.Cloud == provider.Vertex {
		return nil, nil // it has no list
	}
	body, err := c.Fetch(ctx, "/models?pageSize=1000", c.header())
	if err != nil {
		return nil, err
	}
	var list struct {
		Models []struct {
			Name    string   `json:"name"`
			Window  int      `json:"inputTokenLimit"`
			Methods []string `json:"supportedGenerationMethods"`
		} `json:"models"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Models == nil {
		return c.ListAt(ctx, "/models", c.header()) // a gateway with a list of another form, or the error for none
	}
	var out []provider.Listed
	for _, m := range list.Models {
		if len(m.Methods) == 0 || slices.Contains(m.Methods, "generateContent") {
			out = append(out, provider.Listed{ID: strings.TrimPrefix(m.Name, "models/"), Window: m.Window})
		}
	}
	return out, nil
}

// Lost reports whether a part of an earlier answer no longer reaches a model: the endpoint refused its signature.
func (c *Client) Lost(id string, o model.Opaque) bool {
	return c.learned.Holds(id, func(f *features) bool { return f.lost[o.Raw] })
}

// question is one request of this protocol.
type question = endpoint.Question[features]

// Stream sends the request, and repeats it as long as that may help.
func (c *Client) Stream(ctx context.Context, req model.Request, emit func(model.Event)) (model.Response, error) {
	f := c.learned.Of(req.Model)
	if said := f.fitAnswer(&req); said != "" {
		c.learned.Keep(req.Model, f)
		emit(model.NoticeEvent{Text: said})
	}
	q := &question{
		End: c.Endpoint, Protocol: Protocol, Req: &req, F: f, Learned: c.learned,
		Encode: c.encode, Learn: (*features).learn, Send: c.send, Judge: judge,
	}
	return q.Ask(ctx, emit)
}

func (c *Client) encode(q *question) []byte {
	e := encoder{Body: c.NewEnvelope(q.Req), f: q.F, req: q.F.Fit(q.Req), provider: c.Config.Name}
	return e.encode()
}

// send sends a request once.
func (c *Client) send(ctx, parent context.Context, q *question, x *endpoint.Exchange, say *endpoint.Speaker) (got endpoint.Answer) {
	a := newAnswer(say, x)
	got.Err = c.stream(ctx, q, x, a)
	got.Whole = a.reason != "" && !endpoint.BrokenFinish(x.Finish) && x.Sound(parent)
	got.Response, got.Counted, got.Used = a.response(q.Req), a.counted, a.usage
	if !got.Whole {
		got.Response.Calls = nil
	}
	return got
}

// judge limits how often a model is asked again that writes calls which can't be read.
func judge(_ *question, x *endpoint.Exchange, bad *endpoint.Failure) {
	if endpoint.BrokenFinish(x.Finish) {
		bad.Most = brokenTries
	}
}

// brokenTries is how often a model may write a call that its own server can't read.
const brokenTries = 3

// stream sends the request and reads its answer. A regular end is not an error.
func (c *Client) stream(ctx context.Context, q *question, x *endpoint.Exchange, a *answer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL(c.path(q.Req.Model)), bytes.NewReader(q.Body))
	if err != nil {
		return err
	}
	req.Header = c.header()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // the answer has been read, or failed
	if x.Refused(resp) {
		return errRefused
	}
	resp.Body = endpoint.SkipMark(x.Silent.Reader(resp.Body))
	if endpoint.IsJSON(resp) {
		return a.whole(resp.Body)
	}
	return a.read(resp.Body)
}

// errRefused ends an exchange; the exchange holds the refusal.
var errRefused = errors.New("the request was refused")

// read assembles the answer from the events of a stream. After the finish reason only the end of the stream follows.
func (a *answer) read(body io.Reader) error {
	lines := endpoint.NewLines(body)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF) && a.reason != "":
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 {
			if len(line) > 0 && line[0] == '{' {
				a.x.Junk(line)
			}
			continue
		}
		if err := a.take(data); err != nil {
			return err
		}
	}
}

// whole processes an answer that arrived as one object, or as the list of them that a stream without events is.
func (a *answer) whole(body io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(body, endpoint.MaxAnswer+1))
	if err != nil {
		return err
	}
	if len(raw) > endpoint.MaxAnswer {
		return endpoint.ErrTooLarge
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, one := range list {
		if err := a.take(one); err != nil {
			return err
		}
	}
	return nil
}
