package ordered

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Decoder reads JSON with the order of members kept: nil, bool, float64, string, []any and
// *Object. The zero value reads plain JSON without a limit of values.
type Decoder struct {
	// MaxDepth bounds the nesting, MaxNodes the number of values; 0 means DefaultDepth and no
	// bound.
	MaxDepth, MaxNodes int
	// Numbers keeps numbers as they are written, as json.Number, instead of as float64.
	Numbers bool
	// Unique refuses an object that has a key twice; otherwise the last one counts.
	Unique bool
	// Text, if set, turns the bytes of a string without its escapes into its value, or fails.
	// Nil replaces each byte that is not UTF-8 by U+FFFD.
	Text func(s []byte) (string, error)
}

// DefaultDepth is the nesting that a Decoder allows if it is not told otherwise.
const DefaultDepth = 200

// Decode reads one value. It fails on anything else in data with a *SyntaxError.
func (d Decoder) Decode(data []byte) (any, error) {
	if d.MaxDepth == 0 {
		d.MaxDepth = DefaultDepth
	}
	r := decoding{Decoder: d, data: data}
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	r.space()
	if r.pos != len(r.data) {
		return nil, r.fail("text after the value")
	}
	return v, nil
}

// decoding is one run of a Decoder.
type decoding struct {
	Decoder
	data  []byte
	pos   int
	nodes int
}

// SyntaxError is a text that is not JSON.
type SyntaxError struct {
	// Offset is the byte at which the text stops being JSON.
	Offset int
	Reason string
}

// Error returns place and reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("bad JSON at byte %d: %s", e.Offset, e.Reason)
}

func (d *decoding) fail(format string, args ...any) error {
	return &SyntaxError{Offset: d.pos, Reason: fmt.Sprintf(format, args...)}
}

func (d *decoding) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

func (d *decoding) peek() byte {
	if d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

func (d *decoding) value(depth int) (any, error) {
	if depth > d.MaxDepth {
		return nil, d.fail("nested deeper than %d", d.MaxDepth)
	}
	if d.nodes++; d.MaxNodes > 0 && d.nodes > d.MaxNodes {
		return nil, d.fail("more than %d values", d.MaxNodes)
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

func (d *decoding) word(w string) error {
	if len(d.data)-d.pos < len(w) || string(d.data[d.pos:d.pos+len(w)]) != w {
		return d.fail("expected %s", w)
	}
	d.pos += len(w)
	return nil
}

func (d *decoding) digits() bool {
	start := d.pos
	for d.pos < len(d.data) && d.data[d.pos] >= '0' && d.data[d.pos] <= '9' {
		d.pos++
	}
	return d.pos > start
}

func (d *decoding) number() (any, error) {
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
	if d.Numbers {
		return json.Number(d.data[start:d.pos]), nil
	}
	f, err := strconv.ParseFloat(string(d.data[start:d.pos]), 64)
	if err != nil {
		return nil, d.fail("number out of range")
	}
	return f, nil
}

func (d *decoding) array(depth int) (any, error) {
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

func (d *decoding) object(depth int) (any, error) {
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
		begin := d.pos
		key, err := d.text()
		if err != nil {
			return nil, err
		}
		if d.Unique && o.find(key) >= 0 {
			d.pos = begin
			return nil, d.fail("the key %q is there twice", key)
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

func (d *decoding) text() (string, error) {
	d.pos++
	start := d.pos
	for d.pos < len(d.data) {
		c := d.data[d.pos]
		if c == '"' {
			s := d.data[start:d.pos]
			d.pos++
			return d.finish(s)
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

// escaped reads on after the first backslash of a string that began at start.
func (d *decoding) escaped(start int) (string, error) {
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
func (d *decoding) finish(s []byte) (string, error) {
	switch {
	case d.Text != nil:
		text, err := d.Text(s)
		if err != nil {
			return "", d.fail("%v", err)
		}
		return text, nil
	case utf8.Valid(s):
		return string(s), nil
	}
	return string([]rune(string(s))), nil
}

func (d *decoding) hex4() (rune, error) {
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

func (d *decoding) unicode() (rune, error) {
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
