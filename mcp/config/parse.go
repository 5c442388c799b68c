package config

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tailscale/hujson"

	"jcode/internal/jsonedit"
)

// configFile is one parsed configuration file.
type configFile struct {
	entries   []Entry // in the file's order; broken ones carry Err
	overrides map[string]override
	warnings  []string
}

// override is what `<config>/mcp.json` says about a server that another file defines.
type override struct {
	enabled       *bool
	disabledTools []string
}

// parser reads one file leniently: a bad part is reported and the rest is kept.
type parser struct {
	path  string
	scope Scope
	text  []byte
	state bool // another program's state, with keys of its own
	out   configFile
}

// parseConfig parses a file. It returns an error, with its line, only if nothing can be read.
func parseConfig(path string, scope Scope, data []byte) (configFile, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	p := &parser{path: path, scope: scope, text: data}
	root, err := p.parse()
	if err != nil || root == nil {
		return configFile{}, err
	}
	p.top(root)
	return p.out, nil
}

func (p *parser) parse() (*hujson.Object, error) {
	if len(bytes.TrimSpace(p.text)) == 0 {
		return nil, nil
	}
	v, err := hujson.Parse(p.text)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", p.path, jsonedit.Fault(err))
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%s:1: the file must hold a JSON object", p.path)
	}
	return root, nil
}

func (p *parser) top(root *hujson.Object) {
	have := map[string]bool{}
	for _, key := range []string{"mcpServers", "servers"} {
		servers := child(root, key)
		if servers == nil {
			if m := jsonedit.Member(root, key); m != nil {
				p.warn(m, key, "must be an object of servers")
			}
			continue
		}
		for i := range servers.Members {
			sm := &servers.Members[i]
			if name := jsonedit.Name(*sm); !have[name] {
				have[name] = true
				p.out.entries = append(p.out.entries, p.entry(name, sm))
			}
		}
	}
	if m := jsonedit.Member(root, "overrides"); m != nil {
		p.readOverrides(m)
	}
	if p.state {
		return
	}
	for i := range root.Members {
		switch name := jsonedit.Name(root.Members[i]); name {
		case "mcpServers", "servers", "overrides", "$schema", "inputs":
		default:
			p.warn(&root.Members[i], name, "is not a key of this file and has no effect; servers are read from mcpServers")
		}
	}
}

func (p *parser) readOverrides(m *hujson.ObjectMember) {
	list, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		p.warn(m, "overrides", "must be an object")
		return
	}
	p.out.overrides = map[string]override{}
	for i := range list.Members {
		om := &list.Members[i]
		o, ok := om.Value.Value.(*hujson.Object)
		if !ok {
			p.warn(om, "overrides."+jsonedit.Name(*om), "must be an object")
			continue
		}
		var ov override
		if f := jsonedit.Member(o, "enabled"); f != nil {
			if b, ok := decode[bool](f); ok {
				ov.enabled = &b
			} else {
				p.warn(f, "overrides."+jsonedit.Name(*om)+".enabled", "must be true or false")
			}
		}
		if f := jsonedit.Member(o, "disabledTools"); f != nil {
			ov.disabledTools, _ = decode[[]string](f)
		}
		p.out.overrides[jsonedit.Name(*om)] = ov
	}
}

// entry reads one server.
func (p *parser) entry(name string, m *hujson.ObjectMember) Entry {
	key := KeyFor(name)
	e := NewEntry(key)
	e.Source = Source{Scope: p.scope, File: p.path, Line: p.line(m)}
	r := &entryReader{p: p, e: &e, name: name}
	if key != name {
		e.Warnings = append(e.Warnings, fmt.Sprintf("%s:%d: %q is not a server name, %q is used", p.path, e.Source.Line, name, key))
	}
	fields, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		r.fail(m, "", "must be an object")
		return e
	}
	r.read(fields)
	return e
}

func (p *parser) line(m *hujson.ObjectMember) int {
	at := min(m.Name.StartOffset, len(p.text))
	return 1 + bytes.Count(p.text[:at], []byte("\n"))
}

func (p *parser) warn(m *hujson.ObjectMember, key, what string) {
	p.out.warnings = append(p.out.warnings, fmt.Sprintf("%s:%d: %s: %s", p.path, p.line(m), key, what))
}

// child returns the object that is the value of a member, nil if there is none.
func child(o *hujson.Object, name string) *hujson.Object {
	if m := jsonedit.Member(o, name); m != nil {
		inner, _ := m.Value.Value.(*hujson.Object)
		return inner
	}
	return nil
}

// standard returns a value as plain JSON.
func standard(v hujson.Value) []byte {
	v = v.Clone()
	v.Standardize()
	return bytes.TrimSpace(v.Pack())
}

func decode[T any](m *hujson.ObjectMember) (T, bool) {
	var out T
	err := json.Unmarshal(standard(m.Value), &out)
	return out, err == nil
}
