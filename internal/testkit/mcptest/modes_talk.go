package mcptest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// talkModes are about what a server says unasked, and what else it offers.
func talkModes() map[string]func(*server) {
	return map[string]func(*server){
		"listchanged":            func(s *server) { declareChanges(s); growing(s, 1) },
		"list-changed-in-call":   func(s *server) { declareChanges(s); growing(s, 1) },
		"listchanged-undeclared": func(s *server) { growing(s, 1) },
		"flood-changed":          func(s *server) { declareChanges(s); growing(s, 500) },
		"listchanged2026":        modernChanges,
		"listen-refused":         func(s *server) { declareChanges(s); growing(s, 1); modern(s) },
		"earlyping":              earlyPing,
		"reverse-replies":        reverseReplies,
		"never-reply":            func(*server) {},
		"elicit":                 elicit,
		"roots":                  roots,
		"meet":                   meet,
		"full":                   full,
	}
}

func declareChanges(s *server) {
	s.capabilities["tools"] = map[string]any{"listChanged": true}
}

// growing adds a tool that adds a tool and announces it.
func growing(s *server, notices int) {
	s.tools = append(s.tools, tool{"grow", define("grow", "Adds a tool.", anySchema), func(s *server, c call) {
		s.mu.Lock()
		name := fmt.Sprintf("grown_%d", len(s.tools))
		s.tools = append(s.tools, fixed([]string{define(name, "A new tool.", anySchema)})...)
		s.mu.Unlock()
		for range notices {
			s.notify("notifications/tools/list_changed", map[string]any{})
		}
		s.text(c, "added "+name)
	}})
}

// modernChanges speaks the protocol of 2026, in which changes arrive on a subscription.
func modernChanges(s *server) {
	declareChanges(s)
	growing(s, 1)
	modern(s)
	base := s.intercept
	s.intercept = func(s *server, m message) bool {
		if m.Method == "subscriptions/listen" {
			s.notify("notifications/subscriptions/acknowledged", map[string]any{"notifications": map[string]any{"toolsListChanged": true}})
			return true
		}
		return base(s, m)
	}
}

// earlyPing sends the client every request it can answer, right after the handshake and during a call with
// the call's own id.
func earlyPing(s *server) {
	ask := func(s *server, id, method string, params any) {
		s.send(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params})
	}
	s.tools = append(s.tools, tool{"answers", define("answers", "Lists the client's answers.", anySchema), func(s *server, c call) {
		ask(s, string(c.id), "roots/list", map[string]any{})
		s.mu.Lock()
		text := strings.Join(s.answers, "\n")
		s.mu.Unlock()
		s.text(c, text)
	}})
	s.intercept = on("notifications/initialized", func(s *server, _ message) bool {
		ask(s, `"p"`, "ping", map[string]any{})
		ask(s, `2`, "roots/list", map[string]any{})
		ask(s, `"s"`, "sampling/createMessage", map[string]any{"messages": []any{}, "maxTokens": 5})
		ask(s, `"u"`, "no/such/method", map[string]any{})
		return true
	})
}

// reverseReplies answers calls of echo in pairs, the later one first.
func reverseReplies(s *server) {
	var mu sync.Mutex
	var held *call
	s.tools[0].run = func(s *server, c call) {
		mu.Lock()
		defer mu.Unlock()
		if held == nil {
			held = &c
			return
		}
		s.text(c, fmt.Sprint("echo: ", c.args["text"]))
		s.text(*held, fmt.Sprint("echo: ", held.args["text"]))
		held = nil
	}
}

