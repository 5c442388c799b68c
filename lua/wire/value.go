package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strings"
)

// A value is one of: nil, bool, float64, string (any bytes), []any, *Object.

// Object is a JSON object that keeps the order of its keys. The zero value is empty
// and ready to use.
type Object struct {
	keys  []string
	vals  []any
	index map[string]int // built on demand once there are many keys
}

// indexFrom is the number of keys from which a map pays off.
const indexFrom = 12

// NewObject makes an object of alternating keys and values.
func NewObject(pairs ...any) *Object {
	o := &Object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// Len returns the number of members; a nil object has none.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.keys)
}

// At returns the i-th member.
func (o *Object) At(i int) (key string, value any) { return o.keys[i], o.vals[i] }

func (o *Object) find(key string) int {
	if o == nil {
		return -1
	}
	if len(o.keys) >= indexFrom {
		if o.index == nil {
			o.index = make(map[string]int, len(o.keys))
			for i, k := range o.keys {
				o.index[k] = i
			}
		}
		if i, ok := o.index[key]; ok {
			return i
		}
		return -1
	}
	for i := len(o.keys) - 1; i >= 0; i-- {
		if o.keys[i] == key {
			return i
		}
	}
	return -1
}

// Get returns the value of key, nil when absent.
func (o *Object) Get(key string) any {
	v, _ := o.Lookup(key)
	return v
}

// Lookup returns the value of key and whether it is there.
func (o *Object) Lookup(key string) (any, bool) {
	if i := o.find(key); i >= 0 {
		return o.vals[i], true
	}
	return nil, false
}

// Set replaces the value of key, or appends the member.
func (o *Object) Set(key string, value any) {
	if i := o.find(key); i >= 0 {
		o.vals[i] = value
		return
	}
	o.add(key, value)
}

// add appends a member without looking for an older one of the same key.
func (o *Object) add(key string, value any) {
	if o.index != nil {
		o.index[key] = len(o.keys)
	}
	o.keys = append(o.keys, key)
	o.vals = append(o.vals, value)
}

// Delete removes key if it is there.
func (o *Object) Delete(key string) {
	i := o.find(key)
	if i < 0 {
		return
	}
	o.keys = append(o.keys[:i], o.keys[i+1:]...)
	o.vals = append(o.vals[:i], o.vals[i+1:]...)
	o.index = nil
}

// Clone makes a shallow copy.
func (o *Object) Clone() *Object {
	if o == nil {
		return &Object{}
	}
	return &Object{keys: append([]string(nil), o.keys...), vals: append([]any(nil), o.vals...)}
}

// String returns the string under key, "" when absent or of another type.
func (o *Object) String(key string) string {
	s, _ := o.Get(key).(string)
	return s
}

// Bool returns the boolean under key, false when absent or of another type.
func (o *Object) Bool(key string) bool {
	b, _ := o.Get(key).(bool)
	return b
}

// Number returns the number under key and whether there is one.
func (o *Object) Number(key string) (float64, bool) {
	n, ok := o.Get(key).(float64)
	return n, ok
}

// Texts reads a list of texts. An empty Lua table arrives as an empty object.
func Texts(v any) ([]string, error) {
	if o, ok := v.(*Object); ok && o.Len() == 0 {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("no list")
	}
	out := make([]string, len(list))
	for i, item := range list {
		if out[i], ok = item.(string); !ok {
			return nil, fmt.Errorf("item %d is no text", i+1)
		}
	}
	return out, nil
}

// MarshalJSON encodes the object as plain JSON in its own order.
func (o *Object) MarshalJSON() ([]byte, error) { return EncodeJSON(o, false) }

// From converts a JSON-encodable Go value. Strings keep their bytes, struct fields
// follow their json tags, map keys are sorted. It fails on what JSON cannot hold.
func From(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, float64, string, *Object:
		return v, nil
	case json.RawMessage:
		return DecodeJSON(v)
	case []any:
		return fromSlice(reflect.ValueOf(v))
	}
	return fromReflect(reflect.ValueOf(v))
}

func fromReflect(rv reflect.Value) (any, error) {
	switch rv.Kind() {
	case reflect.Invalid:
		return nil, nil
	case reflect.Pointer, reflect.Interface:
		if rv.IsNil() {
			return nil, nil
		}
		if rv.Kind() == reflect.Interface {
			return From(rv.Elem().Interface())
		}
	case reflect.Bool:
		return rv.Bool(), nil
	case reflect.String:
		return rv.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return float64(rv.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return float64(rv.Uint()), nil
	case reflect.Float32, reflect.Float64:
		if f := rv.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
		return nil, fmt.Errorf("a number is not finite")
	}
	if m, ok := rv.Interface().(json.Marshaler); ok {
		raw, err := m.MarshalJSON()
		if err != nil {
			return nil, err
		}
		return DecodeJSON(raw)
	}
	switch rv.Kind() {
	case reflect.Pointer:
		return fromReflect(rv.Elem())
	case reflect.Slice, reflect.Array:
		return fromSlice(rv)
	case reflect.Map:
		return fromMap(rv)
	case reflect.Struct:
		o := &Object{}
		return o, fromStruct(o, rv)
	}
	return nil, fmt.Errorf("cannot convert a %s", rv.Type())
}

func fromSlice(rv reflect.Value) (any, error) {
	if rv.Kind() == reflect.Slice && rv.Type().Elem().Kind() == reflect.Uint8 {
		return string(rv.Bytes()), nil
	}
	out := make([]any, rv.Len())
	for i := range out {
		v, err := From(rv.Index(i).Interface())
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i+1, err)
		}
		out[i] = v
	}
	return out, nil
}

func fromMap(rv reflect.Value) (any, error) {
	keys := rv.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return fmt.Sprint(keys[i]) < fmt.Sprint(keys[j]) })
	o := &Object{}
	for _, k := range keys {
		v, err := From(rv.MapIndex(k).Interface())
		if err != nil {
			return nil, fmt.Errorf("%v: %w", k, err)
		}
		o.add(fmt.Sprint(k), v)
	}
	return o, nil
}

func fromStruct(o *Object, rv reflect.Value) error {
	t := rv.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || (!f.IsExported() && !f.Anonymous) {
			continue
		}
		fv := rv.Field(i)
		if f.Anonymous && name == "" && fv.Kind() == reflect.Struct {
			if err := fromStruct(o, fv); err != nil {
				return err
			}
			continue
		}
		if name == "" {
			name = f.Name
		}
		if strings.Contains(opts, "omitempty") && isEmpty(fv) {
			continue
		}
		v, err := From(fv.Interface())
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		o.Set(name, v)
	}
	return nil
}

// isEmpty is encoding/json's notion of empty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
