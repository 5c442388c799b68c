package config

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"jcode/tools/permission"

	"jcode/internal/jsonedit"
	"jcode/internal/text"
)

// field is one field of a struct of settings.
type field struct {
	name  string
	index int
	typ   reflect.Type
	tag   reflect.StructTag
}

// fieldsOf lists the fields of a struct type in order.
func fieldsOf(t reflect.Type) []field {
	list := make([]field, t.NumField())
	for i := range list {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		list[i] = field{name: name, index: i, typ: f.Type, tag: f.Tag}
	}
	return list
}

// values lists what an enum allows, nil if everything is allowed.
func (f field) values() []string {
	if e := f.tag.Get("enum"); e != "" {
		return strings.Split(e, ",")
	}
	return nil
}

// where is the place at which a setting was found.
type where struct {
	key    string
	offset int
}

// decoder fills a Config from a document and records what was set.
type decoder struct {
	*document
	set []where // in the order of the file
}

// object fills the fields of a struct. One bad member does not affect the others.
func (d *decoder) object(o *hujson.Object, into reflect.Value, prefix string) {
	fields := fieldsOf(into.Type())
	seen := map[string]bool{}
	for _, m := range o.Members {
		name, offset := jsonedit.Name(m), m.Name.StartOffset
		i := slices.IndexFunc(fields, func(f field) bool { return text.LooseKey(f.name) == text.LooseKey(name) })
		if i < 0 {
			if prefix == "" && name == "$schema" {
				continue
			}
			d.unknown(offset, prefix+name, prefix, fields)
			continue
		}
		f := fields[i]
		if seen[f.name] {
			d.harmless(offset, prefix+f.name, "is set here a second time; the last one applies")
		}
		seen[f.name] = true
		d.value(m.Value, into.Field(f.index), prefix+f.name, f)
	}
}

// unknown reports an unknown key, and the one that was probably meant.
func (d *decoder) unknown(offset int, key, prefix string, fields []field) {
	names := namesOf(fields)
	if near := text.Nearest(strings.TrimPrefix(key, prefix), names); near != "" {
		d.harmless(offset, key, "is not known and has no effect; did you mean %s%s?", prefix, near)
		return
	}
	d.harmless(offset, key, "is not known and has no effect; known here: %s", strings.Join(names, ", "))
}

// value fills one field. null is the same as omitting it.
func (d *decoder) value(v hujson.Value, into reflect.Value, key string, f field) {
	if v.Value.Kind() == 'n' {
		return
	}
	offset := v.StartOffset
	if into.Type().Kind() == reflect.Struct && !isCustom(into) {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			d.problem(offset, key, "must be an object with %s, not %s", known(into.Type()), kindName(v))
			return
		}
		d.object(o, into, key+".")
		return
	}
	if into.Kind() == reflect.Map && into.Type().Elem().Kind() != reflect.Interface {
		d.entries(v, into, key, f)
		return
	}
	fresh := reflect.New(into.Type()).Elem()
	if d.leaf(v, fresh, key, f) {
		into.Set(fresh)
		d.set = append(d.set, where{key, offset})
	}
}

// entries fills a map, entry by entry.
func (d *decoder) entries(v hujson.Value, into reflect.Value, key string, f field) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		d.problem(v.StartOffset, key, "must be an object, not %s", kindName(v))
		return
	}
	if into.IsNil() {
		into.Set(reflect.MakeMap(into.Type()))
	}
	for _, m := range o.Members {
		name := jsonedit.Name(m)
		entry := reflect.New(into.Type().Elem()).Elem()
		path := key + "." + name
		if entry.Kind() == reflect.Struct && !isCustom(entry) {
			inner, ok := m.Value.Value.(*hujson.Object)
			if !ok {
				d.problem(m.Value.StartOffset, path, "must be an object with %s, not %s", known(entry.Type()), kindName(m.Value))
				continue
			}
			sub := decoder{document: d.document}
			sub.object(inner, entry, path+".")
		} else if !d.leaf(m.Value, entry, path, f) {
			continue
		}
		into.SetMapIndex(reflect.ValueOf(name), entry)
		d.set = append(d.set, where{path, m.Value.StartOffset})
	}
}

// leaf fills a value without keys of its own; it returns false when the value does not fit.
func (d *decoder) leaf(v hujson.Value, into reflect.Value, key string, f field) bool {
	if c, ok := into.Addr().Interface().(custom); ok {
		if err := c.parse(plain(v)); err != nil {
			d.problem(v.StartOffset, key, "%v, not %s", err, brief(v, key))
			return false
		}
		return true
	}
	switch into.Kind() {
	case reflect.Pointer:
		inner := reflect.New(into.Type().Elem())
		if !d.leaf(v, inner.Elem(), key, f) {
			return false
		}
		into.Set(inner)
		return true
	case reflect.String:
		return d.text(v, into, key, f)
	case reflect.Bool:
		if k := v.Value.Kind(); k != 't' && k != 'f' {
			d.problem(v.StartOffset, key, "must be true or false, not %s", brief(v, key))
			return false
		}
		into.SetBool(v.Value.Kind() == 't')
		return true
	case reflect.Int, reflect.Float64:
		return d.number(v, into, key, f)
	case reflect.Slice:
		return d.list(v, into, key, f)
	case reflect.Map: // of any type: the values belong to someone else
		m, ok := plain(v).(map[string]any)
		if !ok {
			d.problem(v.StartOffset, key, "must be an object, not %s", kindName(v))
			return false
		}
		into.Set(reflect.ValueOf(m))
		return true
	default:
		panic("config: no reader for " + into.Type().String()) // a test decodes every field
	}
}

