package endpoint_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/anthropic"
	"jcode/agent/model/chat"
	"jcode/agent/model/provider"
	"jcode/agent/model/responses"
	"jcode/internal/testkit/modeltest"
)

// asks returns a client of each protocol for an endpoint.
func asks(t *testing.T, url string, change func(*provider.Config)) map[provider.Protocol]model.Client {
	t.Helper()
	cfg := provider.Config{Name: "p", BaseURL: url, Key: "sk-0123456789abcdefghi", Limits: provider.Limits{Idle: time.Minute, Attempts: 3, Backoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond}}
	if change != nil {
		change(&cfg)
	}
	a, err := anthropic.New(cfg)
	b, err2 := chat.New(cfg)
	c, err3 := responses.New(cfg)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close(); c.Close() })
	return map[provider.Protocol]model.Client{provider.Messages: a, provider.Chat: b, provider.Responses: c}
}

func TestAWaitThatAServerNamesIsFoundWhereverItStands(t *testing.T) {
	inStream := map[provider.Protocol]string{
		provider.Messages:  `{"type":"error","error":{"type":"rate_limit_error","message":"Please try again in 12 s."}}`,
		provider.Chat:      `{"error":{"type":"rate_limit_exceeded","message":"Please try again in 12 s."}}`,
		provider.Responses: `{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Please try again in 12 s."}}}`,
	}
	reset := http.Header{"Anthropic-Ratelimit-Tokens-Remaining": {"0"}, "Anthropic-Ratelimit-Tokens-Reset": {time.Now().Add(13 * time.Second).UTC().Format(time.RFC3339)}}
	for protocol := range inStream {
		for name, reply := range map[string]modeltest.Reply{
			"in a stream": modeltest.Chunks(inStream[protocol]), "in headers": modeltest.Status(429, reset, `{"error":{"message":"slow down"}}`),
			"in a field": modeltest.Status(503, nil, `{"error":{"message":"slow down","retry_after":12}}`), "in words": modeltest.Status(503, nil, `{"error":{"message":"overloaded, retry after 12 seconds"}}`),
		} {
			if protocol == provider.Messages && name == "in a field" {
				continue // the server writes errors of this protocol in its own form
			}
			t.Run(fmt.Sprint(protocol, " ", name), func(t *testing.T) {
				srv := modeltest.New(t, reply)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var waits []time.Duration
				_, err := asks(t, srv.URL(), nil)[protocol].Stream(ctx, model.Request{Model: "m", Messages: []model.Message{{Role: model.RoleUser, Text: "x"}}}, func(e model.Event) {
					if e, ok := e.(model.RetryEvent); ok {
						waits = append(waits, e.Wait)
						cancel() // the test does not wait
					}
				})
				if len(waits) != 1 || waits[0] < 11*time.Second || waits[0] > 20*time.Second {
					t.Errorf("waits %v, %v", waits, err)
				}
			})
		}
	}
}

func TestAListHeaderOfTheSettingsJoinsOurs(t *testing.T) {
	srv := modeltest.New(t, modeltest.Text("ok"))
	c := asks(t, srv.URL(), func(p *provider.Config) {
		p.Headers = map[string]string{"anthropic-beta": "mine-2026-01-01, interleaved-thinking-2025-05-14"}
	})[provider.Messages]
	req := model.Request{Model: "claude-opus-4-5", ReasoningEffort: "high", Messages: []model.Message{{Role: model.RoleUser, Text: "x"}}}
	if _, err := c.Stream(t.Context(), req, func(model.Event) {}); err != nil {
		t.Fatal(err)
	}
	if got := srv.Requests()[0].Header.Values("Anthropic-Beta"); len(got) != 1 || got[0] != "interleaved-thinking-2025-05-14,mine-2026-01-01" {
		t.Errorf("%q", got)
	}
}

func TestOnlyWholeKeysAreMasked(t *testing.T) {
	for key, want := range map[provider.Secret]string{
		"test":                   "the test of latest pull requests failed",
		"pull":                   "the test of latest pull requests failed",
		"sk-0123456789abcdefghi": "the test of latest pull requests failed",
	} {
		srv := modeltest.New(t, modeltest.Status(401, http.Header{"X-Request-Id": {"req_42"}}, `{"error":{"message":"the test of latest pull requests failed with (`+string(key)+`)"}}`))
		_, err := asks(t, srv.URL(), func(p *provider.Config) { p.Key = key })[provider.Chat].Stream(t.Context(), model.Request{Model: "m", Messages: []model.Message{{Role: model.RoleUser, Text: "x"}}}, func(model.Event) {})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "request ID req_42") {
			t.Errorf("%s: %v", key, err)
		}
		if shown := strings.Contains(err.Error(), string(key)); shown != (len(key) < 12) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestAnEventInSeveralLinesIsOne(t *testing.T) {
	stream := "data: {\"type\":\"response.completed\",\ndata: \"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\ndata: \"content\":[{\"type\":\"output_text\",\"text\":\"Hi.\"}]}]}}\n\n"
	srv := modeltest.New(t, modeltest.Raw(stream))
	resp, err := asks(t, srv.URL(), nil)[provider.Responses].Stream(t.Context(), model.Request{Model: "m", Messages: []model.Message{{Role: model.RoleUser, Text: "x"}}}, func(model.Event) {})
	if err != nil || resp.Text != "Hi." {
		t.Errorf("%+v %v", resp, err)
	}
}

func TestOwnFieldsOfABodyCount(t *testing.T) {
	srv := modeltest.New(t, modeltest.Text("one"), modeltest.Text("two"))
	c := asks(t, srv.URL(), func(p *provider.Config) {
		p.ExtraBody = map[string]any{"max_tokens": 4000, "cache_control": map[string]any{"type": "ephemeral"}}
	})[provider.Messages]
	req := model.Request{
		Model: "claude-opus-4-5", ReasoningEffort: "high", System: "You help.", Messages: []model.Message{{Role: model.RoleUser, Text: "x"}},
		Tools: []model.Tool{{Name: "read", Parameters: []byte(`{"type":"object","properties":{}}`)}},
	}
	resp, err := c.Stream(t.Context(), req, func(model.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Text: resp.Text}, model.Message{Role: model.RoleUser, Text: "y"})
	if _, err := c.Stream(t.Context(), req, func(model.Event) {}); err != nil {
		t.Fatal(err)
	}
	raw := string(srv.Requests()[1].Raw)
	if n := strings.Count(raw, `"cache_control"`); n != 4 || !strings.Contains(raw, `"budget_tokens":2000`) {
		t.Errorf("%d marks: %s", n, raw)
	}
}
