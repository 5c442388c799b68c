package endpoint

import (
	"encoding/json"
	"maps"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// Field is a field of a request's body.
type Field struct {
	Name string
	Raw  json.RawMessage
}

// fields encodes a provider's own fields in a fixed order.
func fields(all map[string]any) ([]Field, error) {
	out := make([]Field, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		raw, err := json.Marshal(all[name])
		if err != nil {
			return nil, err
		}
		out = append(out, Field{name, raw})
	}
	return out, nil
}

// AppendString writes s as a JSON string.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = AppendEscaped(dst, s)
	return append(dst, '"')
}

// AppendEscaped writes s as the inside of a JSON string; invalid UTF-8 becomes U+FFFD.
func AppendEscaped(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	start := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			n := plain(s[i : i+8])
			if i += n; n == 8 {
				continue
			}
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), `\ufffd`...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' && c != 0x7f {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(dst, s[start:]...)
}

// plain returns how many of eight bytes, from the first, are ASCII that a JSON string holds as they are. It looks at
// all of them at once: a history is encoded in every step, and most of it is such text.
func plain(s string) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	// The lowest byte whose top bit is set after a subtraction was less than what was subtracted.
	quote, slash, del := x^ones*'"', x^ones*'\\', x^ones*0x7f
	special := x | (x - ones*0x20) | (quote - ones) | (slash - ones) | (del - ones)
	return bits.TrailingZeros64(special&tops) / 8
}
