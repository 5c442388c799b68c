package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"jcode/internal/jsonerr"
	"jcode/internal/rawjson"
	"jcode/internal/schema"
)

// Skipped is an entry of a server's list that is not offered, or was changed.
type Skipped struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Tool is one tool as a server describes it. Schemas and annotations are raw: order
// and numbers as received.
type Tool struct {
	Name         string          `json:"name"`
	Wire         string          `json:"wire"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  json.RawMessage `json:"annotations,omitempty"`

	// ReadOnly is the server's readOnlyHint.
	ReadOnly bool `json:"-"`
	// Sent is what a provider gets in place of InputSchema.
	Sent Repaired `json:"-"`
}

// Page is one page of a `tools/list` answer.
type Page struct {
	Tools   []Tool
	Skipped []Skipped
	Next    string // the cursor of the next page, "" at the end
}

// Reader turns the pages of one list into tools. Each tool is validated separately.
type Reader struct {
	// Wire returns the name that a provider sees for a tool of this server.
	Wire func(tool string) string
	// HTTP says that arguments can travel as headers.
	HTTP bool
	seen map[string]bool
}

// rawList is a `tools/list` result with its tools raw.
type rawList struct {
	Tools      []json.RawMessage `json:"tools"`
	NextCursor json.RawMessage   `json:"nextCursor,omitempty"`
}

// Page reads a raw `tools/list` result.
func (r *Reader) Page(raw json.RawMessage) (Page, error) {
	var list rawList
	if err := json.Unmarshal(raw, &list); err != nil {
		return Page{}, fmt.Errorf("read tools/list: %w", jsonerr.Plain(err))
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	var page Page
	page.Next = rawjson.String(list.NextCursor)
	for i, item := range list.Tools {
		tool, warnings, err := r.tool(item)
		name := tool.Name
		if name == "" {
			name = fmt.Sprintf("tools[%d]", i)
		}
		if err != nil {
			page.Skipped = append(page.Skipped, Skipped{name, err.Error()})
			continue
		}
		for _, w := range warnings {
			page.Skipped = append(page.Skipped, Skipped{name, w})
		}
		page.Tools = append(page.Tools, tool)
	}
	return page, nil
}

// tool checks and repairs one entry. An entry with an error is left out.
func (r *Reader) tool(item json.RawMessage) (Tool, []string, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(item, &fields); err != nil || fields == nil {
		return Tool{}, nil, fmt.Errorf("left out: entry is %s, not an object", rawjson.Kind(item))
	}
	var t Tool
	t.Name = rawjson.String(fields["name"])
	if t.Name == "" {
		return t, nil, fmt.Errorf("left out: it has no name")
	}
	if r.seen[t.Name] {
		return t, nil, fmt.Errorf("left out: the server lists this name twice, the first counts")
	}
	var warnings []string
	text := func(key string) string {
		raw, has := fields[key]
		if !has || rawjson.Null(raw) {
			return ""
		}
		if rawjson.Kind(raw) != "a string" {
			warnings = append(warnings, fmt.Sprintf("%s is %s and was dropped", key, rawjson.Kind(raw)))
			return ""
		}
		return rawjson.String(raw)
	}
	t.Description, t.Title = text("description"), text("title")
	if raw, has := fields["annotations"]; has && !rawjson.Null(raw) {
		if annotations, why := cleanAnnotations(raw); why != "" {
			warnings = append(warnings, why)
		} else {
			t.Annotations = annotations
		}
	}
	t.ReadOnly = rawjson.Bool(rawjson.Member(t.Annotations, "readOnlyHint"))
	if t.Title == "" {
		t.Title = rawjson.String(rawjson.Member(t.Annotations, "title"))
	}
	if rawjson.String(rawjson.Member(fields["execution"], "taskSupport")) == "required" {
		return t, warnings, errors.New("left out: it runs as a task only, which jcode does not speak")
	}
	t.InputSchema = slices.Clone(fields["inputSchema"])
	t.OutputSchema = slices.Clone(fields["outputSchema"])
	if r.HTTP {
		if why := badHeaderParam(t.InputSchema); why != "" {
			return t, warnings, fmt.Errorf("left out: %s", why)
		}
	}
	t.Wire = r.Wire(t.Name)
	t.Sent = repair(t.InputSchema, len(t.Wire)+min(len(t.Description), MaxDescription))
	warnings = append(warnings, t.Sent.said...)
	if rawjson.Kind(t.InputSchema) != "an object" {
		warnings = append(warnings, fmt.Sprintf("inputSchema is %s; no arguments are declared", rawjson.Kind(t.InputSchema)))
	}
	if t.Sent.tooLarge {
		return t, warnings, fmt.Errorf("left out: its definition is larger than %d kB", maxToolBytes>>10)
	}
	if t.Sent.slim {
		warnings = append(warnings, "descriptions of its arguments were dropped for size")
	}
	r.seen[t.Name] = true
	return t, warnings, nil
}

// cleanAnnotations returns annotations whose hints are booleans; why describes what was wrong.
func cleanAnnotations(raw json.RawMessage) (kept json.RawMessage, why string) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil, "annotations are " + rawjson.Kind(raw) + " and were dropped"
	}
	for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		if v, has := m[hint]; has && !rawjson.Null(v) && rawjson.Kind(v) != "a boolean" {
			return nil, fmt.Sprintf("annotations were dropped: %s is %s", hint, rawjson.Kind(v))
		}
	}
	return slices.Clone(raw), ""
}

// ForSDK returns the part of a raw list that the protocol library needs: the tools whose
// arguments travel as HTTP headers.
func ForSDK(raw json.RawMessage, http bool) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all == nil {
		return raw
	}
	var list rawList
	kept := []schema.Node{}
	if http && bytes.Contains(raw, []byte(`"x-mcp-header"`)) && json.Unmarshal(raw, &list) == nil {
		for _, item := range list.Tools {
			name, input := rawjson.String(rawjson.Member(item, "name")), rawjson.Member(item, "inputSchema")
			if name == "" || !bytes.Contains(input, []byte(`"x-mcp-header"`)) || badHeaderParam(input) != "" {
				continue
			}
			tool := schema.NewObject()
			tool.Set("name", name)
			if s, err := schema.Parse(input); err == nil && !hasBigNumber(s) {
				tool.Set("inputSchema", s)
				kept = append(kept, tool)
			}
		}
	}
	out := schema.NewObject()
	out.Set("tools", kept)
	if next := rawjson.String(all["nextCursor"]); next != "" {
		out.Set("nextCursor", next)
	}
	if kind := rawjson.String(all["resultType"]); kind != "" {
		out.Set("resultType", kind)
	}
	return schema.Print(out)
}

// HeaderName reports whether s can be the name of an HTTP header: a token of RFC 9110.
func HeaderName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("!#$%&'*+.^_`|~-", rune(c)) {
			return false
		}
	}
	return s != ""
}

