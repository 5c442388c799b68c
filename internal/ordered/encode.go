package ordered

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxExact is the largest integer that a float64 holds exactly.
const MaxExact = 1 << 53

// errNotFinite is the fault of NaN and infinity, which JSON can't express.
var errNotFinite = errors.New("a number is not finite")

// Encoder writes values as JSON. The zero value writes plain JSON in UTF-8.
type Encoder struct {
	// Sorted writes the members of each object by name, otherwise as they were set.
	Sorted bool
	// MaxDepth bounds the nesting; 0 means DefaultDepth.
	MaxDepth int
	// Text, if set, appends a string. Nil appends plain JSON; bytes that are not UTF-8 become
	// U+FFFD.
	Text func(buf []byte, s string) []byte
}

// Encode returns a value as JSON.
func (e Encoder) Encode(v any) ([]byte, error) { return e.Append(nil, v) }

// Append appends a value as JSON.
func (e Encoder) Append(buf []byte, v any) ([]byte, error) {
	if e.MaxDepth == 0 {
		e.MaxDepth = DefaultDepth
	}
	if e.Text == nil {
		e.Text = AppendText
	}
	w := encoding{Encoder: e, buf: buf}
	err := w.value(v, 0)
	return w.buf, err
}

// encoding is one run of an Encoder.
type encoding struct {
	Encoder
	buf []byte
}

func (e *encoding) value(v any, depth int) error {
	if depth > e.MaxDepth {
		return fmt.Errorf("nested deeper than %d", e.MaxDepth)
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
	case json.Number:
		e.buf = append(e.buf, v...)
	case string:
		e.buf = e.Text(e.buf, v)
	case []any:
		return e.array(v, depth)
	case []string:
		e.buf = append(e.buf, '[')
		for i, s := range v {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			e.buf = e.Text(e.buf, s)
		}
		e.buf = append(e.buf, ']')
	case *Object:
		return e.object(v, depth)
	default:
		w, err := Decoder{MaxDepth: e.MaxDepth}.From(v)
		if err != nil {
			return err
		}
		return e.value(w, depth)
	}
	return nil
}

func (e *encoding) array(list []any, depth int) error {
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

func (e *encoding) object(o *Object, depth int) error {
	e.buf = append(e.buf, '{')
	var order []int
	if e.Sorted {
		order = make([]int, o.Len())
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return strings.Compare(o.keys[a], o.keys[b]) })
	}
	for n := range o.Len() {
		i := n
		if order != nil {
			i = order[n]
		}
		if n > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = e.Text(e.buf, o.keys[i])
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

// AppendText appends a string as plain JSON.
func AppendText(buf []byte, s string) []byte {
	buf = append(buf, '"')
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
			buf = append(buf, s[start:i]...)
			buf = append(buf, "\uFFFD"...)
			i++
			start = i
			continue
		}
		buf = append(buf, s[start:i]...)
		switch c {
		case '"', '\\':
			buf = append(buf, '\\', c)
		case '\n':
			buf = append(buf, '\\', 'n')
		case '\t':
			buf = append(buf, '\\', 't')
		case '\r':
			buf = append(buf, '\\', 'r')
		default:
			buf = append(buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	buf = append(buf, s[start:]...)
	return append(buf, '"')
}
