package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Subset is the part of JSON Schema in which an endpoint takes the schema of an answer.
type Subset struct {
	// Keywords are those that it knows.
	Keywords []string
	// Closed says that objects must not have other properties: a schema that leaves that open is closed.
	Closed bool
	// Required says that all properties must be required.
	Required bool
	// Depth and Properties are how deep objects and lists may nest, and how many properties there may be in all.
	Depth, Properties int
}

// Fit returns a schema as an endpoint takes it: what fits the result fits the schema too. The error says what in it the
// endpoint can't take.
func (s Subset) Fit(raw json.RawMessage) (json.RawMessage, error) {
	tree, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	root, ok := tree.(*Object)
	if !ok || root.String("type") != "object" {
		return nil, fmt.Errorf("it is no object at the top")
	}
	f := &fitting{Subset: s, root: root}
	if err := f.schema(root, "", 1); err != nil {
		return nil, err
	}
	if err := f.cycles(root, nil, 0); err != nil {
		return nil, err
	}
	return Print(root), nil
}

// fitting is one schema that is looked at.
type fitting struct {
	Subset
	root       *Object
	properties int
}

func (f *fitting) schema(o *Object, at string, depth int) error {
	where := at
	if where == "" {
		where = "the top"
	}
	if depth > f.Depth {
		return fmt.Errorf("%s is deeper than %d levels", where, f.Depth)
	}
	for _, name := range o.Names() {
		if !slices.Contains(f.Keywords, name) {
			return fmt.Errorf("%s has the keyword %s", where, name)
		}
	}
	if properties, ok := o.Get("properties").(*Object); ok {
		if f.properties += properties.Len(); f.properties > f.Properties {
			return fmt.Errorf("it has more than %d properties", f.Properties)
		}
		required := Strings(o, "required")
		for _, name := range properties.Names() {
			if f.Required && !slices.Contains(required, name) {
				return fmt.Errorf("%s has the property %s, which is not required", where, name)
			}
		}
	}
	if f.Closed && (o.String("type") == "object" || o.Get("properties") != nil) {
		switch more, given := o.Lookup("additionalProperties"); {
		case !given, more == true:
			o.Set("additionalProperties", false)
		case more != false:
			return fmt.Errorf("%s describes additionalProperties", where)
		}
	}
	var failed error
	for _, name := range slices.Clone(o.Names()) {
		deeper := depth
		switch name {
		case "properties", "items", "prefixItems":
			deeper++
		}
		each := func(n Node, at string) {
			switch sub, isObject := n.(*Object); {
			case failed != nil:
			case isObject:
				failed = f.schema(sub, at, deeper)
			case name != "additionalProperties":
				failed = fmt.Errorf("%s is no object", at)
			}
		}
		inner := strings.TrimPrefix(at+"."+name, ".")
		switch v := o.Get(name); Holds(name) {
		case Map:
			if m, ok := v.(*Object); ok {
				for i := range m.Len() {
					key, sub := m.At(i)
					each(sub, inner+"."+key)
				}
			}
		case List:
			list, _ := v.([]Node)
			for i, sub := range list {
				each(sub, fmt.Sprintf("%s[%d]", inner, i))
			}
		case One:
			each(v, inner)
		case Data:
		}
	}
	return failed
}

// cycles looks for a schema that contains itself, and for references that lead nowhere.
func (f *fitting) cycles(o *Object, within []*Object, depth int) error {
	if slices.Contains(within, o) {
		return fmt.Errorf("it contains itself")
	}
	if depth > MaxDepth || len(within) > MaxDepth {
		return fmt.Errorf("it is too deep")
	}
	within = append(slices.Clip(within), o)
	if ref := o.String("$ref"); ref != "" {
		target, ok := Resolve(f.root, ref)
		sub, isSchema := target.(*Object)
		if !ok || !isSchema {
			return fmt.Errorf("$ref %s leads nowhere", ref)
		}
		if err := f.cycles(sub, within, depth+1); err != nil {
			return err
		}
	}
	var failed error
	for _, name := range o.Names() {
		if name == "$defs" || name == "definitions" {
			continue // they are reached by references
		}
		one := NewObject()
		one.Set(name, o.Get(name))
		EachSub(one, func(sub *Object) {
			if failed == nil {
				failed = f.cycles(sub, within, depth+1)
			}
		})
	}
	return failed
}
