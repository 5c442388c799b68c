package wire

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxEnvelopeDepth leaves room for the message around a value of MaxDepth.
const maxEnvelopeDepth = MaxDepth + 8

type decoder struct {
	data  []byte
	pos   int
	plain bool
	nodes int
}

// Decode reads the wire form of one value. It fails on anything else in data, on more
// than MaxNodes values and on nesting beyond MaxDepth.
func Decode(data []byte) (any, error) { return decode(data, false) }

// DecodeJSON reads plain JSON with the order of keys kept. Lone surrogates become
// U+FFFD, as do bytes that are not UTF-8.
func DecodeJSON(data []byte) (any, error) { return decode(data, true) }

func decode(data []byte, plain bool) (any, error) {
	d := decoder{data: data, plain: plain}
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos != len(d.data) {
		return nil, d.fail("text after the value")
	}
	return v, nil
}

// SyntaxError is a text that is not JSON.
type SyntaxError struct {
	// Offset is the byte at which it stops making sense.
	Offset int
	Reason string
}

// Error returns place and reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("bad JSON at byte %d: %s", e.Offset, e.Reason)
}

func (d *decoder) fail(format string, args ...any) error {
	return &SyntaxError{Offset: d.pos, Reason: fmt.Sprintf(format, args...)}
}

func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

func (d *decoder) peek() byte {
	if d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

func (d *decoder) value(depth int) (any, error) {
	if depth > maxEnvelopeDepth {
		return nil, d.fail("nested deeper than %d", MaxDepth)
	}
	if d.nodes++; d.nodes > MaxNodes {
		return nil, d.fail("more than %d values", MaxNodes)
	}
	d.space()
	switch c := d.peek(); {
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case c == '"':
		return d.text()
	case c == 't':
		return true, d.word("true")
	case c == 'f':
		return false, d.word("false")
	case c == 'n':
		return nil, d.word("null")
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	}
	if d.pos >= len(d.data) {
		return nil, d.fail("unexpected end")
	}
	return nil, d.fail("unexpected %q", d.data[d.pos])
}

func (d *decoder) word(w string) error {
	if len(d.data)-d.pos < len(w) || string(d.data[d.pos:d.pos+len(w)]) != w {
		return d.fail("expected %s", w)
	}
	d.pos += len(w)
	return nil
}

func (d *decoder) digits() bool {
	start := d.pos
	for d.pos < len(d.data) && d.data[d.pos] >= '0' && d.data[d.pos] <= '9' {
		d.pos++
	}
	return d.pos > start
}

func (d *decoder) number() (any, error) {
	start := d.pos
	if d.peek() == '-' {
		d.pos++
	}
	if d.peek() == '0' {
		d.pos++
	} else if !d.digits() {
		return nil, d.fail("bad number")
	}
	if d.peek() == '.' {
		d.pos++
		if !d.digits() {
			return nil, d.fail("bad number")
		}
	}
	if c := d.peek(); c == 'e' || c == 'E' {
		d.pos++
		if c := d.peek(); c == '+' || c == '-' {
			d.pos++
		}
		if !d.digits() {
			return nil, d.fail("bad number")
		}
	}
	f, err := strconv.ParseFloat(string(d.data[start:d.pos]), 64)
	if err != nil {
		return nil, d.fail("number out of range")
	}
	return f, nil
}

func (d *decoder) array(depth int) (any, error) {
	d.pos++
	out := []any{}
	d.space()
	if d.peek() == ']' {
		d.pos++
		return out, nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		d.space()
		switch d.peek() {
		case ',':
			d.pos++
		case ']':
			d.pos++
			return out, nil
		default:
			return nil, d.fail("expected , or ]")
		}
	}
}

func (d *decoder) object(depth int) (any, error) {
	d.pos++
	o := &Object{}
	d.space()
	if d.peek() == '}' {
		d.pos++
		return o, nil
	}
	for {
		d.space()
		if d.peek() != '"' {
			return nil, d.fail("expected a key")
		}
		key, err := d.text()
		if err != nil {
			return nil, err
		}
		d.space()
		if d.peek() != ':' {
			return nil, d.fail("expected :")
		}
		d.pos++
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		o.Set(key, v)
		d.space()
		switch d.peek() {
		case ',':
			d.pos++
		case '}':
			d.pos++
			return o, nil
		default:
			return nil, d.fail("expected , or }")
		}
	}
}

func (d *decoder) text() (string, error) {
	d.pos++
	start := d.pos
	for d.pos < len(d.data) {
		c := d.data[d.pos]
		if c == '"' {
			s := d.data[start:d.pos]
			d.pos++
			if utf8.Valid(s) {
				return string(s), nil
			}
			return d.invalid(s)
		}
		if c == '\\' {
			return d.escaped(start)
		}
		if c < 0x20 {
			return "", d.fail("control character in a string")
		}
		d.pos++
	}
	return "", d.fail("unclosed string")
}

// invalid handles string bytes that are not UTF-8: a fault on the wire, replaced in
// plain JSON.
func (d *decoder) invalid(s []byte) (string, error) {
	if !d.plain {
		return "", d.fail("a string is not UTF-8")
	}
	return string([]rune(string(s))), nil
}

// escaped goes on after the first backslash of a string that began at start.
func (d *decoder) escaped(start int) (string, error) {
	out := append([]byte(nil), d.data[start:d.pos]...)
	for d.pos < len(d.data) {
		c := d.data[d.pos]
		switch {
		case c == '"':
			d.pos++
			return d.finish(out)
		case c < 0x20:
			return "", d.fail("control character in a string")
		case c != '\\':
			out = append(out, c)
			d.pos++
			continue
		}
		d.pos++
		esc := d.peek()
		d.pos++
		switch esc {
		case '"', '\\', '/':
			out = append(out, esc)
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			r, err := d.unicode()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		default:
			return "", d.fail("bad escape")
		}
	}
	return "", d.fail("unclosed string")
}

// finish turns the collected bytes of a string into its value.
func (d *decoder) finish(s []byte) (string, error) {
	if !utf8.Valid(s) {
		return d.invalid(s)
	}
	if d.plain || len(s) == 0 || s[0] != 0 {
		return string(s), nil
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(string(s[1:]))
	if err != nil {
		return "", d.fail("bad base64")
	}
	return string(raw), nil
}

func (d *decoder) hex4() (rune, error) {
	if len(d.data)-d.pos < 4 {
		return 0, d.fail("bad escape")
	}
	n, err := strconv.ParseUint(string(d.data[d.pos:d.pos+4]), 16, 16)
	if err != nil {
		return 0, d.fail("bad escape")
	}
	d.pos += 4
	return rune(n), nil
}

func (d *decoder) unicode() (rune, error) {
	r, err := d.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if len(d.data)-d.pos >= 6 && d.data[d.pos] == '\\' && d.data[d.pos+1] == 'u' {
		mark := d.pos
		d.pos += 2
		low, err := d.hex4()
		if err != nil {
			return 0, err
		}
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, nil
		}
		d.pos = mark
	}
	return utf8.RuneError, nil
}
