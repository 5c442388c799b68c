// Package rawjson reads single values of JSON that is kept in its raw form: the type of a value, and a
// string, a boolean or a member of it, without an error if it is something else.
//
// It must not know what the JSON is for.
package rawjson

import (
	"bytes"
	"encoding/json"
)

// Member returns one member of a raw object, nil if there is none.
func Member(raw json.RawMessage, name string) json.RawMessage {
	var m map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m[name]
}

// String returns a raw string's text, "" for any other value.
func String(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Bool reports whether a raw value is true.
func Bool(raw json.RawMessage) bool {
	var b bool
	return len(raw) > 0 && json.Unmarshal(raw, &b) == nil && b
}

// Null reports whether a raw value is null or missing.
func Null(raw json.RawMessage) bool { return len(raw) == 0 || string(bytes.TrimSpace(raw)) == "null" }

// Kind names the type of a raw value with its article: "an object".
func Kind(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "missing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
