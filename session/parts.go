package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// decodeParts reads a message's parts column.
func decodeParts(b []byte, to *[]Part) error {
	if len(b) == 0 {
		return errors.New("its content is empty")
	}
	if parts, ok := plainParts(b); ok {
		*to = parts
		return nil
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("its content is not valid JSON: %w", err)
	}
	return nil
}

// plainParts reads the form of nearly all rows: text without data, as History.Append writes
// it. It takes a third of the time of the general decoder, which matters because resuming a
// long session is mostly this. For any other form ok is false.
func plainParts(b []byte) (parts []Part, ok bool) {
	if len(b) < 2 || b[0] != '[' || !utf8.Valid(b) {
		return nil, false
	}
	parts = []Part{}
	for b = b[1:]; ; b = b[1:] {
		var p Part
		if b, ok = cutPrefix(b, `{"kind":"`); !ok {
			return parts, string(b) == "]" && len(parts) == 0
		}
		if p.Kind, b, ok = plainString(b); !ok {
			return nil, false
		}
		var hasText bool
		if b, hasText = cutPrefix(b, `,"text":"`); hasText {
			if p.Text, b, ok = plainString(b); !ok {
				return nil, false
			}
		}
		if b, ok = cutPrefix(b, "}"); !ok || len(b) == 0 {
			return nil, false
		}
		parts = append(parts, p)
		if b[0] != ',' {
			return parts, string(b) == "]"
		}
	}
}

func cutPrefix(b []byte, prefix string) ([]byte, bool) {
	if len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix {
		return b[len(prefix):], true
	}
	return b, false
}

// plainString reads a JSON string after its opening quote, and returns what follows its
// closing quote.
func plainString(b []byte) (s string, rest []byte, ok bool) {
	end := bytes.IndexAny(b, "\"\\")
	if end < 0 || hasControl(b[:end]) {
		return "", nil, false
	}
	if b[end] == '"' {
		return string(b[:end]), b[end+1:], true
	}
	out := make([]byte, 0, len(b))
	for {
		out, b = append(out, b[:end]...), b[end:]
		if b[0] == '"' {
			return string(out), b[1:], true
		}
		if out, b, ok = escape(out, b); !ok {
			return "", nil, false
		}
		if end = bytes.IndexAny(b, "\"\\"); end < 0 || hasControl(b[:end]) {
			return "", nil, false
		}
	}
}

func hasControl(b []byte) bool {
	for _, c := range b {
		if c < ' ' {
			return true
		}
	}
	return false
}

// escape appends the character of the escape sequence at the beginning of b. Surrogates are
// left to the general decoder.
func escape(out, b []byte) (appended, rest []byte, ok bool) {
	if len(b) < 2 {
		return nil, nil, false
	}
	switch c := b[1]; c {
	case '"', '\\', '/':
		return append(out, c), b[2:], true
	case 'n':
		return append(out, '\n'), b[2:], true
	case 't':
		return append(out, '\t'), b[2:], true
	case 'r':
		return append(out, '\r'), b[2:], true
	case 'u':
		if len(b) < 6 || b[2] == '+' || b[2] == '-' {
			return nil, nil, false
		}
		n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
		if err != nil || n >= 0xD800 && n < 0xE000 {
			return nil, nil, false
		}
		return utf8.AppendRune(out, rune(n)), b[6:], true
	}
	return nil, nil, false
}
