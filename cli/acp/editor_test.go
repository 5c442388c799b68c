package acp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestNothingIsSaidAboutASessionBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: `{"text":"hello"}` + "\n"})
	for i := range 20 {
		c.open() // the client checks each answer
		c.wait("the list of commands", func() bool {
			lists := 0
			for _, u := range c.updates {
				if u.kind == "available_commands_update" {
					lists++
				}
			}
			return lists > i
		})
	}
}

func TestTheModelsOfTheEndpointBecomeChoicesOnceTheyAreKnown(t *testing.T) {
	t.Parallel()
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"object":"list","data":[{"id":"alpha","object":"model"},{"id":"beta","object":"model"}]}`)
	}))
	t.Cleanup(endpoint.Close)
	c := start(t, setup{args: []string{"--base-url", endpoint.URL + "/v1", "-m", "alpha"}, env: map[string]string{"OPENAI_API_KEY": "sk-test"}})
	s := c.open()
	c.wait("the models", func() bool {
		for _, u := range c.updates {
			if u.session == s && u.kind == "config_option_update" && strings.Contains(flat([]object{u.body}), "beta") {
				return true
			}
		}
		return false
	})
}

func TestServersOfTheEditorMayHaveAnyNameAndEnvironmentsOfEitherForm(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: `{"text":"hello"}` + "\n"})
	c.on("session/request_permission", choose("reject_once"))
	server := func(name string, env any) object {
		return object{"name": name, "command": "/nonexistent/server", "args": []any{}, "env": env}
	}
	s := c.open(object{"mcpServers": []any{
		server("My Server 2.0 – für alle, die lange Namen mögen", []any{}), server("plain", object{"A": "b"}), server("dots.in.it", []any{object{"name": "A", "value": "b"}}),
	}})
	c.wait("three notices", func() bool {
		said := ""
		for _, u := range c.updates {
			if u.session == s && u.kind == "agent_thought_chunk" {
				said += flat([]object{u.body})
			}
		}
		return strings.Contains(said, "My Server 2.0") && strings.Contains(said, "dots.in.it") && !strings.Contains(said, "invalid server name")
	})
	a := c.finish(c.begin("session/new", object{"cwd": c.dir, "mcpServers": []any{server("x", "A=b")}}))
	if a.err == nil || !strings.Contains(a.err.Message, "mcpServers[0].env") {
		t.Errorf("%+v", a)
	}
}

func TestWhatIsAskedAboutIsAnnouncedAndEnded(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: `{"text":"hello"}` + "\n"})
	c.on("session/request_permission", choose("reject_once"))
	s := c.open(object{"mcpServers": []any{object{"name": "one", "command": "/nonexistent/server", "args": []any{}, "env": []any{}}}})
	asked := c.waitAsked("session/request_permission", 1)
	raw, err := json.Marshal(asked.Params["toolCall"])
	if err != nil {
		t.Fatal(err)
	}
	var call struct{ ToolCallID string }
	if err := json.Unmarshal(raw, &call); err != nil || call.ToolCallID == "" {
		t.Fatalf("%v: %s", err, raw)
	}
	c.wait("its end", func() bool {
		announced, ended := false, false
		for _, u := range c.updates {
			if u.session == s && strings.Contains(flat([]object{u.body}), call.ToolCallID) {
				announced = announced || u.kind == "tool_call"
				ended = ended || announced && u.kind == "tool_call_update"
			}
		}
		return ended
	})
}

func TestBlocksOfAPromptStayApartAndLinksKeepWhatTheySay(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: `{"text":"hello"}` + "\n"})
	s := c.open()
	uri := "file://" + c.dir + "/a.go"
	c.stop(c.prompt(s, text("first"), text("second"), text("see"), object{"type": "resource_link", "name": "a.go", "uri": uri + "#L10:12"}, text("and"), object{"type": "resource_link", "name": "a.go", "uri": uri + "?symbol=Run"}))
	c.end()
	again := start(t, setup{script: `{"text":"x"}` + "\n", home: c.home, dir: c.dir})
	again.must("session/load", object{"sessionId": s, "cwd": c.dir, "mcpServers": []any{}}, nil)
	if got, want := again.said(s, "user_message_chunk"), "first\n\nsecond\n\nsee @a.go (#L10:12) and @a.go (?symbol=Run)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCommandsOfTheTerminalWorkInAnEditorAndUnknownOnesAreRefused(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: `{"text":"hello"}` + "\n"})
	s := c.open()
	c.stop(c.prompt(s, text("hi")))
	for command, want := range map[string]string{"/context": "system prompt", "/mcp": "MCP", "/permissions": "ermission", "/agents": "gent"} {
		before := c.said(s, "agent_message_chunk")
		if got := c.stop(c.prompt(s, text(command))); got != "end_turn" {
			t.Errorf("%s ends with %q", command, got)
		}
		if said := strings.TrimPrefix(c.said(s, "agent_message_chunk"), before); !strings.Contains(said, want) {
			t.Errorf("%s says %q", command, said)
		}
	}
	for _, unknown := range []string{"/nonsense", "/nonsense with words", "/theme dark"} {
		a := c.finish(c.prompt(s, text(unknown)))
		if a.err == nil {
			t.Errorf("%s went to the model", unknown)
		}
	}
}
