package config

import (
	"reflect"
	"strings"
)

// withoutPersonal returns a setting of a project without the parts that only the person's own file may have: what runs
// a program for a key, and what reads variables of the environment, which a project could send elsewhere.
func (l *Loaded) withoutPersonal(d *decoder, w where, v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Struct {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for _, f := range fieldsOf(v.Type()) {
		kind, part := f.tag.Get("personal"), out.Field(f.index)
		why := "has no effect in a project's file"
		switch {
		case kind == "" || part.IsZero():
			continue
		case kind == "variables":
			if !namesVariable(part) {
				continue
			}
			why = "names a variable of the environment, which has no effect in a project's file"
		}
		line, _ := d.at(w.offset)
		l.Problems = append(l.Problems, Problem{File: d.file, Line: line, Key: w.key + "." + f.name, Text: why})
		part.SetZero()
	}
	return out
}

// namesVariable reports whether a text, or one of a map, has a place for a variable.
func namesVariable(v reflect.Value) bool {
	if v.Kind() == reflect.String {
		return strings.Contains(v.String(), "${")
	}
	for _, key := range v.MapKeys() {
		if namesVariable(v.MapIndex(key)) {
			return true
		}
	}
	return false
}