// badHeaderParam returns what is wrong with the `x-mcp-header` marks of a schema, "" if
// nothing is.
func badHeaderParam(input json.RawMessage) string {
	if !bytes.Contains(input, []byte(`"x-mcp-header"`)) {
		return ""
	}
	n, err := schema.Parse(input)
	root, ok := n.(*schema.Object)
	if err != nil || !ok {
		return ""
	}
	return badHeadersIn(root, map[string]bool{})
}

func badHeadersIn(o *schema.Object, seen map[string]bool) string {
	props := o.Child("properties")
	if props == nil {
		return ""
	}
	for _, name := range props.Names() {
		p := props.Child(name)
		if p == nil {
			continue
		}
		if mark, has := p.Lookup("x-mcp-header"); has {
			header, _ := mark.(string)
			switch t := p.String("type"); {
			case t != "string" && t != "integer" && t != "boolean":
				return fmt.Sprintf("x-mcp-header on %q, whose type is %q: only string, integer and boolean can be headers", name, t)
			case !HeaderName(header):
				return fmt.Sprintf("x-mcp-header of %q is not a header name", name)
			case seen[strings.ToLower(header)]:
				return fmt.Sprintf("x-mcp-header %q is used twice", header)
			}
			seen[strings.ToLower(header)] = true
		}
		if why := badHeadersIn(p, seen); why != "" {
			return why
		}
	}
	return ""
}
