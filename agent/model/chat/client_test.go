package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/chat"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/beside"
	"jcode/internal/testkit/leaks"
	"jcode/internal/testkit/modeltest"
)

func TestMain(m *testing.M) {
	beside.Run(2) // the long tests wait for silence
	leaks.Main(m)
}

// quick are limits that let a test see every wait without waiting.
var quick = provider.Limits{Idle: time.Minute, Attempts: 4, Backoff: time.Millisecond, MaxBackoff: 5 * time.Millisecond}

func newClient(t testing.TB, url string, change ...func(*provider.Config)) *chat.Client {
	t.Helper()
	cfg := provider.Config{Name: "test", BaseURL: url, Key: "sk-very-secret-key", KeyEnv: "TEST_KEY", Limits: quick}
	for _, c := range change {
		c(&cfg)
	}
	client, err := chat.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// seen collects events.
type seen struct {
	events []model.Event
	text   strings.Builder // what is on the screen at the end
	resets int
	waits  []time.Duration
	notes  []string
}

func (s *seen) emit(e model.Event) {
	s.events = append(s.events, e)
	switch e := e.(type) {
	case model.TextEvent:
		s.text.WriteString(e.Delta)
	case model.ResetEvent:
		s.text.Reset()
		s.resets++
	case model.RetryEvent:
		s.waits = append(s.waits, e.Wait)
	case model.NoticeEvent:
		s.notes = append(s.notes, e.Text)
	}
}

func ask(text string) model.Request {
	return model.Request{Model: "test-model", System: "You help.", Messages: []model.Message{{Role: model.RoleUser, Text: text}}}
}

func stream(t *testing.T, c model.Client, req model.Request) (model.Response, *seen, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s := &seen{}
	resp, err := c.Stream(ctx, req, s.emit)
	return resp, s, err
}

func mustStream(t *testing.T, reply modeltest.Reply) (model.Response, *seen) {
	t.Helper()
	srv := modeltest.New(t, reply)
	resp, s, err := stream(t, newClient(t, srv.URL()), ask("hi"))
	if err != nil {
		t.Fatalf("stream: %v", err)
	}
	if s.text.String() != resp.Text {
		t.Errorf("on the screen: %q, in the response: %q", s.text.String(), resp.Text)
	}
	return resp, s
}

func classOf(t *testing.T, err error) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("want a *model.Error, have %T: %v", err, err)
	}
	return e
}

func TestTextReasoningAndUsageArrive(t *testing.T) {
	t.Parallel()
	resp, s := mustStream(t, modeltest.Text("Hello ", "wörld").WithReasoning("let me ", "see").Usage(modeltest.Usage{Input: 100, Output: 7, Cached: 60}))
	if resp.Text != "Hello wörld" || resp.Reasoning != "let me see" || resp.Finish != "stop" || resp.Model != "test-model" {
		t.Errorf("%+v", resp)
	}
	if resp.Usage != (model.Usage{Input: 100, Output: 7, Cached: 60}) {
		t.Errorf("usage %+v", resp.Usage)
	}
	if _, ok := s.events[0].(model.ReasoningEvent); !ok {
		t.Errorf("first event %T", s.events[0])
	}
}

func TestRequestIsEncodedInFull(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Text("ok"))
	temp := 0.0
	req := ask("hi \"there\"\n\u2028\x01 漢😀")
	req.Temperature, req.MaxOutputTokens, req.ReasoningEffort = &temp, 77, "low"
	req.Tools = []model.Tool{{Name: "read", Description: "Reads.", Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}
	req.Messages = append(req.Messages,
		model.Message{Role: model.RoleAssistant, Reasoning: "hm", Calls: []model.Call{{ID: "c1", Name: "read", Arguments: `{"path":"a"}`}, {ID: "c2", Name: "an odd name!", Arguments: " "}}},
		model.Message{Role: model.RoleTool, CallID: "c1", Name: "read", Text: "text", Images: []model.Image{{MIME: "image/png", Data: []byte{1, 2, 3}}}},
		model.Message{Role: model.RoleTool, CallID: "c2", Name: "odd", Text: ""},
		model.Message{Role: model.RoleAssistant},
		model.Message{Role: model.RoleUser, Text: "and this", Images: []model.Image{{MIME: "image/png", Data: []byte{4}}}},
	)
	client := newClient(t, srv.URL(), func(c *provider.Config) {
		c.Headers = map[string]string{"X-Title": "jcode"}
		c.ExtraBody = map[string]any{"provider": map[string]any{"order": []string{"a"}}, "max_tokens": 5}
	})
	if _, _, err := stream(t, client, req); err != nil {
		t.Fatal(err)
	}
	r := srv.Requests()[0]
	if r.Header.Get("Authorization") != "Bearer sk-very-secret-key" || r.Header.Get("X-Title") != "jcode" {
		t.Errorf("headers: %v", r.Header)
	}
	if r.Fields["temperature"] != 0.0 || r.Fields["max_tokens"] != 5.0 || r.Fields["reasoning_effort"] != "low" || r.Fields["provider"] == nil {
		t.Errorf("fields: %s", r.Raw)
	}
	if r.Messages[0].Role != "system" || r.Messages[0].Content != "You help." || r.Messages[1].Content != req.Messages[0].Text {
		t.Errorf("messages: %+v", r.Messages[:2])
	}
	call := r.Messages[2]
	if call.Fields["content"] != nil || call.Calls[0].Args != `{"path":"a"}` || call.Calls[1].Args != "{}" || call.Calls[1].Name != "an_odd_name_" || call.Reasoning != "" {
		t.Errorf("call: %+v", call)
	}
	if r.Messages[4].Content != "(no output)" || r.Messages[5].Role != "user" || r.Messages[5].Images != 1 || r.Messages[6].Images != 1 {
		t.Errorf("results: %+v", r.Messages[3:])
	}
}

