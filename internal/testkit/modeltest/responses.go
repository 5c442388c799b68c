package modeltest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// decodeResponses decodes a Responses request into the form of Request: consecutive calls belong to one
// message.
func (r *Request) decodeResponses() {
	if s := text(r.Fields, "instructions"); s != "" {
		r.Messages = append(r.Messages, Message{Role: "system", Content: s})
	}
	if s, ok := r.Fields["input"].(string); ok {
		r.Messages = append(r.Messages, Message{Role: "user", Content: s})
	}
	for _, it := range objects(r.Fields["input"]) {
		r.decodeItem(it)
	}
	for _, t := range objects(r.Fields["tools"]) {
		params, _ := t["parameters"].(map[string]any)
		r.Tools = append(r.Tools, Tool{Name: text(t, "name"), Description: text(t, "description"), Parameters: params, Fields: t})
	}
}

func (r *Request) decodeItem(it map[string]any) {
	last := func() *Message {
		if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == "assistant" {
			return &r.Messages[n-1]
		}
		r.Messages = append(r.Messages, Message{Role: "assistant", Fields: it})
		return &r.Messages[len(r.Messages)-1]
	}
	switch text(it, "type") {
	case "message":
		m := Message{Role: text(it, "role"), Fields: it}
		m.Content, m.Images = itemParts(it["content"])
		if m.Role == "assistant" {
			to := last()
			to.Content += m.Content
			return
		}
		r.Messages = append(r.Messages, m)
	case "reasoning":
		last().Reasoning += text(it, "encrypted_content")
	case "function_call":
		m := last()
		m.Calls = append(m.Calls, Call{ID: text(it, "call_id"), Name: text(it, "name"), Args: text(it, "arguments")})
	case "custom_tool_call":
		m := last()
		m.Calls = append(m.Calls, Call{ID: text(it, "call_id"), Name: text(it, "name"), Args: text(it, "input")})
	case "function_call_output", "custom_tool_call_output":
		m := Message{Role: "tool", ToolCallID: text(it, "call_id"), Fields: it}
		m.Content, m.Images = itemParts(it["output"])
		r.Messages = append(r.Messages, m)
	}
}

// itemParts returns the text of a content, and how many pictures and files are in it.
func itemParts(v any) (s string, images int) {
	if s, ok := v.(string); ok {
		return s, 0
	}
	for _, p := range objects(v) {
		switch text(p, "type") {
		case "input_image", "input_file":
			images++
		default:
			s += text(p, "text")
		}
	}
	return s, images
}

// responsesEvents returns the reply as the events of a Responses stream.
func (p *player) responsesEvents() []string {
	r := p.reply
	var out []string
	n := 0
	emit := func(kind string, members map[string]any) {
		members["type"], members["sequence_number"] = kind, len(out)
		out = append(out, marshal(members))
	}
	frame := map[string]any{"id": "resp_1", "object": "response", "model": p.model, "status": "in_progress", "output": []any{}}
	emit("response.created", map[string]any{"response": frame})
	emit("response.in_progress", map[string]any{"response": frame})
	var output []any
	item := func(began, ended map[string]any, deltas func()) {
		emit("response.output_item.added", map[string]any{"output_index": n, "item": began})
		deltas()
		emit("response.output_item.done", map[string]any{"output_index": n, "item": ended})
		output = append(output, ended)
		n++
	}
	if len(r.reasoning) > 0 {
		secret := p.seal(join(r.reasoning))
		summary := []any{map[string]any{"type": "summary_text", "text": join(r.reasoning)}}
		item(map[string]any{"id": "rs_a", "type": "reasoning", "summary": []any{}, "encrypted_content": "unfinished"},
			map[string]any{"id": "rs_b", "type": "reasoning", "status": "completed", "summary": summary, "encrypted_content": secret}, func() {
				for _, s := range r.reasoning {
					emit("response.reasoning_summary_text.delta", map[string]any{"item_id": "rs_x", "output_index": n, "summary_index": 0, "delta": s})
				}
			})
	}
	p.searchItems(item)
	if len(r.text) > 0 {
		ended := map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": []any{map[string]any{"type": "output_text", "text": join(r.text), "annotations": []any{}}},
		}
		if len(r.calls) > 0 {
			ended["phase"] = "commentary"
		}
		item(map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "content": []any{}}, ended, func() {
			for _, s := range r.text {
				emit("response.output_text.delta", map[string]any{"item_id": "msg_1", "output_index": n, "content_index": 0, "delta": s})
			}
			emit("response.output_text.done", map[string]any{"item_id": "msg_1", "output_index": n, "content_index": 0, "text": join(r.text)})
		})
	}
	for _, c := range r.calls {
		id := p.callID(c)
		kind, member, delta := "function_call", "arguments", "response.function_call_arguments.delta"
		if p.custom[c.Name] {
			kind, member, delta = "custom_tool_call", "input", "response.custom_tool_call_input.delta"
		}
		item(map[string]any{"id": "fc_" + id, "type": kind, "call_id": id, "name": c.Name, member: ""},
			map[string]any{"id": "fc_" + id, "type": kind, "status": "completed", "call_id": id, "name": c.Name, member: c.Args}, func() {
				for _, piece := range split(c.Args, r.argPiece) {
					emit(delta, map[string]any{"item_id": "fc_" + id, "output_index": n, "delta": piece})
				}
			})
	}
	if r.noFinish {
		return out
	}
	whole := map[string]any{"id": "resp_1", "object": "response", "model": p.model, "status": "completed", "output": output}
	kind := "response.completed"
	switch reason := p.finishReason(); reason {
	case "length", "content_filter":
		kind, whole["status"] = "response.incomplete", "incomplete"
		whole["incomplete_details"] = map[string]any{"reason": map[string]string{"length": "max_output_tokens"}[reason] + map[string]string{"content_filter": reason}[reason]}
	case "error":
		kind, whole["status"] = "response.failed", "failed"
		whole["error"] = map[string]any{"code": "server_error", "message": "The model failed."}
	}
	if r.usageIn != usageNowhere {
		u := Usage{Input: 10, Output: 5}
		if r.usage != nil {
			u = *r.usage
		}
		whole["usage"] = map[string]any{
			"input_tokens": u.Input, "input_tokens_details": map[string]any{"cached_tokens": u.Cached}, "output_tokens": u.Output,
			"output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": u.Input + u.Output,
		}
	}
	emit(kind, map[string]any{"response": whole})
	return out
}

