package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// OpenAI is a Client for any OpenAI-compatible endpoint, on go-openai. What the endpoint
// refused once (stream_options, a role, reasoning sent back) is remembered per model for
// as long as the client lives.
type OpenAI struct {
	cfg       ProviderConfig
	api       *openai.Client
	transport *transport
	extra     []extraField
	limits    Limits

	mu      sync.Mutex
	learned map[string]*features // by model
}

// NewOpenAI makes a client. It opens no connection. The error says which field of the
// configuration is wrong.
func NewOpenAI(cfg ProviderConfig) (*OpenAI, error) {
	if err := checkURL(cfg.BaseURL); err != nil {
		return nil, err
	}
	extra, err := extraFields(cfg.ExtraBody)
	if err != nil {
		return nil, fmt.Errorf("extra body fields of provider %q: %w", cfg.Name, err)
	}
	t := newTransport(cfg)
	conf := openai.DefaultConfig(string(cfg.Key))
	conf.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	conf.HTTPClient = &http.Client{Transport: t}
	return &OpenAI{
		cfg:       cfg,
		api:       openai.NewClientWithConfig(conf),
		transport: t,
		extra:     extra,
		limits:    cfg.Limits.withDefaults(),
		learned:   map[string]*features{},
	}, nil
}

// Close ends idle connections. Running streams go on.
func (c *OpenAI) Close() { c.transport.conns.close() }

func (c *OpenAI) features(model string) *features {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.learned[model]
	if f == nil {
		f = newFeatures(c.cfg, model)
		c.learned[model] = f
	}
	return f.clone()
}

func (c *OpenAI) remember(model string, f *features) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learned[model] = f.clone()
}

// Stream sends the request, and sends it again as long as that may help.
func (c *OpenAI) Stream(ctx context.Context, req Request, emit func(Event)) (Response, error) {
	f := c.features(req.Model)
	body := encodeRequest(&req, f, c.extra, c.cfg.Name)
	say := &speaker{emit: emit}
	wasted := Usage{}
	for attempt := 1; ; {
		resp, bad := c.attempt(ctx, &req, body, say)
		resp.Wasted = wasted
		if bad == nil {
			return resp, nil
		}
		wasted = wasted.Plus(bad.used)
		if ctx.Err() != nil {
			return say.kept(resp), fmt.Errorf("asking %s: %w", c.name(), context.Cause(ctx))
		}
		if notice, ok := c.adapt(&req, f, bad); ok {
			body = encodeRequest(&req, f, c.extra, c.cfg.Name)
			say.over(resp, bad.err.Text)
			emit(NoticeEvent{Text: notice})
			continue
		}
		if req.Purpose == PurposeTitle {
			bad.most = 1 // not worth a wait
		}
		wait, again := c.again(bad, attempt)
		if !again {
			return say.kept(resp), bad.err
		}
		say.over(resp, bad.err.Text)
		emit(RetryEvent{Attempt: attempt, Wait: wait, Reason: bad.err.Error()})
		if !sleep(ctx, wait) {
			return say.kept(resp), fmt.Errorf("waiting to ask %s again: %w", c.name(), context.Cause(ctx))
		}
		attempt++
	}
}

// adapt looks for another form of a refused request, and remembers it.
func (c *OpenAI) adapt(req *Request, f *features, bad *failure) (string, bool) {
	if !bad.bad {
		return "", false
	}
	if sum, ok := badPicture(bad.fault, req); ok && f.images {
		bad.err.Class, bad.err.Image = ClassImage, sum
		return "", false
	}
	if notice, ok := f.learn(req, bad.fault); ok {
		c.remember(req.Model, f)
		return notice, true
	}
	if i := toolIndex(bad.fault, req.Tools); i >= 0 {
		bad.err.Class, bad.err.ToolIndex, bad.err.Tool = ClassTool, i, req.Tools[i].Name
	}
	return "", false
}

// again says whether another attempt is worth it, and after what wait.
func (c *OpenAI) again(bad *failure, attempt int) (time.Duration, bool) {
	if !bad.retry {
		return 0, false
	}
	if bad.wait > c.limits.MaxWait {
		bad.err.Text += fmt.Sprintf("; the server asks to wait %s, which is too long", bad.wait.Round(time.Second))
		return 0, false
	}
	if attempt >= min(c.limits.Attempts, bad.most) {
		if attempt > 1 {
			bad.err.Text += fmt.Sprintf("; gave up after %d attempts", attempt)
		}
		return 0, false
	}
	return max(bad.wait, c.limits.backoff(attempt)), true
}

// attempt sends the request once.
func (c *OpenAI) attempt(parent context.Context, req *Request, body []byte, say *speaker) (Response, *failure) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	x := &exchange{body: body, asked: req.Model, silent: watchSilence(c.limits.Idle, cancel)}
	defer x.silent.stop()
	a := newAnswer(say, yes(c.cfg.Quirks.ThinkOpen))
	err := c.stream(context.WithValue(ctx, exchangeKey{}, x), a)
	whole := err == nil && (x.sawDone || x.sawFinish) || x.sawFinish && x.fault == nil && parent.Err() == nil
	if brokenFinish(x.finish) {
		whole = false
	}
	resp := a.response(req, x, whole)
	if whole {
		for i := range resp.Opaque {
			o := &resp.Opaque[i]
			o.Protocol, o.Provider, o.Model = protocolChat, c.cfg.Name, req.Model
		}
		return resp, nil
	}
	resp.Opaque = nil // of an answer that is not whole
	bad := c.judge(ctx, x, err)
	if x.counted {
		bad.used = x.usage
	}
	return resp, bad
}

// placeholder stands in the model field of the request that go-openai sees: its checks by
// model name would refuse what a server may well accept. The transport sends the real body.
const placeholder = "placeholder"

// stream runs one exchange through go-openai. A regular end is no error.
func (c *OpenAI) stream(ctx context.Context, a *answer) error {
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

// speaker passes events on and knows what the person has seen: text that turns out void is
// taken back only when other text takes its place.
type speaker struct {
	emit  func(Event)
	spoke bool     // the present attempt has said something
	void  string   // why what an earlier attempt said is void; "" when nothing is
	seen  Response // what the last attempt that said something had said
}

func (s *speaker) say(e Event) {
	if s.void != "" {
		s.emit(ResetEvent{Reason: s.void})
		s.void, s.seen = "", Response{}
	}
	s.spoke = true
	s.emit(e)
}

// over ends an attempt that failed.
func (s *speaker) over(resp Response, reason string) {
	if s.spoke {
		s.seen, s.void, s.spoke = resp, reason, false
	}
}

// kept gives the answer that stands on the screen when nothing more is tried.
func (s *speaker) kept(resp Response) Response {
	if s.spoke {
		return resp
	}
	return s.seen
}