// elicit has tools that ask the person.
func elicit(s *server) {
	ask := func(name string, params map[string]any) tool {
		return tool{name, define(name, "Asks the person.", anySchema), func(s *server, c call) {
			m, ok := s.request("elicitation/create", params)
			switch {
			case !ok:
				s.text(c, "no answer")
			case len(m.Error) > 0 && string(m.Error) != "null":
				s.text(c, "error "+string(m.Error))
			default:
				s.text(c, string(m.Result))
			}
		}}
	}
	s.tools = append(s.tools,
		ask("ask_form", map[string]any{"message": "Who are you?", "requestedSchema": json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","title":"Name"},"age":{"type":"integer","minimum":0,"default":7},"ok":{"type":"boolean","default":true},"colour":{"type":"string","enum":["red","blue"],"default":"red"}},"required":["name"]}`)}),
		ask("ask_all", map[string]any{"message": "Book a train.", "requestedSchema": json.RawMessage(`{"type":"object","properties":{` +
			`"zone":{"type":"string","title":"Zone","minLength":2,"maxLength":4},"mail":{"type":"string","format":"email","default":"ada@example.com"},` +
			`"price":{"type":"number","maximum":99.5},"class":{"type":"string","oneOf":[{"const":"1","title":"First"},{"const":"2","title":"Second"}],"default":"2"},` +
			`"extras":{"type":"array","items":{"anyOf":[{"const":"w","title":"Window"},{"const":"m","title":"Meal"}]},"maxItems":2,"default":["m"]},` +
			`"days":{"type":"array","items":{"type":"string","enum":["mon","tue"]}},"back":{"type":"boolean"}},"required":["zone"]}`)}),
		ask("ask_defaults", map[string]any{"message": "Fine?", "requestedSchema": json.RawMessage(`{"type":"object","properties":{"age":{"type":"integer","default":7},"note":{"type":"string"}},"required":["age"]}`)}),
		ask("ask_url", map[string]any{"mode": "url", "message": "Log in", "url": "https://example.com/login", "elicitationId": "e1"}),
	)
}

// full offers everything else: prompts, resources, instructions, log messages.
func full(s *server) {
	s.instructions = "Use echo for everything."
	s.capabilities = map[string]any{"tools": map[string]any{}, "prompts": map[string]any{}, "resources": map[string]any{}, "completions": map[string]any{}, "logging": map[string]any{}}
	s.tools = append(s.tools, tool{"log", define("log", "Sends a log message.", anySchema), func(s *server, c call) {
		s.notify("notifications/message", map[string]any{"level": "warning", "logger": "x", "data": "disk almost full"})
		s.text(c, "logged")
	}})
	s.intercept = func(s *server, m message) bool {
		switch m.Method {
		case "prompts/list":
			s.replyRaw(m.ID, []byte(`{"prompts":[{"name":"review","description":"Reviews a file.","arguments":[{"name":"file","required":true},{"name":"depth"}]},{"name":"plain"}]}`))
		case "prompts/get":
			var p struct {
				Name      string            `json:"name"`
				Arguments map[string]string `json:"arguments"`
			}
			_ = json.Unmarshal(m.Params, &p) // shows up as an empty name
			s.reply(m.ID, map[string]any{"messages": []any{map[string]any{"role": "user", "content": map[string]any{"type": "text", "text": fmt.Sprintf("Prompt %s for %s depth %s.", p.Name, p.Arguments["file"], p.Arguments["depth"])}}}})
		case "resources/list":
			s.replyRaw(m.ID, []byte(`{"resources":[{"uri":"mem://notes","name":"Notes","mimeType":"text/plain"}]}`))
		case "resources/templates/list":
			s.replyRaw(m.ID, []byte(`{"resourceTemplates":[{"uriTemplate":"mem://day/{date}","name":"A day"}]}`))
		case "resources/read":
			s.replyRaw(m.ID, []byte(`{"contents":[{"uri":"mem://notes","mimeType":"text/plain","text":"remember the milk"}]}`))
		case "completion/complete":
			s.replyRaw(m.ID, []byte(`{"completion":{"values":["main.go","main_test.go"]}}`))
		default:
			return false
		}
		return true
	}
}

// roots has a tool that asks for the client's folders and returns its answer.
func roots(s *server) {
	s.tools = append(s.tools, tool{"roots", define("roots", "Lists the client's folders.", anySchema), func(s *server, c call) {
		m, _ := s.request("roots/list", map[string]any{})
		s.text(c, "roots: "+string(m.Result)+string(m.Error))
	}})
}

// meet has a tool whose calls end together, once as many run as its value says.
func meet(s *server) {
	var all sync.WaitGroup
	all.Add(s.count(2))
	s.tools = append(s.tools, tool{"meet", define("meet", "Waits for the others.", anySchema), func(s *server, c call) {
		all.Done()
		all.Wait()
		s.text(c, fmt.Sprint("met ", c.args["n"]))
	}})
}