func TestStepsShareTheirBeginning(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Text("ok").Forever())
	client := newClient(t, srv.URL())
	req := ask("first")
	req.Tools = []model.Tool{{Name: "read", Parameters: []byte(`{"type":"object","properties":{}}`)}}
	stream(t, client, req)
	req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Text: "ok"}, model.Message{Role: model.RoleUser, Text: "second"})
	stream(t, client, req)
	a, b := srv.Requests()[0].Raw, srv.Requests()[1].Raw
	if common := strings.TrimSuffix(string(a), "]}"); !strings.HasPrefix(string(b), common) {
		t.Errorf("the second request does not begin like the first:\n%s\n%s", a, b)
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Text("ok").Forever())
	client := newClient(t, srv.URL())
	for range 5 {
		if _, _, err := stream(t, client, ask("hi")); err != nil {
			t.Fatal(err)
		}
	}
	if n := srv.Connections(); n != 1 {
		t.Errorf("%d connections for 5 requests", n)
	}
}

func delta(s string) string { return modeltest.DeltaChunk(s) }

func callDelta(s string) string { return delta(`{"tool_calls":[` + s + `]}`) }

// Servers send tool calls in different shapes.
func TestToolCallsOfEveryShape(t *testing.T) {
	t.Parallel()
	fin := modeltest.FinishChunk("tool_calls")
	type want struct{ name, args string }
	cases := map[string]struct {
		chunks []string
		want   []want
	}{
		"no index": {[]string{
			callDelta(`{"id":"a","type":"function","function":{"name":"read","arguments":""}}`),
			callDelta(`{"function":{"arguments":"{\"p\":"}}`), callDelta(`{"function":{"arguments":"1}"}}`),
			callDelta(`{"id":"b","type":"function","function":{"name":"grep","arguments":"{"}}`),
			callDelta(`{"function":{"arguments":"}"}}`),
		}, []want{{"read", `{"p":1}`}, {"grep", "{}"}}},
		"no index, ids in every delta, mixed": {[]string{
			callDelta(`{"id":"a","function":{"name":"read","arguments":"{"}}`), callDelta(`{"id":"b","function":{"name":"grep","arguments":"{"}}`),
			callDelta(`{"id":"a","function":{"arguments":"}"}}`), callDelta(`{"id":"b","function":{"arguments":"\"x\":2}"}}`),
		}, []want{{"read", "{}"}, {"grep", `{"x":2}`}}},
		"no index, no id": {[]string{
			callDelta(`{"function":{"name":"read","arguments":"{"}}`), callDelta(`{"function":{"arguments":"}"}}`),
			callDelta(`{"function":{"name":"read","arguments":"{\"p\":2}"}}`),
		}, []want{{"read", "{}"}, {"read", `{"p":2}`}}},
		"both in one delta without index": {[]string{
			callDelta(`{"id":"a","function":{"name":"read","arguments":"{}"}},{"id":"b","function":{"name":"grep","arguments":"{}"}}`),
		}, []want{{"read", "{}"}, {"grep", "{}"}}},
		"index used twice": {[]string{
			callDelta(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`),
			callDelta(`{"index":0,"id":"b","function":{"name":"grep","arguments":"{\"q\":1}"}}`),
		}, []want{{"read", "{}"}, {"grep", `{"q":1}`}}},
		"index used twice, pieces": {[]string{
			callDelta(`{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}`), callDelta(`{"index":0,"function":{"arguments":"}"}}`),
			callDelta(`{"index":0,"id":"b","function":{"name":"grep","arguments":"{"}}`), callDelta(`{"index":0,"function":{"arguments":"}"}}`),
		}, []want{{"read", "{}"}, {"grep", "{}"}}},
		"index used twice without ids": {[]string{
			callDelta(`{"index":0,"id":"","function":{"name":"read","arguments":"{\"p\":\"}\\\"\"}"}}`),
			callDelta(`{"index":0,"id":"","function":{"name":"read","arguments":"{\"p\":2}"}}`),
		}, []want{{"read", `{"p":"}\""}`}, {"read", `{"p":2}`}}},
		"name repeated without ids": {[]string{
			callDelta(`{"index":0,"function":{"name":"read","arguments":"{\"p\":\"{\\\""}}`),
			callDelta(`{"index":0,"function":{"name":"read","arguments":"\"}"}}`),
		}, []want{{"read", `{"p":"{\""}`}}},
		"index from 7": {[]string{
			callDelta(`{"index":7,"id":"a","function":{"name":"read","arguments":"{"}}`), callDelta(`{"index":8,"id":"b","function":{"name":"grep","arguments":"{}"}}`),
			callDelta(`{"index":7,"function":{"arguments":"}"}}`),
		}, []want{{"read", "{}"}, {"grep", "{}"}}},
		"negative, null, text index": {[]string{
			callDelta(`{"index":-1,"id":"a","function":{"name":"read","arguments":"{"}}`), callDelta(`{"index":null,"function":{"arguments":"}"}}`),
			callDelta(`{"index":"1","id":"b","function":{"name":"grep","arguments":"{}"}}`),
		}, []want{{"read", "{}"}, {"grep", "{}"}}},
		"id and name repeated": {[]string{
			callDelta(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`), callDelta(`{"index":0,"id":"a","function":{"name":"read","arguments":":1}"}}`),
		}, []want{{"read", `{"p":1}`}}},
		"another id with every piece": {[]string{
			callDelta(`{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}`), callDelta(`{"index":0,"id":"z","function":{"arguments":"}"}}`),
		}, []want{{"read", "{}"}}},
		"no id at all": {[]string{
			callDelta(`{"index":0,"function":{"name":"read","arguments":"{}"}}`), callDelta(`{"index":1,"function":{"name":"grep","arguments":"{}"}}`),
		}, []want{{"read", "{}"}, {"grep", "{}"}}},
		"name in pieces": {[]string{
			callDelta(`{"index":0,"id":"a","function":{"name":"re"}}`), callDelta(`{"index":0,"function":{"name":"ad","arguments":""}}`), callDelta(`{"index":0,"function":{"arguments":"{}"}}`),
		}, []want{{"read", "{}"}}},
		"arguments empty, null, absent": {
			[]string{
				callDelta(`{"index":0,"id":"a","function":{"name":"x","arguments":""}}`), callDelta(`{"index":1,"id":"b","function":{"name":"y","arguments":null}}`),
				callDelta(`{"index":2,"id":"c","function":{"name":"z"}}`),
			},
			[]want{{"x", ""}, {"y", ""}, {"z", ""}},
		},
		"arguments as an object": {[]string{
			callDelta(`{"index":0,"id":"a","function":{"name":"read","arguments":{"p":"a\"b\n"}}}`),
		}, []want{{"read", `{"p":"a\"b\n"}`}}},
		"arguments twice": {[]string{
			callDelta(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`), callDelta(`{"index":0,"function":{"arguments":"1}"}}`),
			callDelta(`{"index":0,"function":{"arguments":"{\"p\":1}"}}`),
		}, []want{{"read", `{"p":1}`}}},
		"empty object before the arguments": {[]string{
			callDelta(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`), callDelta(`{"index":0,"function":{"arguments":"{\"p\":1}"}}`),
		}, []want{{"read", `{"p":1}`}}},
		"arguments of several kinds stay": {[]string{
			callDelta(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}{\"p\":2}"}}`), callDelta(`{"index":1,"id":"b","function":{"name":"read","arguments":"{\"path\": \"a"}}`),
			callDelta(`{"index":2,"id":"c","function":{"name":"read","arguments":"[1]"}}`),
		}, []want{{"read", `{"p":1}{"p":2}`}, {"read", `{"path": "a`}, {"read", "[1]"}}},
		"function_call": {[]string{
			delta(`{"function_call":{"name":"read","arguments":"{"}}`), delta(`{"function_call":{"arguments":"}"}}`),
		}, []want{{"read", "{}"}}},
		"no function object": {[]string{
			callDelta(`{"index":0,"id":"a","name":"read","arguments":"{}"}`),
		}, []want{{"read", "{}"}}},
		"no name": {[]string{
			callDelta(`{"index":0,"id":"a","function":{"arguments":"{}"}}`),
		}, []want{{"unnamed", "{}"}}},
		"null, strange and empty": {[]string{
			delta(`{"tool_calls":null}`), delta(`{"tool_calls":[]}`), delta(`{"tool_calls":[null,7,"x"]}`), delta(`{"tool_calls":{"id":"a","function":{"name":"read","arguments":"{}"}}}`),
		}, []want{{"read", "{}"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			resp, _ := mustStream(t, modeltest.Chunks(append(c.chunks, fin)...))
			var got []want
			ids := map[string]bool{}
			for _, call := range resp.Calls {
				got = append(got, want{call.Name, call.Arguments})
				if call.ID == "" || len(call.ID) > 128 || ids[call.ID] || call.Incomplete {
					t.Errorf("call %+v", call)
				}
				ids[call.ID] = true
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCallIDsAreNewInTheConversation(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 129)
	srv := modeltest.New(t, modeltest.Calls(
		modeltest.Call{ID: "used", Name: "a", Args: "{}"}, modeltest.Call{ID: long, Name: "b", Args: "{}"}, modeltest.Call{ID: "two words", Name: "c", Args: "{}"}, modeltest.Call{ID: "fine", Name: "d", Args: "{}"}))
	req := ask("hi")
	req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Calls: []model.Call{{ID: "used", Name: "a", Arguments: "{}"}}},
		model.Message{Role: model.RoleTool, CallID: "used", Text: "x"})
	resp, _, err := stream(t, newClient(t, srv.URL()), req)
	if err != nil {
		t.Fatal(err)
	}
	for i, bad := range []string{"used", long, "two words"} {
		if id := resp.Calls[i].ID; id == bad || id == "" || len(id) > 128 {
			t.Errorf("call %d has id %q", i, id)
		}
	}
	if resp.Calls[3].ID != "fine" {
		t.Errorf("a good id was changed to %q", resp.Calls[3].ID)
	}
}

// Chunks without choices are accepted, and usage is counted once, wherever it is sent.
func TestOddChunksAndUsageInAnyPlace(t *testing.T) {
	t.Parallel()
	const u = `{"prompt_tokens":11,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5}}`
	cases := map[string][]string{
		"last chunk":      {modeltest.TextChunk("x"), modeltest.FinishChunk("stop"), `{"choices":[],"usage":` + u + `}`},
		"choice and last": {modeltest.TextChunk("x"), `{"choices":[{"finish_reason":"stop","delta":{},"usage":` + u + `}]}`, `{"choices":[],"usage":` + u + `}`},
		"every chunk":     {`{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":11,"completion_tokens":1}}`, `{"choices":[{"finish_reason":"stop","delta":{}}],"usage":` + u + `}`},
		"null at the end": {modeltest.TextChunk("x"), `{"choices":[{"finish_reason":"stop","delta":{}}],"usage":` + u + `}`, `{"choices":[],"usage":null}`},
		"x_groq":          {modeltest.TextChunk("x"), `{"choices":[{"finish_reason":"stop","delta":{}}],"x_groq":{"id":"r","usage":` + u + `}}`},
		"deepseek":        {modeltest.TextChunk("x"), `{"choices":[{"finish_reason":"stop","delta":{}}],"usage":{"prompt_tokens":11,"completion_tokens":3,"prompt_cache_hit_tokens":5}}`},
		"odd chunks": {
			`{}`, `{"choices":[]}`, `{"choices":[{}]}`, `{"choices":[{"delta":null}]}`, `{"choices":null}`, `{"choices":[null]}`, `{"choices":7}`, `[]`, `null`, `7`,
			modeltest.TextChunk("x"), `{"choices":[{"delta":{"content":null,"tool_calls":null,"role":null}}]}`, `{"usage":{}}`,
			modeltest.FinishChunk("stop"), `{"usage":` + u + `}`,
		},
	}
	for name, chunks := range cases {
		t.Run(name, func(t *testing.T) {
			resp, _ := mustStream(t, modeltest.Chunks(chunks...))
			if resp.Text != "x" || resp.Finish != "stop" || resp.Usage != (model.Usage{Input: 11, Output: 3, Cached: 5}) {
				t.Errorf("%+v", resp)
			}
		})
	}
}

func TestUsageIsEstimatedWhereNoneIsGiven(t *testing.T) {
	t.Parallel()
	resp, _ := mustStream(t, modeltest.Text("twelve bytes").NoUsage())
	if !resp.Usage.Estimated || resp.Usage.Output != 3 || resp.Usage.Input == 0 {
		t.Errorf("%+v", resp.Usage)
	}
}

// The answer does not depend on how its bytes are split and framed.
func TestBytesOfEveryShapeGiveTheSameAnswer(t *testing.T) {
	t.Parallel()
	base := modeltest.Text("漢字 ", "\"q\" \\ ", "😀 é\n").WithReasoning("r漢").WithCalls(modeltest.Call{ID: "a", Name: "read", Args: `{"p":"漢\n\u6f22"}`}).ArgPieces(3)
	raw := `data: {"choices":[{"delta":{"content":"漢字 \ud83d"}}]}` + "\n\n" + `data:{"choices":[{"delta":{"content":"\ude00 é` + "\x01\\q" + `"}}]}` + "\n"
	cases := map[string]modeltest.Reply{
		"plain": base, "one byte": base.Pieces(1), "three bytes": base.Pieces(3), "crlf": base.CRLF(), "crlf one byte": base.CRLF().Pieces(1),
		"comments": base.Comments(), "events": base.Events(), "all": base.Comments().Events().CRLF().Pieces(2), "burst": base.Burst(),
		"no done": base.NoDone(), "json": base.AsJSON(), "json one byte": base.AsJSON().Pieces(1), "no finish": base.NoFinish(),
	}
	for name, reply := range cases {
		t.Run(name, func(t *testing.T) {
			resp, _ := mustStream(t, reply)
			if resp.Text != "漢字 \"q\" \\ 😀 é\n" || resp.Reasoning != "r漢" || len(resp.Calls) != 1 || resp.Calls[0].Arguments != `{"p":"漢\n\u6f22"}` || resp.Calls[0].ID != "a" {
				t.Errorf("%+v", resp)
			}
		})
	}
	t.Run("escapes split over deltas, illegal bytes", func(t *testing.T) {
		for _, n := range []int{0, 1, 7} {
			resp, _ := mustStream(t, modeltest.Raw(raw+"data: [DONE]\n\n").Pieces(n))
			if resp.Text != "漢字 😀 é\x01\\q" {
				t.Errorf("%q", resp.Text)
			}
		}
	})
	t.Run("many blank lines", func(t *testing.T) {
		resp, _ := mustStream(t, modeltest.Raw(strings.Repeat("\n", 5000)+raw+strings.Repeat(": x\n\r\n", 5000)+"data: [DONE]"))
		if resp.Text != "漢字 😀 é\x01\\q" {
			t.Errorf("%q", resp.Text)
		}
	})
	t.Run("data over several lines", func(t *testing.T) {
		resp, _ := mustStream(t, modeltest.Raw("event: x\ndata: {\"choices\":\ndata: [{\"delta\":\ndata:{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: rubbish\n\ndata: {\"cut\":\n\n"))
		if resp.Text != "x" || resp.Finish != "stop" {
			t.Errorf("%+v", resp)
		}
	})
	t.Run("pretty JSON without a type", func(t *testing.T) {
		body := "{\n  \"choices\": [\n    {\n      \"message\": {\n        \"content\": \"x\"\n      }\n    }\n  ]\n}\n"
		resp, _ := mustStream(t, modeltest.Raw(body))
		if resp.Text != "x" {
			t.Errorf("%+v", resp)
		}
	})
}

func TestAMessageBesideADeltaDoesNotCount(t *testing.T) {
	t.Parallel()
	resp, _ := mustStream(t, modeltest.Chunks(
		`{"choices":[{"message":{"content":"a"},"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"b"},"message":{"content":"ab"}}]}`,
		`{"choices":[{"delta":{},"message":{"content":"ab"},"finish_reason":"stop"}]}`))
	if resp.Text != "ab" {
		t.Errorf("%q", resp.Text)
	}
}

func TestContentAsParts(t *testing.T) {
	t.Parallel()
	resp, _ := mustStream(t, modeltest.Chunks(
		delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm "},{"type":"text","text":"so"}]}]}`),
		delta(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"},"c",null]}`), delta(`{"refusal":"no"}`), modeltest.FinishChunk("end_turn")))
	if resp.Text != "abcno" || resp.Reasoning != "hm so" || resp.Finish != "stop" {
		t.Errorf("%+v", resp)
	}
}

func TestReasoningUnderItsNames(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"reasoning_content": {delta(`{"reasoning_content":"r1 "}`), delta(`{"reasoning_content":"r2","content":""}`)},
		"reasoning":         {delta(`{"reasoning":"r1 "}`), delta(`{"reasoning":"r2","reasoning_details":[{"text":"r2"}]}`)},
		"both":              {delta(`{"reasoning":"r1 ","reasoning_content":"r1 "}`), delta(`{"reasoning_content":"r2","reasoning":"r2"}`)},
		"think":             {modeltest.TextChunk("<think>\nr1 "), modeltest.TextChunk("r2\n</think>\n\n")},
		"think split":       {modeltest.TextChunk("\n<thi"), modeltest.TextChunk("nk>r1"), modeltest.TextChunk(" r2</th"), modeltest.TextChunk("ink>\n"), modeltest.TextChunk("\n")},
		"thinking":          {modeltest.TextChunk("<thinking>r1 r2</thinking>")},
	}
	for name, chunks := range cases {
		t.Run(name, func(t *testing.T) {
			resp, _ := mustStream(t, modeltest.Chunks(append(chunks, modeltest.TextChunk("answer <think>x</think>"), modeltest.FinishChunk("stop"))...))
			if resp.Reasoning != "r1 r2" || resp.Text != "answer <think>x</think>" {
				t.Errorf("%q %q", resp.Reasoning, resp.Text)
			}
		})
	}
	t.Run("begins inside", func(t *testing.T) {
		srv := modeltest.New(t, modeltest.Text("r1 r2</think>answer"))
		resp, _, err := stream(t, newClient(t, srv.URL(), func(c *provider.Config) { c.Quirks.ThinkOpen = new(true) }), ask("x"))
		if err != nil || resp.Reasoning != "r1 r2" || resp.Text != "answer" {
			t.Errorf("%q %q %v", resp.Reasoning, resp.Text, err)
		}
	})
	t.Run("never closed", func(t *testing.T) {
		resp, _ := mustStream(t, modeltest.Text("<think>r1 </thi"))
		if resp.Reasoning != "r1 </thi" || resp.Text != "" {
			t.Errorf("%q %q", resp.Reasoning, resp.Text)
		}
	})
	t.Run("only looks like a tag", func(t *testing.T) {
		resp, _ := mustStream(t, modeltest.Text("<thi", "s>"))
		if resp.Text != "<this>" {
			t.Errorf("%q", resp.Text)
		}
	})
}

// A stream may end in several ways.
func TestEndsOfAStream(t *testing.T) {
	t.Parallel()
	t.Run("regular", func(t *testing.T) {
		if resp, _ := mustStream(t, modeltest.Text("x")); resp.Finish != "stop" {
			t.Errorf("%+v", resp)
		}
	})
	for name, reply := range map[string]modeltest.Reply{
		"cut": modeltest.Text("part", "more").CutAfter(2), "reset": modeltest.Text("part", "more").ResetAfter(2), "ended early": modeltest.Text("part", "more").EndAfter(2),
	} {
		t.Run(name+" for ever", func(t *testing.T) {
			srv := modeltest.New(t, reply.Forever())
			resp, s, err := stream(t, newClient(t, srv.URL()), ask("x"))
			if e := classOf(t, err); e.Class != model.ClassNetwork {
				t.Errorf("class %s: %v", e.Class, e)
			}
			if n := len(srv.Requests()); n != quick.Attempts || len(s.waits) != quick.Attempts-1 {
				t.Errorf("%d requests, waits %v", n, s.waits)
			}
			if s.text.String() != resp.Text || name != "reset" && resp.Text != "part" {
				t.Errorf("kept %q, shown %q", resp.Text, s.text.String())
			}
		})
		t.Run(name+" once", func(t *testing.T) {
			srv := modeltest.New(t, reply, modeltest.Text("whole"))
			resp, s, err := stream(t, newClient(t, srv.URL()), ask("x"))
			if err != nil || resp.Text != "whole" || s.text.String() != "whole" || name != "reset" && s.resets != 1 {
				t.Errorf("%+v %q %v", resp, s.text.String(), err)
			}
		})
	}
	t.Run("done without finish reason", func(t *testing.T) {
		srv := modeltest.New(t, modeltest.Text("kept").NoFinish())
		resp, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
		if err != nil || resp.Text != "kept" || resp.Finish != "" || len(srv.Requests()) != 1 {
			t.Errorf("%+v %v", resp, err)
		}
	})
	for name, end := range map[string]func(modeltest.Reply) modeltest.Reply{
		"end inside arguments": func(r modeltest.Reply) modeltest.Reply { return r.EndAfter(3) },
		"cut inside arguments": func(r modeltest.Reply) modeltest.Reply { return r.CutAfter(3) },
	} {
		t.Run(name, func(t *testing.T) {
			call := modeltest.Calls(modeltest.Call{Name: "write", Args: `{"path":"a","content":"long"}`}).ArgPieces(8)
			srv := modeltest.New(t, end(call).Forever())
			resp, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
			if err == nil || len(resp.Calls) != 1 || !resp.Calls[0].Incomplete {
				t.Errorf("%+v %v", resp, err)
			}
		})
	}
	t.Run("length inside arguments", func(t *testing.T) {
		resp, _ := mustStream(t, modeltest.Calls(modeltest.Call{Name: "a", Args: `{}`}, modeltest.Call{Name: "write", Args: `{"path":"a`}).Finish("length"))
		if resp.Calls[0].Incomplete || !resp.Calls[1].Incomplete || resp.Finish != "length" {
			t.Errorf("%+v", resp)
		}
	})
	t.Run("cut after the finish reason", func(t *testing.T) {
		srv := modeltest.New(t, modeltest.Text("x").CutAfter(3))
		resp, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
		if err != nil || resp.Text != "x" {
			t.Errorf("%+v %v", resp, err)
		}
	})
	t.Run("nothing at all", func(t *testing.T) {
		srv := modeltest.New(t, modeltest.Raw("\n"), modeltest.Text("x"))
		resp, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
		if err != nil || resp.Text != "x" {
			t.Errorf("%+v %v", resp, err)
		}
	})
	t.Run("finish reason error", func(t *testing.T) {
		srv := modeltest.New(t, modeltest.Text("x").Finish("error"), modeltest.Text("y"))
		resp, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
		if err != nil || resp.Text != "y" {
			t.Errorf("%+v %v", resp, err)
		}
	})
}

// A silent stream is ended, even if comments keep arriving.
func TestSilenceEnds(t *testing.T) {
	t.Parallel()
	short := func(c *provider.Config) { c.Limits.Idle, c.Limits.Attempts = 60*time.Millisecond, 1 }
	for name, reply := range map[string]modeltest.Reply{
		"after chunks": modeltest.Text("a", "b", "c").SilenceAfter(3), "comments only": modeltest.Text("a", "b").CommentsAfter(3, 5*time.Millisecond),
		"before the first byte": modeltest.Text("a").Delay(time.Hour), "comments from the start": modeltest.Text("a").CommentsAfter(0, 5*time.Millisecond),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := modeltest.New(t, reply)
			_, _, err := stream(t, newClient(t, srv.URL(), short), ask("x"))
			if e := classOf(t, err); e.Class != model.ClassNetwork || !strings.Contains(e.Text, "silent") {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("not while the prompt is read", func(t *testing.T) {
		t.Parallel()
		srv := modeltest.New(t, modeltest.Text("x").SilenceAfter(0).Forever())
		began := time.Now()
		_, _, err := stream(t, newClient(t, srv.URL(), func(c *provider.Config) { c.Limits.Idle, c.Limits.Attempts = 100*time.Millisecond, 1 }), ask("x"))
		if took := time.Since(began); err == nil || took < 250*time.Millisecond {
			t.Errorf("%v after %v: headers ended the patience for the first data", err, took)
		}
	})
	t.Run("comments bridge a pause", func(t *testing.T) {
		t.Parallel()
		srv := modeltest.New(t, modeltest.Raw(strings.Repeat(": thinking\n\n", 12)+"data: "+modeltest.TextChunk("x")+"\n\ndata: [DONE]\n\n").Pieces(12).Rate(1000))
		if resp, _, err := stream(t, newClient(t, srv.URL()), ask("x")); err != nil || resp.Text != "x" {
			t.Errorf("%+v %v", resp, err)
		}
	})
	t.Run("open after the finish reason", func(t *testing.T) {
		t.Parallel()
		srv := modeltest.New(t, modeltest.Text("x").SilenceAfter(3))
		resp, _, err := stream(t, newClient(t, srv.URL(), func(c *provider.Config) { c.Limits.Idle = time.Minute }), ask("x"))
		if err != nil || resp.Text != "x" {
			t.Errorf("%+v %v", resp, err)
		}
	})
	t.Run("open after done", func(t *testing.T) {
		t.Parallel()
		srv := modeltest.New(t, modeltest.Text("x").SilenceAfter(5))
		began := time.Now()
		resp, _, err := stream(t, newClient(t, srv.URL(), func(c *provider.Config) { c.Limits.Idle = time.Hour }), ask("x"))
		if err != nil || resp.Text != "x" || time.Since(began) > time.Minute {
			t.Errorf("%+v %v %v", resp, err, time.Since(began))
		}
	})
}

// Cancelling ends every wait at once and keeps what had arrived.
func TestCancelEndsEveryWait(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reply modeltest.Reply
		until func(model.Event) bool
		kept  string
	}{
		"streaming":  {modeltest.Text("part", "b").SilenceAfter(2), func(e model.Event) bool { _, ok := e.(model.TextEvent); return ok }, "part"},
		"retry wait": {modeltest.Status(429, http.Header{"Retry-After": {"300"}}, ""), func(e model.Event) bool { _, ok := e.(model.RetryEvent); return ok }, ""},
		"calls":      {modeltest.Calls(modeltest.Call{Name: "a", Args: "{}"}).SilenceAfter(2), func(e model.Event) bool { _, ok := e.(model.CallEvent); return ok }, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, c.reply)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			resp, err := newClient(t, srv.URL()).Stream(ctx, ask("x"), func(e model.Event) {
				if c.until(e) {
					cancel()
				}
			})
			if !errors.Is(err, context.Canceled) || resp.Text != c.kept {
				t.Errorf("%+v %v", resp, err)
			}
			for _, call := range resp.Calls {
				if !call.Incomplete {
					t.Errorf("%+v", call)
				}
			}
		})
	}
}

func TestEventStreamUnderTheTypeOfJSON(t *testing.T) {
	t.Parallel()
	resp, _ := mustStream(t, modeltest.Status(200, http.Header{"Content-Type": {"application/json"}},
		": hello\n\nevent: message\ndata: "+modeltest.TextChunk("x")+"\n\ndata: "+modeltest.FinishChunk("stop")+"\n\n"))
	if resp.Text != "x" || resp.Finish != "stop" {
		t.Errorf("%+v", resp)
	}
}

func TestKeyNeverShows(t *testing.T) {
	t.Parallel()
	cfg := provider.Config{Name: "p", Key: "sk-very-secret-key"}
	enc, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "cfg", cfg, "key", cfg.Key)
	for _, s := range []string{fmt.Sprint(cfg), fmt.Sprintf("%+v %#v %q %s", cfg, cfg, cfg.Key, cfg.Key), string(enc), log.String()} {
		if strings.Contains(s, "secret") {
			t.Errorf("the key shows: %s", s)
		}
	}
}

// A password in the address is used, but never shown.
func TestPasswordOfAnAddressNeverShows(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Status(500, nil, "").Times(quick.Attempts), modeltest.Status(200, http.Header{"Content-Type": {"text/html"}}, "<html>"))
	withPassword := strings.Replace(srv.URL(), "://", "://me:hunter2@", 1)
	client := newClient(t, withPassword, func(p *provider.Config) { p.Name = "" })
	said := ""
	for range 2 {
		_, s, err := stream(t, client, ask("x"))
		said += fmt.Sprint(err, s.notes)
	}
	srv.Close()
	_, _, err := stream(t, client, ask("x"))
	said += fmt.Sprint(err)
	_, err = client.ListModels(t.Context())
	said += fmt.Sprint(err)
	for _, address := range []string{"ftp://me:hunter2@host", "http://me:hunter2@", "http://me:hunter2@ho st:x/v1", ":// me:hunter2@host"} {
		_, err := chat.New(provider.Config{BaseURL: address})
		if err == nil {
			t.Errorf("%s is taken", address)
		}
		said += fmt.Sprint(err)
	}
	for _, check := range dial.Endpoint(t.Context(), provider.Config{BaseURL: withPassword, Limits: quick}, "m") {
		said += check.Detail + check.Advice
	}
	if strings.Contains(said, "hunter2") || !strings.Contains(said, "me:") {
		t.Errorf("%s", said)
	}
	if got := srv.Requests()[0].Header.Get("Authorization"); !strings.HasPrefix(got, "B") {
		t.Errorf("authorization %q", got)
	}
}

func TestUntrustedCertificateIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(modeltest.NewHandler())
	defer srv.Close()
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	_, s, err := stream(t, newClient(t, srv.URL+"/v1"), ask("x"))
	if e := classOf(t, err); e.Class != model.ClassNetwork || len(s.waits) != 0 || !strings.Contains(e.Text, "not trusted") {
		t.Errorf("%v %v", err, s.waits)
	}
}

func TestKeyHeader(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Text("x"))
	client := newClient(t, srv.URL(), func(c *provider.Config) { c.KeyHeader = "X-Api-Key" })
	if _, _, err := stream(t, client, ask("x")); err != nil || srv.Requests()[0].Header.Get("X-Api-Key") != "sk-very-secret-key" {
		t.Error(err)
	}
}
