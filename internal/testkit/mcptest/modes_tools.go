package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// toolModes are faults of the tool list.
func toolModes() map[string]func(*server) {
	add := func(defs ...string) func(*server) {
		return func(s *server) { s.tools = append(s.tools, fixed(defs)...) }
	}
	results := func(s *server) { s.tools = append(s.tools, resultTools()...) }
	m := map[string]func(*server){
		"results": results,
		"many": func(s *server) {
			for i := range s.count(500) {
				name := fmt.Sprintf("tool_%04d", i)
				s.tools = append(s.tools, fixed([]string{define(name, fmt.Sprintf("Tool number %d, which does what number %d does.", i, i), `{"type":"object","properties":{"path":{"type":"string","description":"A path"},"count":{"type":"integer"}},"required":["path"]}`)})...)
			}
		},
		"schemas":   add(schemaDefs()...),
		"badschema": add(schemaDefs()...),
		"noschema":  add(`{"name":"none"}`, `{"name":"empty","inputSchema":{}}`, `{"name":"nulled","inputSchema":null}`, `{"name":"bare","inputSchema":{"type":"object"}}`),
		"badtool":   add(`{"name":"bad","description":42,"inputSchema":{"type":"object"}}`),
		"badann":    add(`{"name":"bad","description":"d","annotations":{"readOnlyHint":"yes"},"inputSchema":{"type":"object"}}`),
		"bignum":    add(`{"name":"bad","description":"d","inputSchema":{"type":"object","properties":{"n":{"type":"number","maximum":1e400}}}}`),
		"order":     add(`{"name":"ordered","description":"d","inputSchema":{"type":"object","properties":{"zebra":{"type":"integer","maximum":9007199254740993},"apple":{"type":"string"},"mango":{"type":"string"}}}}`),
		"xheader":   add(`{"name":"headed","description":"d","inputSchema":{"type":"object","properties":{"n":{"type":"number","x-mcp-header":"X-N"}}}}`),
		"longnames": add(define("slack_search_public_and_private", "Search.", anySchema), define("notion.search/page", "Search.", anySchema), define("répertoire", "Dir.", anySchema), define("a b", "Blank.", anySchema)),
		"dupnames":  add(define("same", "The first.", anySchema), define("same", "The second.", anySchema), define("read", "Shadows a builtin.", anySchema), define("constructor", "A JavaScript trap.", anySchema), define("a.b", "Dot.", anySchema), define("a_b", "Underscore.", anySchema)),
		"anyof27": func(s *server) {
			for i := range 26 {
				s.tools = append(s.tools, fixed([]string{define(fmt.Sprint("plain", i), "d", anySchema)})...)
			}
			s.tools = append(s.tools, fixed([]string{define("rooted", "d", `{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}]}`)})...)
		},
		"paged": func(s *server) {
			for i := range 5 {
				s.tools = append(s.tools, fixed([]string{define(fmt.Sprint("extra", i), "d", anySchema)})...)
			}
			s.pageSize = (len(s.tools) + 2) / 3
		},
		"pagefail": func(s *server) { // as often as its value says
			for i := range 8 {
				s.tools = append(s.tools, fixed([]string{define(fmt.Sprint("extra", i), "d", anySchema)})...)
			}
			s.pageSize = (len(s.tools) + 3) / 4
			left := s.count(1)
			s.intercept = on("tools/list", func(s *server, m message) bool {
				if !bytes.Contains(m.Params, []byte(fmt.Sprint("at-", 2*s.pageSize))) || left == 0 {
					return false
				}
				left--
				s.fail(m.ID, -32603, "database is locked", nil)
				return true
			})
		},
		"listhang": func(s *server) { // only the first list is answered
			declareChanges(s)
			growing(s, 1)
			listed := false
			s.intercept = on("tools/list", func(*server, message) bool {
				again := listed
				listed = true
				return again
			})
		},
		"named": func(s *server) { // tools of these names, which say theirs
			for name := range strings.SplitSeq(s.value, ",") {
				s.tools = append(s.tools, tool{name, define(name, "d", anySchema), func(s *server, c call) { s.text(c, c.tool+" ran") }})
			}
		},
		"stuck-cursor": func(s *server) {
			s.intercept = on("tools/list", func(s *server, m message) bool {
				s.replyRaw(m.ID, []byte(`{"tools":[`+s.tools[0].def+`],"nextCursor":"again"}`))
				return true
			})
		},
	}
	for _, t := range resultTools() {
		m[t.name] = results
	}
	m["badbase64"] = results
	m["bigresult"] = func(*server) {}
	return m
}

// fixed returns tools with these definitions; each answers with its arguments.
func fixed(defs []string) []tool {
	var out []tool
	for _, def := range defs {
		var d struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal([]byte(def), &d) // a broken entry has no name and cannot be called
		out = append(out, tool{d.Name, def, func(s *server, c call) {
			args, err := json.Marshal(c.args)
			if err != nil {
				args = []byte(err.Error())
			}
			s.text(c, c.tool+" "+string(args))
		}})
	}
	return out
}

func schemaDefs() []string {
	var defs []string
	for i, schema := range []string{
		`{"type":"object","properties":{"n":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"next":{"$ref":"#/$defs/node"}}}}}`,
		`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`,
		`{"properties":{"a":{"type":"string"}}}`,
		`{}`, `true`, `null`, `[]`, `"object"`,
		`{"type":["object","null"],"properties":{"a":{"type":["string","null"]}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"x":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/x"}}}`,
		`{"type":"string"}`,
		`{"type":"array","items":{"type":"string"}}`,
		`{"type":"object","properties":{"a":{"$ref":"https://example.invalid/schema.json"},"b":{"$ref":"#/$defs/missing"}}}`,
		`{"type":"object","properties":{"list":{"type":"array"}}}`,
	} {
		defs = append(defs, define(fmt.Sprintf("schema%02d", i), "Odd schema.", schema))
	}
	return append(defs,
		`{"name":"missing","description":"No schema at all."}`,
		`{"name":"","description":"No name.","inputSchema":{"type":"object"}}`,
		`null`, `"tool"`,
		define("bad name!/ü", "Odd name.", anySchema),
		define("twice", "The first.", anySchema),
		define("twice", "The second.", anySchema),
		define("wordy", strings.Repeat("word ", 2000), anySchema),
	)
}
