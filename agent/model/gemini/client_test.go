package gemini_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/gemini"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/geminitest"
)

func newClient(t *testing.T, srv *geminitest.Server) *gemini.Client {
	t.Helper()
	c, err := gemini.New(provider.Config{
		Name: "gemini", BaseURL: srv.URL, Key: geminitest.Key, Protocol: provider.Gemini,
		Limits: provider.Limits{Attempts: 4, Backoff: time.Millisecond, MaxBackoff: time.Millisecond, Idle: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

type seen struct {
	text, thought string
	notes         []string
	waits         []time.Duration
	calls         int
}

func stream(t *testing.T, c *gemini.Client, req model.Request) (model.Response, *seen, error) {
	t.Helper()
	s := &seen{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resp, err := c.Stream(ctx, req, func(e model.Event) {
		switch e := e.(type) {
		case model.TextEvent:
			s.text += e.Delta
		case model.ReasoningEvent:
			s.thought += e.Delta
		case model.NoticeEvent:
			s.notes = append(s.notes, e.Text)
		case model.RetryEvent:
			s.waits = append(s.waits, e.Wait)
		case model.CallEvent:
			s.calls++
		}
	})
	return resp, s, err
}

func ask(text string) model.Request {
	return model.Request{
		Model: "gemini-3.1-pro", System: "You help.", Messages: []model.Message{{Role: model.RoleUser, Text: text}},
		Tools: []model.Tool{{Name: "read", Description: "Reads.", Parameters: json.RawMessage(
			`{"$schema":"x","type":"object","properties":{"path":{"type":"string","minLength":1,"examples":["a"]},"mode":{"const":"fast"}},"required":["path"],"additionalProperties":false}`)}},
	}
}

func answered(req model.Request, resp model.Response, results ...string) model.Request {
	req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Text: resp.Text, Reasoning: resp.Reasoning, Calls: resp.Calls, Opaque: resp.Opaque})
	for i, c := range resp.Calls {
		req.Messages = append(req.Messages, model.Message{Role: model.RoleTool, CallID: c.ID, Name: c.Name, Text: results[i]})
	}
	return req
}

// finished is the last piece of a stream.
func finished(reason string) string {
	return fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":%q,"index":0}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":80,"candidatesTokenCount":7,"thoughtsTokenCount":13,"totalTokenCount":120},"modelVersion":"gemini-3.1-pro-001"}`, reason)
}

const twoCalls = `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"fc1","name":"read","args":{"path":"b <a>.go",  "n": 1.0}},"thoughtSignature":"c2lnbmF0dXJl/+A=="},{"functionCall":{"name":"read","args":{"path":"b"}}}]},"index":0}]}`

func TestCallsAndSignaturesGoBackByteForByte(t *testing.T) {
	srv := geminitest.New(t,
		geminitest.Stream(`{"candidates":[{"content":{"role":"model","parts":[{"text":"Let me think.","thought":true}]}}]}`,
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"I "}]}}]}`, `{"candidates":[{"content":{"role":"model","parts":[{"text":"look.","thoughtSignature":"dGV4dA=="}]}}]}`,
			twoCalls, finished("STOP")),
		geminitest.Stream(`{"candidates":[{"content":{"role":"model","parts":[{"text":"Done."}]}}]}`, finished("STOP")))
	c := newClient(t, srv)
	req := ask("go")
	resp, s, err := stream(t, c, req)
	if err != nil || s.text != "I look." || s.thought != "Let me think." || s.calls != 2 || resp.Finish != "tool_calls" || len(resp.Calls) != 2 || resp.Calls[0].ID != "fc1" || resp.Calls[1].ID == "" {
		t.Fatalf("%+v %+v %v", resp, s, err)
	}
	if want := (model.Usage{Input: 100, Output: 20, Cached: 80}); resp.Usage != want {
		t.Errorf("used %+v", resp.Usage)
	}
	req = answered(req, resp, "A", "B")
	req.Messages[3].Failed = true
	if resp, _, err = stream(t, c, req); err != nil || resp.Text != "Done." || resp.Finish != "stop" {
		t.Fatalf("%+v %v", resp, err)
	}
	raw, err := json.Marshal(srv.Bodies()[1]["contents"])
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"parts":[{"text":"go"}],"role":"user"},{"parts":[{"text":"I "},{"text":"look.","thoughtSignature":"dGV4dA=="},` +
		`{"functionCall":{"args":{"n":1,"path":"b \u003ca\u003e.go"},"id":"fc1","name":"read"},"thoughtSignature":"c2lnbmF0dXJl/+A=="},{"functionCall":{"args":{"path":"b"},"name":"read"}}],"role":"model"},` +
		`{"parts":[{"functionResponse":{"id":"fc1","name":"read","response":{"output":"A"}}},{"functionResponse":{"name":"read","response":{"error":"B"}}}],"role":"user"}]`
	if string(raw) != want {
		t.Errorf("sent\n%s\nwant\n%s", raw, want)
	}
	for _, part := range []string{`{"functionCall":{"id":"fc1","name":"read","args":{"path":"b <a>.go",  "n": 1.0}},"thoughtSignature":"c2lnbmF0dXJl/+A=="}`, `{"text":"look.","thoughtSignature":"dGV4dA=="}`} {
		if !strings.Contains(srv.Raws()[1], part) {
			t.Errorf("not byte for byte: %s", part)
		}
	}
	if got := srv.Refused(); len(got) > 0 {
		t.Errorf("refused: %q", got)
	}
}

// A history of another model has no signatures: Google names a value for those calls.
func TestHistoryOfAnotherModelIsTaken(t *testing.T) {
	srv := geminitest.New(t, geminitest.Stream(`{"candidates":[{"content":{"parts":[{"text":"ok"}]}}]}`, finished("STOP")))
	req := ask("go")
	req.Messages = append(req.Messages,
		model.Message{Role: model.RoleAssistant, Calls: []model.Call{{ID: "x1", Name: "read", Arguments: `{"path":"a"}`}, {ID: "x2", Name: "read", Arguments: `{}`}}, Opaque: []model.Opaque{{Protocol: "messages", Model: "claude", Kind: "thinking", Raw: `{}`}}},
		model.Message{Role: model.RoleTool, CallID: "x1", Name: "read", Text: "A", Images: []model.Image{{MIME: "image/png", Data: []byte("picture")}}}, model.Message{Role: model.RoleTool, CallID: "x2", Name: "read"})
	if resp, s, err := stream(t, newClient(t, srv), req); err != nil || resp.Text != "ok" || len(s.notes) > 0 || len(srv.Refused()) > 0 {
		t.Errorf("%+v %q %v %q", resp, s.notes, err, srv.Refused())
	}
}

func TestReasonsForTheEndOfAnAnswer(t *testing.T) {
	for reason, want := range map[string]string{"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter", "RECITATION": "content_filter", "PROHIBITED_CONTENT": "content_filter", "SPII": "content_filter"} {
		srv := geminitest.New(t, geminitest.Stream(`{"candidates":[{"content":{"parts":[{"text":"so"}]}}]}`, finished(reason)))
		if resp, _, err := stream(t, newClient(t, srv), ask("go")); err != nil || resp.Finish != want {
			t.Errorf("%s: %+v %v", reason, resp, err)
		}
	}
	srv := geminitest.New(t, geminitest.Stream(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}}`))
	if resp, _, err := stream(t, newClient(t, srv), ask("go")); err != nil || resp.Finish != "content_filter" {
		t.Errorf("a blocked prompt: %+v %v", resp, err)
	}
	srv = geminitest.New(t, geminitest.Stream(twoCalls, finished("MALFORMED_FUNCTION_CALL")), geminitest.Stream(`{"candidates":[{"content":{"parts":[{"text":"now"}]}}]}`, finished("STOP")))
	resp, s, err := stream(t, newClient(t, srv), ask("go"))
	if err != nil || resp.Text != "now" || len(resp.Calls) > 0 || len(s.waits) != 1 || resp.Wasted.Input != 100 {
		t.Errorf("a call that could not be read is asked for again: %+v %+v %v", resp, s, err)
	}
}

