// Package sdktypes writes the types of the libraries from the schemas of what jcode writes and reads: each event, each line of
// input and each method of the session protocol is a type with its fields, in Go, TypeScript and Python.
package sdktypes

import (
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Schema is what the schemas of docs use of JSON Schema.
type Schema struct {
	Any         bool // true: anything
	Title       string
	Types       []string
	Const       string
	Encoding    string
	Properties  map[string]*Schema
	Required    []string
	Items       *Schema
	Values      *Schema // of an object without properties
	AnyOf       []*Schema
	Definitions map[string]*Schema
	Methods     map[string]Method
	Notes       map[string]Method
}

// Method is what a method of the protocol takes and returns.
type Method struct {
	Params *Schema `json:"params"`
	Result *Schema `json:"result"`
}

// UnmarshalJSON reads a schema, also one that is true or false.
func (s *Schema) UnmarshalJSON(data []byte) error {
	if string(data) == "true" || string(data) == "false" {
		s.Any = string(data) == "true"
		return nil
	}
	var raw struct {
		Title         string             `json:"title"`
		Type          json.RawMessage    `json:"type"`
		Const         any                `json:"const"`
		Encoding      string             `json:"contentEncoding"`
		Properties    map[string]*Schema `json:"properties"`
		Required      []string           `json:"required"`
		Items         *Schema            `json:"items"`
		Values        *Schema            `json:"additionalProperties"`
		AnyOf         []*Schema          `json:"anyOf"`
		Definitions   map[string]*Schema `json:"$defs"`
		Methods       map[string]Method  `json:"methods"`
		Notifications map[string]Method  `json:"notifications"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	var one string
	if len(raw.Type) > 0 && json.Unmarshal(raw.Type, &one) == nil {
		s.Types = []string{one}
	} else if len(raw.Type) > 0 {
		if err := json.Unmarshal(raw.Type, &s.Types); err != nil {
			return err
		}
	}
	s.Const, _ = raw.Const.(string)
	s.Title, s.Encoding, s.Properties, s.Required, s.Items, s.Values = raw.Title, raw.Encoding, raw.Properties, raw.Required, raw.Items, raw.Values
	s.AnyOf, s.Definitions, s.Methods, s.Notes = raw.AnyOf, raw.Definitions, raw.Methods, raw.Notifications
	return nil
}

// kind returns the type of a value without null.
func (s *Schema) kind() string {
	for _, t := range s.Types {
		if t != "null" {
			return t
		}
	}
	return ""
}

func (s *Schema) null() bool { return slices.Contains(s.Types, "null") }

// record is an object with fields, which has a name in the libraries.
type record struct {
	name, doc string
	key       string // the word of the protocol
	fields    []field
}

type field struct {
	name     string
	required bool
	schema   *Schema
	record   string // the name of the record that the value, or each item of it, is
}

// group is the types of one schema.
type group struct {
	name    string // of the file
	doc     string
	index   string // the type that lists them by their words, "" for none
	records []record
	listed  []string // the names of those that are in the index
	common  string   // the record whose fields all listed ones have, "" for none
}

// read reads the schemas of a folder.
func read(docs string) ([]group, error) {
	var all [3]Schema
	for i, name := range []string{"events", "input", "remote"} {
		data, err := os.ReadFile(filepath.Join(docs, name+".schema.json"))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &all[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	events := group{name: "events", doc: "Events: what happens in a session.", index: "Events"}
	events.share("AnyEvent", all[0].AnyOf)
	for _, s := range all[0].AnyOf {
		events.add(pascal(s.Title)+"Event", "is the event "+s.Title+".", s.Title, s, true)
	}
	lines := group{name: "lines", doc: "Lines of input, and what jcode writes in answer to them.", index: "Lines"}
	for _, s := range all[1].AnyOf {
		delete(s.Properties, "type")
		delete(s.Properties, "request")
		lines.add(pascal(s.Title)+"Line", "is the line "+s.Title+" of the input.", s.Title, s, true)
	}
	for _, name := range slices.Sorted(maps.Keys(all[1].Definitions)) {
		lines.add(pascal(name)+"Output", "is what jcode writes of "+name+".", name, all[1].Definitions[name], false)
	}
	protocol := group{name: "protocol", doc: "The session protocol, for programs that speak it themselves."}
	for _, name := range slices.Sorted(maps.Keys(all[2].Methods)) {
		m := all[2].Methods[name]
		if m.Params != nil {
			protocol.add(pascal(name)+"Params", "is what the method "+name+" takes.", name, m.Params, false)
		}
		if m.Result != nil {
			protocol.add(pascal(name)+"Result", "is what the method "+name+" returns.", name, m.Result, false)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all[2].Notes)) {
		protocol.add(pascal(name)+"Note", "is the notification "+name+".", name, all[2].Notes[name].Params, false)
	}
	return []group{events, lines, protocol}, nil
}

// share makes a record of the fields that all schemas have and none needs.
func (g *group) share(name string, list []*Schema) {
	shared := &Schema{Properties: map[string]*Schema{}}
	for field, schema := range list[0].Properties {
		if !slices.ContainsFunc(list, func(s *Schema) bool {
			return !reflect.DeepEqual(s.Properties[field], schema) || slices.Contains(s.Required, field) || schema.Const != ""
		}) {
			shared.Properties[field] = schema
		}
	}
	for field := range shared.Properties {
		for _, s := range list {
			delete(s.Properties, field)
		}
	}
	g.add(name, "has the fields that each event may have.", "", shared, false)
	g.common = name
}

// extends reports whether a record has the common fields too.
func (g *group) extends(r record) bool { return g.common != "" && slices.Contains(g.listed, r.name) }

// add adds the records of a schema: those of its fields first.
func (g *group) add(name, doc, key string, s *Schema, listed bool) {
	r := record{name: name, doc: doc, key: key}
	names := slices.Sorted(maps.Keys(s.Properties))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	for _, n := range names {
		f := field{name: n, required: slices.Contains(s.Required, n), schema: s.Properties[n]}
		inner := f.schema
		for inner.Items != nil {
			inner = inner.Items
		}
		if len(inner.Properties) > 0 {
			f.record = name + pascal(n)
			g.add(f.record, "is "+n+" of "+name+".", "", inner, false)
		}
		r.fields = append(r.fields, f)
	}
	g.records = append(g.records, r)
	if listed {
		g.listed = append(g.listed, name)
	}
}

func rank(field string) int {
	if field == "type" {
		return 0
	}
	return 1
}

// pascal writes a word of the protocol as a name: agents.output is AgentsOutput.
func pascal(word string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return r == '_' || r == '.' }) {
		switch part {
		case "id", "ms", "usd", "mcp", "url", "ok", "ids", "pid", "cwd":
			b.WriteString(strings.ToUpper(part))
		default:
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

const note = "Written from the schemas of docs by `go test ./internal/testkit/sdktypes -update`. Do not edit."

// Files returns the files of all libraries, by their path below the folder of libraries.
func Files(docs string) (map[string]string, error) {
	groups, err := read(docs)
	if err != nil {
		return nil, err
	}
	out := map[string]string{"typescript/types.d.ts": typeScript(groups), "python/jcode_types.py": python(groups)}
	for _, g := range groups {
		for i, part := range slices.Collect(slices.Chunk(g.records, 30)) {
			source, err := format.Source([]byte(golang(g, part, i == 0)))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", g.name, err)
			}
			out["go/"+g.name+[]string{"", "_more", "_most"}[i]+"_types.go"] = string(source)
		}
	}
	return out, nil
}
