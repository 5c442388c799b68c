package modeltest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

var wireName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Check checks the body of a chat request against the rules of the strictest servers, and returns one line
// per breach: results paired with calls, ids unique and at most 128 characters, arguments JSON objects, no
// empty message, valid UTF-8 without lone surrogates, legal and unique tool names, object schemas with
// properties, `$ref`s that resolve, no member that is not part of the protocol.
func Check(body []byte) []string {
	var c checker
	if !utf8.Valid(body) {
		c.add("the body is not valid UTF-8 (byte %d)", firstInvalid(body))
	}
	if at, ok := loneSurrogate(body); ok {
		c.add("a lone surrogate at byte %d: %s", at, body[at:min(at+6, len(body))])
	}
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		c.add("the body is not a JSON object: %v", err)
		return c.found
	}
	c.found = append(c.found, chatForm().closed("body", fields)...)
	if format, given := inner(fields, "response_format", "json_schema"); given {
		c.found = append(c.found, badAnswerSchema("response_format.json_schema", format, true)...)
	}
	if text(fields, "model") == "" {
		c.add("no model is named")
	}
	messages, ok := fields["messages"].([]any)
	if !ok || len(messages) == 0 {
		c.add("there are no messages")
	}
	c.messages(objects(fields["messages"]))
	c.tools(objects(fields["tools"]))
	if list, is := fields["tools"].([]any); is && len(list) == 0 {
		c.add("tools is an empty list")
	}
	return c.found
}

type checker struct{ found []string }

