//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/geminitest"
	"jcode/internal/testkit/modeltest"
)

// answerField returns what a request says of its answer, in the field that its protocol has for it.
func answerField(t *testing.T, raw []byte) string {
	t.Helper()
	var body struct {
		Chat      json.RawMessage `json:"response_format"`
		Responses struct {
			Format json.RawMessage `json:"format"`
		} `json:"text"`
		Messages struct {
			Format json.RawMessage `json:"format"`
		} `json:"output_config"`
		Gemini struct {
			Schema json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatal(err)
	}
	return string(body.Chat) + string(body.Responses.Format) + string(body.Messages.Format) + string(body.Gemini.Schema)
}

const closedN = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`

func TestTheProviderIsAskedForAnAnswerBySchema(t *testing.T) {
	t.Parallel()
	for _, p := range []struct{ provider, protocol, model, quirks, schema, want, said string }{
		{"openai", "responses", "gpt-5.1", `{"answer_schemas": true}`, "", `{"type":"json_schema","name":"answer","strict":true,"schema":` + closedN + `}`, ""},
		{"mistral", "chat", "devstral", `{"answer_schemas": true}`, "", `{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":` + closedN + `}}`, ""},
		{"anthropic", "messages", "claude-sonnet-4-5", `{"answer_schemas": true}`, "", `{"type":"json_schema","schema":` + closedN + `}`, ""},
		{"anthropic", "messages", "claude-sonnet-5-5", `{"answer_schemas": true}`, "", `{"type":"json_schema","schema":` + closedN + `}`, ""},
		// an older model
		{"anthropic", "messages", "claude-sonnet-4-0", `{"answer_schemas": true}`, "", "", ""},
		// an address that is not known for it
		{"openai", "responses", "gpt-5.1", `{}`, "", "", ""},
		{"other", "chat", "some-model", `{}`, "", "", ""},
		{"openai", "responses", "gpt-5.1", `{"answer_schemas": true}`, `{"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#"}}, "required": ["n", "next"]}`, "", "contains itself"},
		{"openai", "responses", "gpt-5.1", `{"answer_schemas": true}`, `{"type": "object", "properties": {"n": {"type": "integer"}, "m": {"type": "integer"}}, "required": ["n"]}`, "", "property m, which is not required"},
		{"anthropic", "messages", "claude-sonnet-4-5", `{"answer_schemas": true}`, `{"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}`, "", "properties.n has the keyword minimum"},
	} {
		t.Run(strings.Join([]string{p.provider, p.model, p.said}, " "), func(t *testing.T) {
			t.Parallel()
			answer := `{"n": 1}`
			if strings.Contains(p.said, "itself") {
				answer = `{"n": 1, "next": {"n": 2}}` // no such value ever ends
			}
			c := newChat(t, modeltest.Calls(tool("c1", "ls", map[string]any{})), modeltest.Text(answer), modeltest.Text(answer))
			settings := fmt.Sprintf(`{"providers": {%q: {"base_url": %q, "protocol": %q, "quirks": %s}}}`, p.provider, c.srv.URL(), p.protocol, p.quirks)
			if err := os.WriteFile(filepath.Join(c.home, "config.json"), []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
			c.env = append(c.env, "OPENAI_BASE_URL=", strings.ToUpper(p.provider)+"_API_KEY=sk-test", "JCODE_MODEL="+p.provider+"/"+p.model)
			if p.schema == "" {
				p.schema = `{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}`
			}
			cmd := c.command("jcode", "-p", "--output-schema", p.schema, "count")
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			if p.said == "" && (err != nil || string(out) != `{"n":1}`+"\n") {
				t.Fatalf("%v: %q\n%s\n%q", err, out, said.String(), c.srv.Breaches())
			}
			if n := strings.Count(said.String(), "can't take the schema"); n > 1 || (n == 1) != (p.said != "") || !strings.Contains(said.String(), p.said) {
				t.Errorf("what is said: %s", said.String())
			}
			for i, r := range c.turns(c.srv.Requests()) {
				if got := answerField(t, r.Raw); got != p.want {
					t.Errorf("request %d asks for %s, not %s", i, got, p.want)
				}
			}
			if found := c.srv.Breaches(); len(found) > 0 {
				t.Errorf("%q", found)
			}
		})
	}
}

func TestAnEndpointThatRefusesTheSchemaIsAskedWithoutIt(t *testing.T) {
	t.Parallel()
	for protocol, refusal := range map[string]string{
		"chat":      "This response_format type is unavailable now",
		"responses": "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.",
		"messages":  "output_config.format: Extra inputs are not permitted",
	} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			refuse := modeltest.RefuseIf(func(r modeltest.Request) string {
				if answerField(t, r.Raw) != "" {
					return refusal
				}
				return ""
			}, modeltest.Text(`{"n": 2}`))
			c := newChat(t, refuse, refuse)
			settings := fmt.Sprintf(`{"providers": {"anthropic": {"base_url": %q, "protocol": %q, "quirks": {"answer_schemas": true}}}}`, c.srv.URL(), protocol)
			if err := os.WriteFile(filepath.Join(c.home, "config.json"), []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
			c.env = append(c.env, "OPENAI_BASE_URL=", "ANTHROPIC_API_KEY=sk-test", "JCODE_MODEL=anthropic/claude-opus-4-6")
			cmd := c.command("jcode", "-p", "--output-schema", closedN, "count")
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			if err != nil || string(out) != `{"n":2}`+"\n" || !strings.Contains(said.String(), "refuses a schema of the answer") {
				t.Errorf("%v: %q\n%s", err, out, said.String())
			}
		})
	}
}

func TestGeminiIsAskedForAnAnswerBySchema(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"gemini-3.1-pro": closedN, "gemini-2.5-pro": ""} { // which takes no tools beside it
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			srv := geminitest.New(t, geminitest.Stream(`{"candidates":[{"content":{"parts":[{"text":"{\"n\": 1}"}]},"finishReason":"STOP"}]}`))
			c := newChat(t)
			if err := os.WriteFile(filepath.Join(c.home, "config.json"), fmt.Appendf(nil, `{"providers": {"gemini": {"base_url": %q, "protocol": "gemini", "quirks": {"answer_schemas": true}}}}`, srv.URL), 0o600); err != nil {
				t.Fatal(err)
			}
			c.env = append(c.env, "OPENAI_BASE_URL=", "GEMINI_API_KEY="+geminitest.Key, "JCODE_MODEL=gemini/"+id)
			out, err := c.command("jcode", "-p", "--output-schema", closedN, "count").CombinedOutput()
			if err != nil || !strings.Contains(string(out), `{"n":1}`) {
				t.Errorf("%v: %s\n%q", err, out, srv.Refused())
			}
			if raws := srv.Raws(); len(raws) == 0 || answerField(t, []byte(raws[0])) != want {
				t.Errorf("%q", raws)
			}
		})
	}
}
