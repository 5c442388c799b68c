package ordered

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strings"
)

// From converts a Go value that JSON can express into an ordered one. Strings keep their bytes,
// struct fields follow their json tags, map keys are sorted, and JSON within it is decoded by d.
// It fails on what JSON cannot hold.
func (d Decoder) From(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, float64, string, *Object:
		return v, nil
	case json.RawMessage:
		return d.Decode(v)
	case []any:
		return d.fromSlice(reflect.ValueOf(v))
	}
	return d.fromReflect(reflect.ValueOf(v))
}

func (d Decoder) fromReflect(rv reflect.Value) (any, error) {
	switch rv.Kind() {
	case reflect.Invalid:
		return nil, nil
	case reflect.Pointer, reflect.Interface:
		if rv.IsNil() {
			return nil, nil
		}
		if rv.Kind() == reflect.Interface {
			return d.From(rv.Elem().Interface())
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
		return nil, errNotFinite
	}
	if m, ok := rv.Interface().(json.Marshaler); ok {
		raw, err := m.MarshalJSON()
		if err != nil {
			return nil, err
		}
		return d.Decode(raw)
	}
	switch rv.Kind() {
	case reflect.Pointer:
		return d.fromReflect(rv.Elem())
	case reflect.Slice, reflect.Array:
		return d.fromSlice(rv)
	case reflect.Map:
		return d.fromMap(rv)
	case reflect.Struct:
		o := &Object{}
		return o, d.fromStruct(o, rv)
	}
	return nil, fmt.Errorf("cannot convert a %s", rv.Type())
}

func (d Decoder) fromSlice(rv reflect.Value) (any, error) {
	if rv.Kind() == reflect.Slice && rv.Type().Elem().Kind() == reflect.Uint8 {
		return string(rv.Bytes()), nil
	}
	out := make([]any, rv.Len())
	for i := range out {
		v, err := d.From(rv.Index(i).Interface())
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i+1, err)
		}
		out[i] = v
	}
	return out, nil
}

func (d Decoder) fromMap(rv reflect.Value) (any, error) {
	keys := rv.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return fmt.Sprint(keys[i]) < fmt.Sprint(keys[j]) })
	o := &Object{}
	for _, k := range keys {
		v, err := d.From(rv.MapIndex(k).Interface())
		if err != nil {
			return nil, fmt.Errorf("%v: %w", k, err)
		}
		o.add(fmt.Sprint(k), v)
	}
	return o, nil
}

func (d Decoder) fromStruct(o *Object, rv reflect.Value) error {
	t := rv.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || (!f.IsExported() && !f.Anonymous) {
			continue
		}
		fv := rv.Field(i)
		if f.Anonymous && name == "" && fv.Kind() == reflect.Struct {
			if err := d.fromStruct(o, fv); err != nil {
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
		v, err := d.From(fv.Interface())
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