func (c *checker) add(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

func (c *checker) messages(list []map[string]any) {
	seen := map[string]bool{}    // every id of a call so far
	pending := map[string]bool{} // calls that wait for their result
	where := -1                  // the assistant message they belong to
	settle := func(before int) {
		for id := range pending {
			c.add("messages[%d]: call %q has no result before messages[%d]", where, id, before)
			delete(pending, id)
		}
	}
	for i, m := range list {
		role := text(m, "role")
		c.content(i, m, role)
		switch role {
		case "tool":
			id := text(m, "tool_call_id")
			if !pending[id] {
				c.add("messages[%d]: a result for %q, which no call before it waits for", i, id)
			}
			delete(pending, id)
			continue
		case "system", "developer", "user", "assistant":
			settle(i)
		default:
			c.add("messages[%d]: role %q", i, role)
			settle(i)
		}
		for k, call := range objects(m["tool_calls"]) {
			where = i
			pending[c.call(i, k, role, call, seen)] = true
		}
	}
	settle(len(list))
}

// call checks one tool call and returns its id.
func (c *checker) call(i, k int, role string, call map[string]any, seen map[string]bool) string {
	at := fmt.Sprintf("messages[%d].tool_calls[%d]", i, k)
	if role != "assistant" {
		c.add("%s: a %s message makes a call", at, role)
	}
	id := text(call, "id")
	switch {
	case id == "":
		c.add("%s: no id", at)
	case utf8.RuneCountInString(id) > 128:
		c.add("%s: id %q is longer than 128 characters", at, id)
	case seen[id]:
		c.add("%s: id %q is used twice", at, id)
	}
	seen[id] = true
	if text(call, "type") != "function" {
		c.add("%s: type %q", at, text(call, "type"))
	}
	fn, _ := call["function"].(map[string]any)
	if name := text(fn, "name"); !wireName.MatchString(name) {
		c.add("%s: name %q", at, name)
	}
	args, isText := fn["arguments"].(string)
	var object map[string]any
	if err := json.Unmarshal([]byte(args), &object); !isText || err != nil || object == nil {
		c.add("%s: arguments are no JSON object: %.80q", at, args)
	}
	return id
}

func (c *checker) content(i int, m map[string]any, role string) {
	calls, _ := m["tool_calls"].([]any)
	if calls != nil && len(calls) == 0 {
		c.add("messages[%d]: tool_calls is an empty list", i)
	}
	switch content := m["content"].(type) {
	case nil:
		if role != "assistant" || len(calls) == 0 {
			c.add("messages[%d] (%s): neither content nor calls", i, role)
		}
	case string:
		if strings.TrimSpace(content) == "" && (content != "" || len(calls) == 0) {
			c.add("messages[%d] (%s): content is empty or white space: %q", i, role, content)
		}
	case []any:
		c.parts(i, role, content)
	default:
		c.add("messages[%d] (%s): content is neither text, list nor null", i, role)
	}
}

func (c *checker) parts(i int, role string, parts []any) {
	if len(parts) == 0 {
		c.add("messages[%d] (%s): content is an empty list", i, role)
	}
	for k, p := range objects(parts) {
		switch kind := text(p, "type"); kind {
		case "text":
			if strings.TrimSpace(text(p, "text")) == "" {
				c.add("messages[%d].content[%d]: empty text", i, k)
			}
		case "image_url":
			url, _ := p["image_url"].(map[string]any)
			if text(url, "url") == "" {
				c.add("messages[%d].content[%d]: an image without url", i, k)
			}
			if role != "user" {
				c.add("messages[%d].content[%d]: an image in a %s message", i, k, role)
			}
		default:
			c.add("messages[%d].content[%d]: type %q", i, k, kind)
		}
	}
}

func (c *checker) tools(list []map[string]any) {
	names := map[string]int{}
	for i, t := range list {
		at := fmt.Sprintf("tools[%d]", i)
		if text(t, "type") != "function" {
			c.add("%s: type %q", at, text(t, "type"))
		}
		fn, _ := t["function"].(map[string]any)
		name := text(fn, "name")
		at += " (" + name + ")"
		if !wireName.MatchString(name) {
			c.add("%s: illegal name", at)
		}
		if first, twice := names[name]; twice {
			c.add("%s: the name of tools[%d] again", at, first)
		}
		names[name] = i
		params, ok := fn["parameters"].(map[string]any)
		if !ok {
			c.add("%s: parameters is not an object", at)
			continue
		}
		if params["type"] != "object" {
			c.add("%s: parameters.type is %v, not \"object\"", at, params["type"])
		}
		if _, ok := params["properties"].(map[string]any); !ok {
			c.add("%s: parameters.properties is missing", at)
		}
		c.refs(at, params, params)
	}
}

// refs finds local references that lead nowhere.
func (c *checker) refs(at string, root map[string]any, node any) {
	switch n := node.(type) {
	case map[string]any:
		if ref, ok := n["$ref"].(string); ok && strings.HasPrefix(ref, "#") && !resolves(root, ref) {
			c.add("%s: $ref %q leads nowhere", at, ref)
		}
		for _, v := range n {
			c.refs(at, root, v)
		}
	case []any:
		for _, v := range n {
			c.refs(at, root, v)
		}
	}
}

// resolves follows a JSON pointer fragment.
func resolves(root any, ref string) bool {
	path := strings.TrimPrefix(ref, "#")
	if path == "" || path == "/" {
		return true
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	node := root
	for _, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		step = unescape.Replace(step)
		switch n := node.(type) {
		case map[string]any:
			next, ok := n[step]
			if !ok {
				return false
			}
			node = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n) {
				return false
			}
			node = n[i]
		default:
			return false
		}
	}
	return true
}

func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size < 2 {
			return i
		}
		i += size
	}
	return len(b)
}

// loneSurrogate finds a \uD800–\uDFFF escape that is not half of a pair.
func loneSurrogate(b []byte) (int, bool) {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		unit, ok := escapeUnit(b[i:])
		switch {
		case !ok:
			i++ // another escape: skip what it escapes
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return i, true
		case unit >= 0xD800 && unit <= 0xDBFF:
			low, ok := escapeUnit(b[min(i+6, len(b)):])
			if !ok || low < 0xDC00 || low > 0xDFFF {
				return i, true
			}
			i += 11
		default:
			i += 5
		}
	}
	return 0, false
}

// escapeUnit reads a \uXXXX escape at the start of b.
func escapeUnit(b []byte) (uint64, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	u, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return u, err == nil
}
