package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"jcode/internal/text"
)

// Large is the size in bytes from which a value is not copied unnecessarily.
const Large = 8 << 20

// Members splits an object without copying its values; nil if raw is not an object.
func Members(raw json.RawMessage) map[string]json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || len(raw) < Large && !json.Valid(raw) {
		return nil
	}
	return maps.Collect(EachMember(raw))
}

// Items splits an array without copying its values; ok is false if raw is not an array.
func Items(raw json.RawMessage) (out []json.RawMessage, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' || len(raw) < Large && !json.Valid(raw) {
		return nil, false
	}
	return slices.Collect(EachItem(raw)), true
}

// EachMember yields the members of a valid object in order, without copying their values.
func EachMember(object []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for rest := object[1:]; ; {
			rest = bytes.TrimLeft(rest, " \t\r\n,")
			if len(rest) == 0 || rest[0] == '}' {
				return
			}
			n := end(rest)
			name := String(rest[:n])
			rest = bytes.TrimLeft(rest[n:], " \t\r\n:")
			n = end(rest)
			if !yield(name, rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// EachItem yields the items of a valid array in order, without copying them.
func EachItem(array []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for rest := array[1:]; ; {
			rest = bytes.TrimLeft(rest, " \t\r\n,")
			if len(rest) == 0 || rest[0] == ']' {
				return
			}
			n := end(rest)
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// LongString decodes a JSON string with one copy, however long it is.
func LongString(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) < Large || raw[0] != '"' {
		return String(raw)
	}
	body := raw[1 : len(raw)-1]
	var b strings.Builder
	b.Grow(len(body))
	for len(body) > 0 {
		at := bytes.IndexByte(body, '\\')
		if at < 0 {
			at = len(body)
		}
		writeValid(&b, body[:at])
		body = body[at:]
		end := 0
		for end < len(body) && body[end] == '\\' { // a run of escapes: two may be one character
			if end++; end < len(body) && body[end] == 'u' {
				end += 4
			}
			end = min(end+1, len(body))
		}
		if end > 0 {
			escaped := append(append([]byte{'"'}, body[:end]...), '"')
			b.WriteString(String(escaped))
		}
		body = body[end:]
	}
	return b.String()
}

// writeValid writes text with invalid UTF-8 replaced, as JSON decoders do.
func writeValid(b *strings.Builder, data []byte) {
	if utf8.Valid(data) {
		b.Write(data)
		return
	}
	b.WriteString(strings.ToValidUTF8(string(data), "\ufffd"))
}

// end returns the length of the JSON value at the start of valid data.
func end(data []byte) int {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		c := data[i]
		if inString {
			switch c {
			case '\\':
				i++
			case '"':
				if inString = false; depth == 0 {
					return i + 1
				}
			}
			continue
		}
		switch c {
		case '"':
			inString = true
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 && i > 0 {
				return i
			}
		}
	}
	return len(data)
}

// Text returns a string's text, and any other value as written.
func Text(raw json.RawMessage) string {
	if Kind(raw) == "a string" {
		return text.Valid(String(raw))
	}
	return string(raw)
}
