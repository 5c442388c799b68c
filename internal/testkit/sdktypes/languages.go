package sdktypes

import (
	"fmt"
	"strings"
)

// golang writes some records of a group, and with the first of them what all have in common.
func golang(g group, records []record, first bool) string {
	var b strings.Builder
	raw := false
	for _, r := range records {
		fmt.Fprintf(&b, "\n// %s %s\ntype %s struct {", r.name, r.doc, r.name)
		if len(r.fields) == 0 && !g.extends(r) {
			b.WriteString("}\n")
			continue
		}
		b.WriteString("\n")
		if g.extends(r) {
			b.WriteString(g.common + "\n")
		}
		for _, f := range r.fields {
			t := goType(f.schema, f.record)
			if strings.Contains(t, "RawMessage") {
				raw = true
			}
			tag := f.name
			if !f.required {
				tag += ",omitempty"
				if f.record == t {
					t = "*" + t
				}
			}
			fmt.Fprintf(&b, "\t%s %s `json:%q`\n", pascal(f.name), t, tag)
		}
		b.WriteString("}\n")
	}
	if first && g.index == "Lines" {
		b.WriteString("\n// Line is a line of input, for Session.Send.\ntype Line interface{ kind() string }\n\n")
		for _, name := range g.listed {
			for _, r := range g.records {
				if r.name == name {
					fmt.Fprintf(&b, "func (%s) kind() string { return %q }\n", name, r.key)
				}
			}
		}
	}
	head := "// " + note + "\n\npackage sdk\n"
	if raw {
		head += "\nimport \"encoding/json\"\n"
	}
	return head + b.String()
}

func goType(s *Schema, record string) string {
	switch s.kind() {
	case "string":
		if s.Encoding == "base64" {
			return "[]byte"
		}
		return "string"
	case "integer":
		return pointer(s) + "int64"
	case "number":
		return pointer(s) + "float64"
	case "boolean":
		return pointer(s) + "bool"
	case "array":
		return "[]" + goType(s.Items, record)
	case "object":
		switch {
		case record != "" && s.null():
			return "*" + record
		case record != "":
			return record
		case s.Values != nil && !s.Values.Any:
			return "map[string]" + goType(s.Values, "")
		}
		return "map[string]any"
	}
	return "json.RawMessage"
}

func pointer(s *Schema) string {
	if s.null() {
		return "*"
	}
	return ""
}

func typeScript(groups []group) string {
	var b strings.Builder
	b.WriteString("// " + note + "\n")
	for _, g := range groups {
		fmt.Fprintf(&b, "\n// %s\n", g.doc)
		for _, r := range g.records {
			extends := ""
			if g.extends(r) {
				extends = " extends " + g.common
			}
			fmt.Fprintf(&b, "\n/** %s %s */\nexport interface %s%s {\n", r.name, r.doc, r.name, extends)
			for _, f := range r.fields {
				optional := "?"
				if f.required {
					optional = ""
				}
				fmt.Fprintf(&b, "  %s%s: %s;\n", f.name, optional, tsType(f.schema, f.record))
			}
			b.WriteString("}\n")
		}
		if g.index == "" {
			continue
		}
		fmt.Fprintf(&b, "\n/** The types of these by their words. */\nexport interface %s {\n", g.index)
		for _, r := range g.records {
			for _, name := range g.listed {
				if name == r.name {
					fmt.Fprintf(&b, "  %q: %s;\n", r.key, r.name)
				}
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func tsType(s *Schema, record string) string {
	t := "unknown"
	switch s.kind() {
	case "string":
		t = "string"
	case "integer", "number":
		t = "number"
	case "boolean":
		t = "boolean"
	case "array":
		t = "Array<" + tsType(s.Items, record) + ">"
	case "object":
		switch {
		case record != "":
			t = record
		case s.Values != nil && !s.Values.Any:
			t = "Record<string, " + tsType(s.Values, "") + ">"
		default:
			t = "Record<string, unknown>"
		}
	}
	if s.Const != "" {
		t = fmt.Sprintf("%q", s.Const)
	}
	if s.null() {
		t += " | null"
	}
	return t
}

func python(groups []group) string {
	var b strings.Builder
	b.WriteString("# " + note + "\n\"\"\"The types of what jcode writes and reads, for type checkers.\"\"\"\n\nfrom typing import Any, Literal, TypedDict, Union\n")
	var all []string
	for _, g := range groups {
		fmt.Fprintf(&b, "\n# %s\n", g.doc)
		for _, r := range g.records {
			var needed, optional []string
			for _, f := range r.fields {
				entry := fmt.Sprintf("    %q: %s,\n", f.name, pyType(f.schema, f.record))
				if f.required {
					needed = append(needed, entry)
				} else {
					optional = append(optional, entry)
				}
			}
			bases := ""
			for _, part := range []struct {
				name, end string
				fields    []string
			}{{"_" + r.name, "", needed}, {"_" + r.name + "More", ", total=False", optional}} {
				if len(part.fields) > 0 {
					fmt.Fprintf(&b, "\n%[1]s = TypedDict(\"%[1]s\", {\n%[2]s}%[3]s)\n", part.name, strings.Join(part.fields, ""), part.end)
					bases += part.name + ", "
				}
			}
			if g.extends(r) {
				bases += g.common
			}
			if bases = strings.TrimSuffix(bases, ", "); bases == "" {
				bases = "TypedDict"
			}
			fmt.Fprintf(&b, "\n\nclass %[1]s(%[2]s):\n    \"\"\"%[1]s %[3]s\"\"\"\n\n", r.name, bases, r.doc)
			all = append(all, r.name)
		}
		if g.index != "" {
			fmt.Fprintf(&b, "\n%s = Union[\n    %s,\n]\n", strings.TrimSuffix(g.index, "s"), strings.Join(g.listed, ",\n    "))
			all = append(all, strings.TrimSuffix(g.index, "s"))
		}
	}
	fmt.Fprintf(&b, "\n__all__ = [\n    \"%s\",\n]\n", strings.Join(all, "\",\n    \""))
	return b.String()
}

func pyType(s *Schema, record string) string {
	t := "Any"
	switch s.kind() {
	case "string":
		t = "str"
	case "integer":
		t = "int"
	case "number":
		t = "float"
	case "boolean":
		t = "bool"
	case "array":
		t = "list[" + pyType(s.Items, record) + "]"
	case "object":
		switch {
		case record != "":
			t = record
		case s.Values != nil && !s.Values.Any:
			t = "dict[str, " + pyType(s.Values, "") + "]"
		default:
			t = "dict[str, Any]"
		}
	}
	if s.Const != "" {
		t = fmt.Sprintf("Literal[%q]", s.Const)
	}
	if s.null() {
		t = "Union[" + t + ", None]"
	}
	return t
}
