package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// messagesChecker checks a Messages request for what the API refuses.
type messagesChecker struct {
	checker
	fields map[string]any
	beta   string
	issued map[string]issuedBlock // by signature
	byCall map[string]string      // signature of the thinking before a call, by its id
	model  string
	binds  bool
	refuse string // what is refused although no client can always know it in advance
}

// issuedBlock is a thinking block that the server sent.
type issuedBlock struct {
	thinking, prefix, model string
}

var messagesID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// alwaysThinks recognises the models whose thinking cannot be switched off.
var alwaysThinks = regexp.MustCompile(`claude-(opus-5[-.]5|fable|mythos)`)

// The betas that the checker knows.
const (
	betaBinding = "thinking-binding-controls-2026-08-01"
	betaInline  = "inline-tools-2026-09-15"
)

// checkMessages returns one line per breach, and what is refused without being one.
func (h *Handler) checkMessages(raw []byte, header http.Header) (found []string, refused string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := messagesChecker{beta: strings.Join(header.Values("Anthropic-Beta"), ","), issued: h.issued, byCall: h.thoughtOf, binds: h.binds}
	if err := json.Unmarshal(raw, &c.fields); err != nil {
		c.add("the body is not a JSON object: %v", err)
		return c.found, ""
	}
	if header.Get("Anthropic-Version") == "" {
		c.add("anthropic-version: header is required")
	}
	if header.Get("X-Api-Key") == "" && header.Get("Authorization") == "" {
		c.add("x-api-key: header is required")
	}
	c.model = text(c.fields, "model")
	c.found = append(c.found, messagesForm().closed("body", c.fields)...)
	if format, given := inner(c.fields, "output_config", "format"); given {
		c.found = append(c.found, badAnswerSchema("output_config.format", format, false)...)
	}
	c.top()
	c.messagesTools()
	c.turns(objects(c.fields["messages"]))
	c.markers()
	return c.found, c.refuse
}

func (c *messagesChecker) top() {
	most, ok := c.fields["max_tokens"].(float64)
	if !ok || most < 1 {
		c.add("max_tokens: Field required")
	}
	if c.model == "" {
		c.add("model: Field required")
	}
	thinking, _ := c.fields["thinking"].(map[string]any)
	switch text(thinking, "type") {
	case "":
	case "adaptive", "disabled":
	case "enabled":
		if n, _ := thinking["budget_tokens"].(float64); n < 1024 || n >= most {
			c.add("thinking.enabled.budget_tokens: %v is not between 1024 and max_tokens", n)
		}
	default:
		c.add("thinking.type: %q", text(thinking, "type"))
	}
	if kind := text(thinking, "type"); kind != "" && kind != "adaptive" && alwaysThinks.MatchString(c.model) {
		c.add("\"thinking.type.%s\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.", kind)
	}
	if thinking["block_binding"] != nil && !hasBeta(c.beta, betaBinding) {
		c.add("thinking.adaptive.block_binding: Extra inputs are not permitted")
	}
	if kind := text(thinking, "type"); (kind == "enabled" || kind == "adaptive") && c.fields["temperature"] != nil && c.fields["temperature"] != 1.0 {
		c.add("`temperature` may only be set to 1 when thinking is enabled")
	}
}

func (c *messagesChecker) messagesTools() {
	list := objects(c.fields["tools"])
	if l, is := c.fields["tools"].([]any); is && len(l) == 0 {
		c.add("tools: an empty list")
	}
	names := map[string]bool{}
	for i, t := range list {
		c.oneTool(fmt.Sprintf("tools.%d", i), t, names)
	}
}

func (c *messagesChecker) oneTool(at string, t map[string]any, names map[string]bool) {
	name := text(t, "name")
	if kind := text(t, "type"); kind != "" && kind != "custom" { // one that runs on the server
		if names[name] || !strings.HasPrefix(kind, name+"_20") {
			c.add("%s: a tool %q of type %q", at, name, kind)
		}
		names[name] = true
		return
	}
	if !wireName.MatchString(name) {
		c.add("%s.custom.name: String should match pattern: %q", at, name)
	}
	if names[name] {
		c.add("tools: Tool names must be unique: %s", name)
	}
	names[name] = true
	params, _ := t["input_schema"].(map[string]any)
	if text(params, "type") != "object" {
		c.add("%s.custom.input_schema.type: Input should be 'object'", at)
	}
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		if params[word] != nil {
			c.add("%s.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level", at)
		}
	}
}

