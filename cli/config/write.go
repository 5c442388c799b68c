package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"jcode/internal/jsonedit"
	"jcode/internal/text"
)

// Set writes one setting into a file, by its dotted key; nil removes it. Everything else in the file stays as
// it is, including comments and unknown keys; if two programs write at once, both settings are there
// afterwards. An unknown key, a value that does not fit, or a file that does not parse is an error, and
// nothing is written.
func Set(file, key string, value any) error {
	path, err := canonical(key)
	if err != nil {
		return err
	}
	if value == nil {
		return jsonedit.Edit(file, func(root *hujson.Object) error {
			remove(root, path)
			return nil
		})
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("set %s: %w", key, err)
	}
	if err := check(file, path, raw); err != nil {
		return err
	}
	return jsonedit.Edit(file, func(root *hujson.Object) error {
		return jsonedit.Set(root, spelled(root, path), raw)
	})
}

// Include adds a text to a list in a file, or removes it, under the same rules as Set.
func Include(file, key, item string, in bool) error {
	path, err := canonical(key)
	if err != nil {
		return err
	}
	return jsonedit.Edit(file, func(root *hujson.Object) error {
		path := spelled(root, path)
		list := texts(root, path)
		if slices.Contains(list, item) == in {
			return nil
		}
		if in {
			list = append(list, item)
		} else {
			list = slices.DeleteFunc(list, func(s string) bool { return s == item })
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return fmt.Errorf("set %s: %w", key, err)
		}
		if err := check(file, path, raw); err != nil {
			return err
		}
		return jsonedit.Set(root, path, raw)
	})
}

// texts returns the texts of the list at a path.
func texts(root *hujson.Object, path []string) []string {
	v := find(root, path)
	if v == nil {
		return []string{}
	}
	list, _ := plain(*v).([]any)
	out := []string{}
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func find(o *hujson.Object, path []string) *hujson.Value {
	m := jsonedit.Member(o, path[0])
	if m == nil {
		return nil
	}
	if len(path) == 1 {
		return &m.Value
	}
	inner, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	return find(inner, path[1:])
}

// remove removes a member, along with an object that becomes empty.
func remove(o *hujson.Object, path []string) {
	path = spelled(o, path)
	if len(path) == 1 {
		jsonedit.Delete(o, path[0])
		return
	}
	m := jsonedit.Member(o, path[0])
	if m == nil {
		return
	}
	inner, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		return
	}
	before := len(inner.Members)
	remove(inner, path[1:])
	if before > 0 && len(inner.Members) == 0 && len(strings.TrimSpace(string(inner.AfterExtra))) == 0 {
		jsonedit.Delete(o, path[0])
	}
}

// spelled returns a path in the file's spelling: the file may contain maxTools as max_tools.
func spelled(o *hujson.Object, path []string) []string {
	out := slices.Clone(path)
	for i, name := range path {
		var next *hujson.Object
		for _, m := range o.Members {
			if has := jsonedit.Name(m); text.LooseKey(has) == text.LooseKey(name) && jsonedit.Member(o, name) == nil || has == name {
				out[i] = has
				next, _ = m.Value.Value.(*hujson.Object)
			}
		}
		if next == nil {
			break
		}
		o = next
	}
	return out
}

// canonical parses a dotted key and returns its parts in jcode's spelling. The rest after the name of a map's
// entry belongs to the entry; the entry's own name is kept.
func canonical(key string) ([]string, error) {
	var out []string
	t := reflect.TypeFor[Config]()
	for rest := key; ; {
		if t.Kind() == reflect.Map {
			if rest == "" {
				return nil, fmt.Errorf("%s: name an entry, such as %s.NAME", key, key)
			}
			name, after, more := rest, "", false
			if t.Elem().Kind() == reflect.Struct {
				name, after, more = strings.Cut(rest, ".")
			}
			out = append(out, name)
			if !more {
				return out, nil
			}
			t, rest = t.Elem(), after
			continue
		}
		name, after, more := strings.Cut(rest, ".")
		fields := fieldsOf(t)
		i := slices.IndexFunc(fields, func(f field) bool { return text.LooseKey(f.name) == text.LooseKey(name) })
		if i < 0 {
			return nil, unknownKey(key, strings.Join(out, "."), name, fields)
		}
		out = append(out, fields[i].name)
		t = fields[i].typ
		section := t.Kind() == reflect.Struct && !isCustom(reflect.Zero(t)) || t.Kind() == reflect.Map && t.Elem().Kind() != reflect.Interface
		switch {
		case more && !section:
			return nil, fmt.Errorf("%s: %s has no parts", key, strings.Join(out, "."))
		case !more:
			return out, nil
		}
		rest = after
	}
}

func unknownKey(key, section, name string, fields []field) error {
	names := namesOf(fields)
	if section != "" {
		name = section + "." + name
		for i := range names {
			names[i] = section + "." + names[i]
		}
	}
	if near := text.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no setting %s; did you mean %s?", key, near)
	}
	return fmt.Errorf("there is no setting %s; there are %s", key, strings.Join(names, ", "))
}

// check reads a value as Load would from a file, beside which others may lie, and returns the first error.
func check(file string, path []string, raw json.RawMessage) error {
	for i := len(path) - 1; i >= 0; i-- {
		name, err := json.Marshal(path[i])
		if err != nil {
			return fmt.Errorf("set %s: %w", strings.Join(path, "."), err)
		}
		raw = json.RawMessage(fmt.Sprintf("{%s:%s}", name, raw))
	}
	var c Config
	d := &decoder{document: parse(file, raw)}
	d.object(d.root, reflect.ValueOf(&c).Elem(), "")
	if len(d.problems) > 0 {
		p := d.problems[0]
		return errors.New(strings.TrimPrefix(p.Key+": ", ": ") + p.Text)
	}
	return nil
}
