package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"unicode/utf8"
)

// MaxExact is the largest integer that a Lua number holds exactly.
const MaxExact = 1 << 53

// The limits of a value on its way between the two sides.
const (
	MaxDepth = 64
	MaxNodes = 1_000_000
)

// errNotFinite is what JSON says about NaN and infinity.
var errNotFinite = errors.New("a number is not finite")

type encoder struct {
	buf    []byte
	plain  bool // real JSON: strings become valid UTF-8
	sorted bool
}

// Encode returns the wire form of a value: JSON whose strings may carry any bytes.
func Encode(v any) ([]byte, error) {
	e := encoder{}
	err := e.value(v, 0)
	return e.buf, err
}

// EncodeJSON returns plain JSON: bytes that are not UTF-8 become U+FFFD. With sorted the
// keys of each object are in order, else as they were set.
func EncodeJSON(v any, sorted bool) ([]byte, error) {
	e := encoder{plain: true, sorted: sorted}
	err := e.value(v, 0)
	return e.buf, err
}

func (e *encoder) value(v any, depth int) error {
	if depth > maxEnvelopeDepth {
		return fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	switch v := v.(type) {
	case nil:
		e.buf = append(e.buf, "null"...)
	case bool:
		e.buf = strconv.AppendBool(e.buf, v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errNotFinite
		}
		e.buf = AppendNumber(e.buf, v)
	case int:
		e.buf = strconv.AppendInt(e.buf, int64(v), 10)
	case int64:
		e.buf = strconv.AppendInt(e.buf, v, 10)
	case string:
		e.text(v)
	case []any:
		return e.array(v, depth)
	case []string:
		e.buf = append(e.buf, '[')
		for i, s := range v {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			e.text(s)
		}
		e.buf = append(e.buf, ']')
	case *Object:
		return e.object(v, depth)
	default:
		w, err := From(v)
		if err != nil {
			return err
		}
		return e.value(w, depth)
	}
	return nil
}

func (e *encoder) array(list []any, depth int) error {
	e.buf = append(e.buf, '[')
	for i, item := range list {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		if err := e.value(item, depth+1); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, ']')
	return nil
}

func (e *encoder) object(o *Object, depth int) error {
	e.buf = append(e.buf, '{')
	var order []int
	if e.sorted {
		order = make([]int, o.Len())
		for i := range order {
			order[i] = i
		}
		sort.Slice(order, func(a, b int) bool { return o.keys[order[a]] < o.keys[order[b]] })
	}
	for n := range o.Len() {
		i := n
		if order != nil {
			i = order[n]
		}
		if n > 0 {
			e.buf = append(e.buf, ',')
		}
		e.text(o.keys[i])
		e.buf = append(e.buf, ':')
		if err := e.value(o.vals[i], depth+1); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, '}')
	return nil
}

// AppendNumber writes a finite number: integral values within ±2^53 without fraction
// or exponent.
func AppendNumber(buf []byte, f float64) []byte {
	if f == math.Trunc(f) && f >= -MaxExact && f <= MaxExact {
		return strconv.AppendInt(buf, int64(f), 10)
	}
	return strconv.AppendFloat(buf, f, 'g', -1, 64)
}

const hexDigits = "0123456789abcdef"

// text writes a string. On the wire, bytes that JSON text cannot carry, and text that
// escaping would blow up, travel as NUL and base64.
func (e *encoder) text(s string) {
	if !e.plain && needsBase64(s) {
		e.buf = append(e.buf, `"\u0000`...)
		e.buf = base64.StdEncoding.AppendEncode(e.buf, []byte(s))
		e.buf = append(e.buf, '"')
		return
	}
	e.buf = append(e.buf, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size != 1 {
				i += size
				continue
			}
			e.buf = append(e.buf, s[start:i]...)
			e.buf = append(e.buf, "\uFFFD"...)
			i++
			start = i
			continue
		}
		e.buf = append(e.buf, s[start:i]...)
		switch c {
		case '"', '\\':
			e.buf = append(e.buf, '\\', c)
		case '\n':
			e.buf = append(e.buf, '\\', 'n')
		case '\t':
			e.buf = append(e.buf, '\\', 't')
		case '\r':
			e.buf = append(e.buf, '\\', 'r')
		default:
			e.buf = append(e.buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	e.buf = append(e.buf, s[start:]...)
	e.buf = append(e.buf, '"')
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