func (c *messagesChecker) turns(list []map[string]any) {
	if len(list) == 0 {
		c.add("messages: at least one message is required")
		return
	}
	before := ""
	used := map[string]bool{}
	var owed []string // ids of the calls of the message before
	for i, m := range list {
		role := text(m, "role")
		switch {
		case i == 0 && role != "user":
			c.add("messages: first message must use the \"user\" role")
		case role == "system":
			if !hasBeta(c.beta, betaInline) || before != "user" {
				c.add("messages.%d: unexpected role \"system\"", i)
			}
			c.system(i, m)
			continue
		case role != "user" && role != "assistant":
			c.add("messages.%d: role %q", i, role)
		case role == before:
			c.add("messages: roles must alternate between \"user\" and \"assistant\", but found multiple %q roles in a row", role)
		}
		before = role
		blocks := objects(m["content"])
		if s, ok := m["content"].(string); ok {
			blocks = []map[string]any{{"type": "text", "text": s}}
		}
		if len(blocks) == 0 {
			c.add("messages.%d: content is empty", i)
		}
		if role == "user" {
			c.user(i, blocks, owed)
			owed = nil
			continue
		}
		owed = c.assistant(i, blocks, used, i > lastPerson(list))
	}
	if len(owed) > 0 {
		c.add("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", len(list)-1, strings.Join(owed, ", "))
	}
	if before == "assistant" {
		last := objects(list[len(list)-1]["content"])
		if len(last) > 0 && text(last[len(last)-1], "type") == "text" {
			c.add("This model does not support assistant message prefill. The conversation must end with a user message.")
		}
	}
}

// lastPerson returns the index of the last message with text of the user: what follows it is one turn of
// calls.
func lastPerson(list []map[string]any) int {
	for i := len(list) - 1; i >= 0; i-- {
		if text(list[i], "role") != "user" {
			continue
		}
		blocks := objects(list[i]["content"])
		if len(blocks) == 0 || text(blocks[0], "type") != "tool_result" {
			return i
		}
	}
	return -1
}

func (c *messagesChecker) system(i int, m map[string]any) {
	for k, b := range objects(m["content"]) {
		at := fmt.Sprintf("messages.%d.content.%d", i, k)
		tool, _ := b["tool"].(map[string]any)
		switch text(b, "type") {
		case "text":
		case "tool_addition":
			if text(tool, "type") == "tool_definition" {
				definition, _ := tool["definition"].(map[string]any)
				c.oneTool(at, definition, map[string]bool{})
			}
		case "tool_removal":
			if text(tool, "name") == "" {
				c.add("%s.tool.name: Field required", at)
			}
		default:
			c.add("%s: type %q", at, text(b, "type"))
		}
	}
}

func (c *messagesChecker) user(i int, blocks []map[string]any, owed []string) {
	results := true
	for k, b := range blocks {
		at := fmt.Sprintf("messages.%d.content.%d", i, k)
		switch text(b, "type") {
		case "tool_result":
			id := text(b, "tool_use_id")
			n := slices.Index(owed, id)
			if n < 0 {
				c.add("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message", at, id)
			} else {
				owed = slices.Delete(slices.Clone(owed), n, n+1)
			}
			if !results {
				c.add("%s: tool_result blocks must come first in the content", at)
			}
			if s, ok := b["content"].(string); ok && strings.TrimSpace(s) == "" {
				c.add("%s: an empty result", at)
			}
			for _, p := range objects(b["content"]) {
				c.content(at, p)
			}
		default:
			results = false
			c.content(at, b)
		}
	}
	if len(owed) > 0 {
		c.add("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", i-1, strings.Join(owed, ", "))
	}
}