func TestRefusalsAreUnderstood(t *testing.T) {
	wait := geminitest.Refuse(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted.", `[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.05s"}]`)
	srv := geminitest.New(t, wait, geminitest.Stream(`{"candidates":[{"content":{"parts":[{"text":"ok"}]}}]}`, finished("STOP")))
	if _, s, err := stream(t, newClient(t, srv), ask("go")); err != nil || len(s.waits) != 1 || s.waits[0] < 50*time.Millisecond {
		t.Errorf("the wait that is asked for: %v %v", s.waits, err)
	}
	srv = geminitest.New(t, geminitest.Stream(`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`), geminitest.Stream(`{"candidates":[{"content":{"parts":[{"text":"ok"}]}}]}`, finished("STOP")))
	if resp, s, err := stream(t, newClient(t, srv), ask("go")); err != nil || resp.Text != "ok" || len(s.waits) != 1 {
		t.Errorf("an error within a stream: %+v %v", resp, err)
	}
	for name, c := range map[string]struct {
		reply geminitest.Reply
		class model.ErrorClass
	}{
		"key":    {geminitest.Refuse(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", ""), model.ClassAuth},
		"model":  {geminitest.Refuse(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta", ""), model.ClassRequest},
		"length": {geminitest.Refuse(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", ""), model.ClassOverflow},
	} {
		_, _, err := stream(t, newClient(t, geminitest.New(t, c.reply)), ask("go"))
		var bad *model.Error
		if !errors.As(err, &bad) || bad.Class != c.class || strings.Contains(err.Error(), geminitest.Key) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestThinkingIsSetAsTheModelTakesIt(t *testing.T) {
	for name, c := range map[string]struct{ id, effort, purpose, want string }{
		"three, none set":       {"gemini-3.1-pro", "", "", `{"thinkingConfig":{"includeThoughts":true}}`},
		"three, high":           {"gemini-3.1-pro", "high", "", `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"}}`},
		"three, a title":        {"gemini-3.1-pro", "high", "title", `{"thinkingConfig":{"thinkingLevel":"low"}}`},
		"2.5 pro, a title":      {"gemini-2.5-pro", "", "title", `{"thinkingConfig":{"thinkingBudget":128}}`},
		"2.5 flash, a title":    {"gemini-2.5-flash", "", "title", `{"thinkingConfig":{"thinkingBudget":0}}`},
		"2.5 flash, medium":     {"gemini-2.5-flash", "medium", "", `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}`},
		"2.0, which thinks not": {"gemini-2.0-flash", "high", "", `{}`},
	} {
		srv := geminitest.New(t, geminitest.Stream(`{"candidates":[{"content":{"parts":[{"text":"ok"}]}}]}`, finished("STOP")))
		req := ask("go")
		req.Model, req.ReasoningEffort, req.Purpose = c.id, c.effort, model.Purpose(c.purpose)
		if _, _, err := stream(t, newClient(t, srv), req); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if raw, _ := json.Marshal(srv.Bodies()[0]["generationConfig"]); string(raw) != c.want {
			t.Errorf("%s: %s, want %s", name, raw, c.want)
		}
	}
}