func (d *decoder) text(v hujson.Value, into reflect.Value, key string, f field) bool {
	s, ok := plain(v).(string)
	allowed := f.values()
	switch {
	case !ok && allowed != nil:
		d.problem(v.StartOffset, key, "must be one of %s, not %s", strings.Join(allowed, ", "), brief(v, key))
		return false
	case !ok:
		d.problem(v.StartOffset, key, "must be a text in double quotes, not %s", brief(v, key))
		return false
	case allowed != nil && !slices.Contains(allowed, s):
		hint := ""
		if near := text.Nearest(s, allowed); near != "" {
			hint = "; did you mean " + near + "?"
		}
		d.problem(v.StartOffset, key, "must be one of %s, not %s%s", strings.Join(allowed, ", "), brief(v, key), hint)
		return false
	}
	if !d.rule(v, s, key, f.tag.Get("rule")) || !d.named(v, s, key, f) {
		return false
	}
	into.SetString(s)
	return true
}

// named checks a name that is known, or that of a file in a folder beside the configuration.
func (d *decoder) named(v hujson.Value, name, key string, f field) bool {
	folder := f.tag.Get("files")
	if folder == "" || name == "" {
		return true
	}
	known := strings.Split(f.tag.Get("known"), ",")
	if slices.Contains(known, name) {
		return true
	}
	if filepath.Base(name) == name {
		if _, err := os.Stat(filepath.Join(filepath.Dir(d.file), folder, name+".json")); err == nil {
			return true
		}
	}
	hint := ""
	if near := text.Nearest(name, known); near != "" {
		hint = "; did you mean " + near + "?"
	}
	d.problem(v.StartOffset, key, "must be one of %s, or the name of a file in %s, not %s%s", strings.Join(known, ", "), folder, brief(v, key), hint)
	return false
}

// rule checks a rule of this effect. One that no tool can match is a fault that stays in the list: a tool of
// that name may come.
func (d *decoder) rule(v hujson.Value, s, key, effect string) bool {
	var err error
	switch effect {
	case "":
		return true
	case "allow":
		_, err = permission.ParseRule(s)
	default:
		_, err = permission.ParseRestriction(s)
	}
	if err != nil {
		d.problem(v.StartOffset, key, "%v", err)
	}
	none := (*permission.NoTool)(nil)
	return err == nil || errors.As(err, &none)
}

func (d *decoder) number(v hujson.Value, into reflect.Value, key string, f field) bool {
	n, ok := plain(v).(float64)
	what := "a number"
	if into.Kind() == reflect.Int {
		what = "a whole number"
		ok = ok && n == math.Trunc(n) && math.Abs(n) < 1<<53
	}
	if least := f.tag.Get("min"); least != "" {
		what += ", at least " + least
		bound, err := strconv.ParseFloat(least, 64)
		ok = ok && err == nil && n >= bound
	}
	if !ok {
		d.problem(v.StartOffset, key, "must be %s, not %s", what, brief(v, key))
		return false
	}
	if into.Kind() == reflect.Int {
		into.SetInt(int64(n))
	} else {
		into.SetFloat(n)
	}
	return true
}

// list fills a slice; an element that does not fit is omitted, the others stay.
func (d *decoder) list(v hujson.Value, into reflect.Value, key string, f field) bool {
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		d.problem(v.StartOffset, key, "must be a list in [ ], not %s", brief(v, key))
		return false
	}
	out := reflect.MakeSlice(into.Type(), 0, len(a.Elements))
	for i, e := range a.Elements {
		item := reflect.New(into.Type().Elem()).Elem()
		path := fmt.Sprintf("%s[%d]", key, i)
		if item.Kind() != reflect.Struct {
			if d.leaf(e, item, path, f) {
				out = reflect.Append(out, item)
			}
			continue
		}
		o, ok := e.Value.(*hujson.Object)
		if !ok {
			d.problem(e.StartOffset, path, "must be an object with %s, not %s", known(item.Type()), brief(e, path))
			continue
		}
		sub := decoder{document: d.document}
		sub.object(o, item, path+".")
		if missing := lacking(item); missing != "" {
			d.problem(e.StartOffset, path, "lacks %q", missing)
			continue
		}
		out = reflect.Append(out, item)
	}
	into.Set(out)
	return true
}

// lacking names a required field that is empty.
func lacking(v reflect.Value) string {
	for _, f := range fieldsOf(v.Type()) {
		if f.tag.Get("required") != "" && v.Field(f.index).IsZero() {
			return f.name
		}
	}
	return ""
}

func isCustom(v reflect.Value) bool {
	_, ok := reflect.New(v.Type()).Interface().(custom)
	return ok
}

func known(t reflect.Type) string { return strings.Join(namesOf(fieldsOf(t)), ", ") }

func namesOf(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

func kindName(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case '0':
		return "a number"
	case 't', 'f':
		return "true or false"
	}
	return "null"
}

// brief shows a value in a message; a value that is long, has parts or may be a secret is only named.
func brief(v hujson.Value, key string) string {
	if l, ok := v.Value.(hujson.Literal); ok && len(l) <= 40 && !secretPath(key) {
		return string(l)
	}
	return kindName(v)
}