func (c *messagesChecker) content(at string, b map[string]any) {
	switch kind := text(b, "type"); kind {
	case "text":
		if strings.TrimSpace(text(b, "text")) == "" {
			c.add("%s: text content blocks must contain non-whitespace text", at)
		}
	case "image", "document":
		source, _ := b["source"].(map[string]any)
		if text(source, "media_type") == "" || text(source, "data") == "" {
			c.add("%s.source: Field required", at)
		}
	default:
		c.add("%s: Input tag %q found using 'type' does not match any of the expected tags", at, kind)
	}
}

// assistant checks an answer that was sent back, and returns the ids of its calls.
func (c *messagesChecker) assistant(i int, blocks []map[string]any, used map[string]bool, current bool) (calls []string) {
	c.searches(i, blocks, i == len(objects(c.fields["messages"]))-1)
	signatures := map[string]bool{}
	for k, b := range blocks {
		at := fmt.Sprintf("messages.%d.content.%d", i, k)
		switch kind := text(b, "type"); kind {
		case "text":
			c.content(at, b)
		case "thinking":
			signatures[text(b, "signature")] = true
			c.thinking(i, at, b)
			if k == len(blocks)-1 {
				c.add("messages.%d: The final block in an assistant message cannot be `thinking`.", i)
			}
		case "tool_use":
			id := text(b, "id")
			if !messagesID.MatchString(id) {
				c.add("%s.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
			}
			if used[id] {
				c.add("messages: `tool_use` ids must be unique")
			}
			used[id] = true
			if _, ok := b["input"].(map[string]any); !ok {
				c.add("%s.input: Input should be a valid dictionary", at)
			}
			calls = append(calls, id)
			if want := c.byCall[id]; current && want != "" && c.issued[want].model == c.model && !signatures[want] && !c.drops() {
				c.add("%s: the thinking before this call is missing", at)
			}
		case "redacted_thinking", "server_tool_use", "web_search_tool_result", "fallback", "compaction":
		default:
			c.add("%s: Input tag %q does not match any of the expected tags", at, kind)
		}
	}
	thinking, _ := c.fields["thinking"].(map[string]any)
	if text(thinking, "type") == "enabled" && current && len(calls) > 0 && len(blocks) > 0 && !strings.HasSuffix(text(blocks[0], "type"), "thinking") {
		c.add("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block", i, text(blocks[0], "type"))
	}
	return calls
}

func (c *messagesChecker) drops() bool {
	thinking, _ := c.fields["thinking"].(map[string]any)
	binding, _ := thinking["block_binding"].(map[string]any)
	return text(binding, "prefix_mismatch_behavior") == "drop_block"
}

func (c *messagesChecker) thinking(i int, at string, b map[string]any) {
	signature := text(b, "signature")
	was, ok := c.issued[signature]
	switch {
	case !ok:
		c.add("%s: Invalid `signature` in `thinking` block", at)
	case was.thinking != text(b, "thinking"):
		c.add("%s: `thinking` blocks in the latest assistant message cannot be modified", at)
	case was.model != c.model:
		c.add("%s: Invalid `signature` in `thinking` block: it was made by %s", at, was.model)
	case c.binds && was.prefix != prefixOf(c.fields, i) && !c.drops():
		c.refuse = fmt.Sprintf("%s: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".", at)
	}
}

// markers counts the cache markers and checks their places.
func (c *messagesChecker) markers() {
	n := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["cache_control"] != nil {
				n++
				if strings.HasSuffix(text(v, "type"), "thinking") {
					c.add("cache_control cannot be set on thinking blocks")
				}
				if text(v, "type") == "text" && strings.TrimSpace(text(v, "text")) == "" {
					c.add("cache_control cannot be set for empty text blocks")
				}
			}
			for _, e := range v {
				walk(e)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(c.fields["tools"])
	walk(c.fields["system"])
	walk(c.fields["messages"])
	if n > 4 {
		c.add("A maximum of 4 blocks with cache_control may be provided. Found %d.", n)
	}
}