func TestModelsAreListedAndVertexIsAskedWithABearer(t *testing.T) {
	list, err := newClient(t, geminitest.New(t)).ListModels(t.Context())
	if err != nil || len(list) != 1 || list[0] != (provider.Listed{ID: "gemini-3.1-pro", Window: 1_048_576}) {
		t.Errorf("%+v %v", list, err)
	}
	srv := geminitest.New(t, geminitest.Stream(`{"candidates":[{"content":{"parts":[{"text":"ok"}]}}]}`, finished("STOP")))
	srv.Bearer = "ya29.token-of-vertex"
	c, err := gemini.New(provider.Config{Name: "vertex", Cloud: provider.Vertex, BaseURL: srv.URL, Key: "ya29.token-of-vertex", Protocol: provider.Gemini})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	req := ask("go")
	req.Model = "google/gemini-3.1-pro"
	req.Messages[0].Images = []model.Image{{MIME: "image/png", Data: []byte("picture")}, {MIME: model.MIMEPDF, Data: []byte("%PDF")}}
	if resp, _, err := stream(t, c, req); err != nil || resp.Text != "ok" {
		t.Errorf("%+v %v", resp, err)
	}
	if got := srv.Paths(); len(got) != 1 || got[0] != "/v1beta/publishers/google/models/gemini-3.1-pro:streamGenerateContent" {
		t.Errorf("%q", got)
	}
}