// seal returns the encrypted content of a reasoning item.
func (p *player) seal(thinking string) string {
	sum := sha256.Sum256([]byte(p.model + "\x00" + thinking + p.nextID()))
	secret := "gAAAA" + hex.EncodeToString(sum[:])
	p.signed(secret, thinking)
	return secret
}

// responsesChecker checks a Responses request for what the API refuses.
type responsesChecker struct {
	checker
	fields map[string]any
	issued map[string]issuedBlock
	byCall map[string]string // the reasoning before a call, by its id
	model  string
}

// checkResponses returns one line per breach.
func (h *Handler) checkResponses(raw []byte, header http.Header) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := responsesChecker{issued: h.issued, byCall: h.thoughtOf}
	if err := json.Unmarshal(raw, &c.fields); err != nil {
		c.add("the body is not a JSON object: %v", err)
		return c.found
	}
	if !strings.HasPrefix(header.Get("Authorization"), "Bearer ") {
		c.add("Missing bearer authentication in header")
	}
	if c.model = text(c.fields, "model"); c.model == "" {
		c.add("Missing required parameter: 'model'.")
	}
	c.found = append(c.found, responsesForm().closed("body", c.fields)...)
	if format, given := inner(c.fields, "text", "format"); given && text(format, "type") == "json_schema" {
		c.found = append(c.found, badAnswerSchema("text.format", format, true)...)
	}
	if c.fields["store"] != false {
		c.add("modeltest: answers would be kept: store is %v", c.fields["store"])
	}
	c.responsesTools()
	c.input(objects(c.fields["input"]))
	return c.found
}

