package lua

import (
	"fmt"
	"slices"
	"strings"

	"jcode/lua/wire"
	"jcode/tools"
)

// visible returns the tools that a script sees: those of its scope in registry order, and those
// that it has registered but not yet published.
func (s *principal) visible() []tools.Spec {
	var out []tools.Spec
	for _, e := range s.around.opts.Registry.Snapshot(s.caller.Scope).List() {
		if e.Spec.Hidden && e.Spec.Group == tools.GroupLua {
			continue
		}
		out = append(out, e.Spec)
	}
	if s.script != nil {
		for _, i := range s.script.staged() {
			if !slices.ContainsFunc(out, func(sp tools.Spec) bool { return sp.Name == i.name }) {
				out = append(out, i.spec())
			}
		}
	}
	return out
}

// argument is one property of a schema.
type argument struct {
	name, kind, description string
	required                bool
}

func schemaArguments(spec tools.Spec) []argument {
	schema, ok := decodedSchema(spec)
	if !ok {
		return nil
	}
	required, _ := wire.Texts(schema.Get("required"))
	props := schema.Child("properties")
	var out []argument
	for i := range props.Len() {
		name, v := props.At(i)
		p, _ := v.(*wire.Object)
		a := argument{name: name, kind: schemaType(p), description: p.String("description"), required: slices.Contains(required, name)}
		if !a.required {
			a.kind += "?"
		}
		out = append(out, a)
	}
	return out
}

func schemaType(p *wire.Object) string {
	switch t := p.Get("type").(type) {
	case string:
		return t
	case []any:
		if list, err := wire.Texts(t); err == nil {
			return strings.Join(list, "|")
		}
	}
	return "any"
}

func (s *principal) toolSchemas() []any {
	out := []any{}
	for _, spec := range s.visible() {
		args := []any{}
		for _, a := range schemaArguments(spec) {
			args = append(args, wire.NewObject("name", a.name, "type", a.kind, "required", a.required, "description", a.description))
		}
		out = append(out, wire.NewObject("name", spec.Name, "description", spec.Description, "args", args))
	}
	return out
}

func (s *principal) intentDefs() []any {
	out := []any{}
	for _, spec := range s.visible() {
		o := wire.NewObject("name", spec.Name, "description", spec.Description)
		if schema, ok := decodedSchema(spec); ok {
			o.Set("parameters", schema)
		}
		out = append(out, o)
	}
	return out
}

func (s *principal) toolDescriptions() string {
	var b strings.Builder
	b.WriteString("Available intents (call them with jcode.dispatch(name, args)):\n\n")
	for _, spec := range s.visible() {
		var names []string
		for _, a := range schemaArguments(spec) {
			if a.required {
				names = append(names, a.name)
			} else {
				names = append(names, a.name+"?")
			}
		}
		fmt.Fprintf(&b, "%s(%s) - %s\n", spec.Name, strings.Join(names, ", "), strings.Join(strings.Fields(spec.Description), " "))
	}
	b.WriteString("\njcode.pwd - project root path (string).\n")
	return b.String()
}

func (s *principal) mcpServers() *wire.Object {
	list := []any{}
	if m := s.around.opts.MCP; m != nil {
		for _, st := range m.List() {
			if st.State == "connected" {
				list = append(list, wire.NewObject("name", st.Name))
			}
		}
	}
	return wire.NewObject("ok", true, "servers", list)
}

func (s *principal) mcpTools(server string) *wire.Object {
	list := []any{}
	for _, e := range s.around.opts.Registry.Snapshot(s.caller.Scope).List() {
		spec := e.Spec
		if spec.Group != tools.GroupMCP || server != "" && spec.Server != server {
			continue
		}
		o := wire.NewObject("name", spec.Name, "description", spec.Description, "server", spec.Server,
			"tool", strings.TrimPrefix(spec.Name, "mcp:"+spec.Server+":"))
		if schema, ok := decodedSchema(spec); ok {
			o.Set("parameters", schema)
		}
		list = append(list, o)
	}
	return wire.NewObject("ok", true, "tools", list)
}
