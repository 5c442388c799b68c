package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"unicode/utf8"

	"jcode/internal/ordered"
)

// A value is one of: nil, bool, float64, string (any bytes), []any, *Object.

// Object is a table with names: JSON that keeps the order of its keys.
type Object = ordered.Object

// NewObject returns an object of alternating keys and values.
func NewObject(pairs ...any) *Object { return ordered.New(pairs...) }

// MaxExact is the largest integer that a Lua number holds exactly.
const MaxExact = ordered.MaxExact

// The limits of a value on its way between the two sides.
const (
	MaxDepth = 64
	MaxNodes = 1_000_000
)

// maxEnvelopeDepth leaves room for the message around a value of MaxDepth.
const maxEnvelopeDepth = MaxDepth + 8

// Encode returns the wire form of a value: JSON whose strings may carry any bytes.
func Encode(v any) ([]byte, error) {
	return encoder().Encode(v)
}

func encoder() ordered.Encoder { return ordered.Encoder{MaxDepth: maxEnvelopeDepth, Text: appendText} }

// EncodeJSON returns plain JSON: bytes that are not UTF-8 become U+FFFD. With sorted the
// keys of each object are in order, else as they were set.
func EncodeJSON(v any, sorted bool) ([]byte, error) {
	return ordered.Encoder{MaxDepth: maxEnvelopeDepth, Sorted: sorted}.Encode(v)
}

// Decode reads the wire form of one value. It fails on anything else in data, on more
// than MaxNodes values and on nesting beyond MaxDepth.
func Decode(data []byte) (any, error) {
	d := plain()
	d.Text = text
	return d.Decode(data)
}

// DecodeJSON reads plain JSON with the order of keys kept. Lone surrogates become
// U+FFFD, as do bytes that are not UTF-8.
func DecodeJSON(data []byte) (any, error) { return plain().Decode(data) }

// DecodeUnique is DecodeJSON for a text of a person: a key that an object has twice is an error.
func DecodeUnique(data []byte) (any, error) {
	d := plain()
	d.Unique = true
	return d.Decode(data)
}

// From converts a Go value that JSON can express. Strings keep their bytes.
func From(v any) (any, error) { return plain().From(v) }

func plain() ordered.Decoder { return ordered.Decoder{MaxDepth: maxEnvelopeDepth, MaxNodes: MaxNodes} }

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
			return nil, fmt.Errorf("item %d is not text", i+1)
		}
	}
	return out, nil
}

// appendText appends a string in the wire form: bytes that JSON text cannot carry, and text
// that escaping would inflate, travel as NUL and base64.
func appendText(buf []byte, s string) []byte {
	if !needsBase64(s) {
		return ordered.AppendText(buf, s)
	}
	buf = append(buf, `"\u0000`...)
	buf = base64.StdEncoding.AppendEncode(buf, []byte(s))
	return append(buf, '"')
}

// text turns the bytes of a string in the wire form into its value.
func text(s []byte) (string, error) {
	if !utf8.Valid(s) {
		return "", errors.New("a string is not UTF-8")
	}
	if len(s) == 0 || s[0] != 0 {
		return string(s), nil
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(string(s[1:]))
	if err != nil {
		return "", errors.New("bad base64")
	}
	return string(raw), nil
}

// needsBase64 reports whether s must, or should, travel as base64.
func needsBase64(s string) bool {
	if s == "" {
		return false
	}
	if s[0] == 0 || !utf8.ValidString(s) {
		return true
	}
	extra := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r':
			extra++
		case c < 0x20:
			extra += 5
		}
	}
	return extra > len(s)/3+8
}
