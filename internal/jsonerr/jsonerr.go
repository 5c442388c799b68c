// Package jsonerr owns the error messages for JSON that could not be decoded.
//
// It must not know what was decoded, or for whom.
package jsonerr

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Plain rewords a decoding error for people and models: a value of the wrong type is described by
// its place and by JSON's types, never by Go's. Other errors are returned unchanged.
func Plain(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	return &typeError{wrong}
}

type typeError struct{ wrong *json.UnmarshalTypeError }

func (e *typeError) Unwrap() error { return e.wrong }

func (e *typeError) Error() string {
	what, number := strings.CutPrefix(e.wrong.Value, "number ")
	want := typeName(e.wrong.Type)
	place := e.wrong.Field
	if place == "" {
		place = "the value"
	}
	switch {
	case number && want == "a whole number":
		return fmt.Sprintf("%s must be a whole number in range, not %s", place, what)
	case number:
		return fmt.Sprintf("%s must be %s, not the number %s", place, want, what)
	}
	return fmt.Sprintf("%s must be %s, not %s", place, want, article(what))
}

// typeName is the JSON type that a Go type is decoded from.
func typeName(t reflect.Type) string {
	if t == nil {
		return "another type"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "another type"
}

func article(jsonType string) string {
	switch jsonType {
	case "bool":
		return "a boolean"
	case "array", "object":
		return "an " + jsonType
	}
	return "a " + jsonType
}
