package modeltest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// A member that no maker's schema has is refused and recorded, wherever it stands.
func TestARequestHoldsNothingThatTheMakerDoesNotKnow(t *testing.T) {
	t.Parallel()
	const (
		chat      = `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"ok"}],"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{"odd":{"type":"string"}}}}}]}`
		messages  = `{"model":"m","max_tokens":10,"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{"odd":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ok"}]}]}],"tools":[{"name":"t","input_schema":{"type":"object","properties":{"odd":{"type":"string"}}}}]}`
		responses = `{"model":"m","store":false,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"function_call","call_id":"a","name":"t","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"ok"}],"tools":[{"type":"function","name":"t","strict":false,"parameters":{"type":"object","properties":{"odd":{"type":"string"}}}}]}`
	)
	for _, c := range []struct{ path, body, before, with, want string }{
		{"/chat/completions", chat, "", "", ""},
		{"/chat/completions", chat, `"model"`, `"odd":1,"model"`, "body.odd:"},
		{"/chat/completions", chat, `"text":"hi"`, `"text":"hi","odd":1`, "body.messages[0].content[0].odd:"},
		{"/chat/completions", chat, `"arguments"`, `"odd":1,"arguments"`, "body.messages[1].tool_calls[0].function.odd:"},
		{"/chat/completions", chat, `"parameters"`, `"odd":1,"parameters"`, "body.tools[0].function.odd:"},
		{"/messages", messages, "", "", ""},
		{"/messages", messages, `"model"`, `"odd":1,"model"`, "body.odd:"},
		{"/messages", messages, `"text":"s"`, `"text":"s","odd":1`, "body.system[0].odd:"},
		{"/messages", messages, `"input":`, `"odd":1,"input":`, "body.messages[1].content[0].odd:"},
		{"/messages", messages, `"text":"ok"`, `"text":"ok","odd":1`, "body.messages[2].content[0].content[0].odd:"},
		{"/messages", messages, `"input_schema"`, `"odd":1,"input_schema"`, "body.tools[0].odd:"},
		{"/messages", messages, `"tool_use"`, `"odd_use"`, `no object of type "odd_use" is known`},
		{"/responses", responses, "", "", ""},
		{"/responses", responses, `"model"`, `"odd":1,"model"`, "body.odd:"},
		{"/responses", responses, `"text":"hi"`, `"text":"hi","odd":1`, "body.input[0].content[0].odd:"},
		{"/responses", responses, `"arguments"`, `"odd":1,"arguments"`, "body.input[1].odd:"},
		{"/responses", responses, `"output":`, `"odd":1,"output":`, "body.input[2].odd:"},
		{"/responses", responses, `"strict"`, `"odd":1,"strict"`, "body.tools[0].odd:"},
	} {
		body := strings.Replace(c.body, c.before, c.with, 1)
		if c.before == "" {
			body = c.body
		}
		h := modeltest.NewHandler(modeltest.Text("ok"))
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1"+c.path, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer sk-test")
		req.Header.Set("Anthropic-Version", "2023-06-01")
		got := httptest.NewRecorder()
		h.ServeHTTP(got, req)
		found := strings.Join(h.Breaches(), "\n")
		if (c.want == "") != (got.Code == http.StatusOK) || c.want == "" && found != "" || !strings.Contains(found, c.want) {
			t.Errorf("%s with %s: %d, %q, want %q", c.path, c.with, got.Code, found, c.want)
		}
	}
}