func (c *responsesChecker) responsesTools() {
	names := map[string]bool{}
	for i, t := range objects(c.fields["tools"]) {
		name := text(t, "name")
		if !wireName.MatchString(name) && text(t, "type") != "web_search" {
			c.add("Invalid 'tools[%d].name': %q", i, name)
		}
		if names[name] {
			c.add("tools[%d]: the name %q again", i, name)
		}
		names[name] = true
		switch text(t, "type") {
		case "function":
			params, _ := t["parameters"].(map[string]any)
			if text(params, "type") != "object" {
				c.add("Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"'", name)
			}
			if t["strict"] != false {
				c.add("tools[%d].strict: %v", i, t["strict"])
			}
		case "web_search":
			delete(names, "")
			if len(t) > 1 {
				c.add("modeltest: tools[%d]: %v", i, t)
			}
		case "custom":
			c.format(i, t["format"])
		default:
			c.add("Invalid value: '%s' for tools[%d].type", text(t, "type"), i)
		}
	}
}

// format checks the form of the text of a custom tool.
func (c *responsesChecker) format(i int, format any) {
	f, _ := format.(map[string]any)
	switch kind := text(f, "type"); {
	case format == nil, kind == "text":
	case kind != "grammar":
		c.add("Invalid value: '%s' for tools[%d].format.type", kind, i)
	case text(f, "syntax") != "lark" && text(f, "syntax") != "regex" || text(f, "definition") == "":
		c.add("Invalid 'tools[%d].format': a grammar has a syntax and a definition", i)
	}
}

func (c *responsesChecker) input(list []map[string]any) {
	if len(list) == 0 {
		c.add("Missing required parameter: 'input'.")
	}
	calls := map[string]string{}   // kinds of calls without an output, by id
	reasoning := map[string]bool{} // seen
	person := -1                   // the last message of the person
	for i, it := range list {
		if text(it, "role") == "user" {
			person = i
		}
	}
	for i, it := range list {
		at := fmt.Sprintf("input[%d]", i)
		if text(it, "id") != "" {
			c.add("Item with id '%s' not found. Items are not persisted when `store` is set to false.", text(it, "id"))
		}
		switch kind := text(it, "type"); kind {
		case "message":
			c.message(at, it)
		case "reasoning":
			c.reasoning(i, list, reasoning)
		case "function_call", "custom_tool_call":
			id := text(it, "call_id")
			if id == "" || len(id) > 64 {
				c.add("Invalid '%s.call_id': %q", at, id)
			}
			calls[id] = kind
			if kind == "function_call" {
				var object map[string]any
				if json.Unmarshal([]byte(text(it, "arguments")), &object) != nil {
					c.add("%s.arguments: no JSON object: %.80q", at, text(it, "arguments"))
				}
			}
			if want := c.byCall[id]; i > person && want != "" && c.issued[want].model == c.model && !reasoning[want] {
				c.add("Item '%s' of type '%s' was provided without its required 'reasoning' item", id, kind)
			}
		case "function_call_output", "custom_tool_call_output":
			id := text(it, "call_id")
			if calls[id]+"_output" != kind {
				c.add("No tool call found for %s with call_id %s.", strings.ReplaceAll(strings.TrimSuffix(kind, "_output"), "_", " ")+" output", id)
			}
			delete(calls, id)
			if s, n := itemParts(it["output"]); strings.TrimSpace(s) == "" && n == 0 {
				c.add("%s.output is empty", at)
			}
		case searchCall:
			c.search(at, it)
		case "tool_search_call", "tool_search_output", "mcp_call", "image_generation_call", "code_interpreter_call":
			// the provider's own
		default:
			c.add("Invalid value: '%s' for %s.type", kind, at)
		}
	}
	for id := range calls {
		c.add("No tool output found for function call %s.", id)
	}
}

func (c *responsesChecker) message(at string, it map[string]any) {
	want := "input_text"
	switch role := text(it, "role"); role {
	case "assistant":
		want = "output_text"
	case "user", "developer", "system":
	default:
		c.add("Invalid value: '%s' for %s.role", role, at)
	}
	parts := objects(it["content"])
	if len(parts) == 0 {
		c.add("%s.content is empty", at)
	}
	for k, p := range parts {
		switch kind := text(p, "type"); kind {
		case want:
			if strings.TrimSpace(text(p, "text")) == "" {
				c.add("%s.content[%d].text is empty", at, k)
			}
		case "input_image", "input_file":
			if want != "input_text" || text(p, "image_url")+text(p, "file_data") == "" {
				c.add("%s.content[%d]: %s", at, k, kind)
			}
		default:
			c.add("Invalid value: '%s' for %s.content[%d].type", kind, at, k)
		}
	}
}

func (c *responsesChecker) reasoning(i int, list []map[string]any, seen map[string]bool) {
	secret := text(list[i], "encrypted_content")
	seen[secret] = true
	was, ok := c.issued[secret]
	switch {
	case !ok:
		c.add("The encrypted content %.12s... could not be verified. Reason: Encrypted content could not be decrypted or parsed.", secret)
	case was.model != c.model:
		c.add("The encrypted content was made by another model: %s", was.model)
	}
	if _, has := list[i]["summary"].([]any); !has {
		c.add("Missing required parameter: 'input[%d].summary'.", i)
	}
	if i+1 == len(list) || !slices.Contains([]string{"message", "function_call", "custom_tool_call", "reasoning", "web_search_call"}, text(list[i+1], "type")) || text(list[i+1], "role") == "user" {
		c.add("Item 'rs' of type 'reasoning' was provided without its required following item.")
	}
}
