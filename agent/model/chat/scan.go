package chat

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// The scanner walks JSON without decoding it: the text of a delta is cut out of the line and passed on with
// its escapes, so that a streamed token is copied once. It tolerates what servers get wrong inside strings
// (raw control bytes, unknown escapes).

var (
	errShort  = errors.New("the JSON ends too early")
	errSyntax = errors.New("the JSON is malformed")
)

// maxDepth bounds nesting: a hostile reply must not exhaust the stack.
const maxDepth = 200

type scanner struct {
	b     []byte
	i     int
	depth int
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// str reads a string and returns what is between the quotes; dirty says that it is not valid JSON and needs
// clean.
func (s *scanner) str() (raw []byte, dirty bool, err error) {
	if s.peek() != '"' {
		return nil, false, s.fail()
	}
	start := s.i + 1
	for i := start; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return s.b[start:i], dirty, nil
		case c == '\\':
			i++
			if i < len(s.b) && !legalEscape(s.b[i:]) {
				dirty = true
			}
		case c < 0x20:
			dirty = true
		}
	}
	s.i = len(s.b)
	return nil, false, errShort
}

// fail says why the next byte is not the expected one.
func (s *scanner) fail() error {
	if s.i >= len(s.b) {
		return errShort
	}
	return errSyntax
}

// legalEscape checks what follows a backslash.
func legalEscape(b []byte) bool {
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		return len(b) >= 5 && isHex(b[1]) && isHex(b[2]) && isHex(b[3]) && isHex(b[4])
	}
	return false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// clean appends raw with its control bytes and unknown escapes made legal.
func clean(dst, raw []byte) []byte {
	const hex = "0123456789abcdef"
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '\\' && i+1 < len(raw) && legalEscape(raw[i+1:]):
			dst = append(dst, c, raw[i+1])
			i++
		case c == '\\':
			dst = append(dst, '\\', '\\')
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// word reads a number or a literal.
func (s *scanner) word() ([]byte, error) {
	s.peek()
	start := s.i
	for s.i < len(s.b) {
		c := s.b[s.i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.' {
			s.i++
			continue
		}
		break
	}
	if s.i == start {
		return nil, s.fail()
	}
	return s.b[start:s.i], nil
}

// enter consumes an opening brace or bracket.
func (s *scanner) enter(open byte) error {
	if s.peek() != open {
		return s.fail()
	}
	if s.depth++; s.depth > maxDepth {
		return errSyntax
	}
	s.i++
	return nil
}

// more reports whether another element follows; n counts those before it. At the end it consumes the closing
// byte.
func (s *scanner) more(n int, end byte) (bool, error) {
	switch c := s.peek(); {
	case c == end:
		s.i++
		s.depth--
		return false, nil
	case c == ',' && n > 0:
		s.i++
		if s.peek() == end { // a trailing comma is accepted
			return s.more(0, end)
		}
		return true, nil
	case c != 0 && c != ',' && n == 0:
		return true, nil
	}
	return false, s.fail()
}

// key reads a field's name and its colon.
func (s *scanner) key() ([]byte, error) {
	k, _, err := s.str()
	if err != nil {
		return nil, err
	}
	if s.peek() != ':' {
		return nil, s.fail()
	}
	s.i++
	return k, nil
}

// object visits each field; visit must consume the value.
func (s *scanner) object(visit func(key []byte) error) error {
	if err := s.enter('{'); err != nil {
		return err
	}
	for n := 0; ; n++ {
		ok, err := s.more(n, '}')
		if !ok || err != nil {
			return err
		}
		k, err := s.key()
		if err != nil {
			return err
		}
		if err := visit(k); err != nil {
			return err
		}
	}
}

// array visits each element; visit must consume it.
func (s *scanner) array(visit func(n int) error) error {
	if err := s.enter('['); err != nil {
		return err
	}
	for n := 0; ; n++ {
		ok, err := s.more(n, ']')
		if !ok || err != nil {
			return err
		}
		if err := visit(n); err != nil {
			return err
		}
	}
}

// skip consumes any value.
func (s *scanner) skip() error {
	switch s.peek() {
	case '{':
		return s.object(func([]byte) error { return s.skip() })
	case '[':
		return s.array(func(int) error { return s.skip() })
	case '"':
		_, _, err := s.str()
		return err
	}
	_, err := s.word()
	return err
}

// value consumes any value and returns its bytes.
func (s *scanner) value() ([]byte, error) {
	s.peek()
	start := s.i
	if err := s.skip(); err != nil {
		return nil, err
	}
	return s.b[start:s.i], nil
}

// number reads a number, also one in quotes; anything else is 0.
func (s *scanner) number() (int, bool, error) {
	raw, err := s.value()
	if err != nil {
		return 0, false, err
	}
	if len(raw) > 1 && raw[0] == '"' {
		raw = raw[1 : len(raw)-1]
	}
	n := 0
	for i, c := range raw {
		if c < '0' || c > '9' || n > 1<<40 {
			return n, i > 0 && (c == '.' || c == 'e' || c == 'E'), nil
		}
		n = n*10 + int(c-'0')
	}
	return n, len(raw) > 0, nil
}

// decimal reads a number with a fraction; anything else is 0.
func (s *scanner) decimal() (float64, error) {
	raw, err := s.value()
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, nil
	}
	return v, nil
}

// balance tracks the brackets of JSON that arrives in several lines, without rereading earlier lines.
type balance struct {
	depth    int
	inString bool
	escape   bool
}

// feed takes the next bytes; it returns true when the outermost value is closed.
func (b *balance) feed(line []byte) bool {
	for _, c := range line {
		b.feedByte(c)
	}
	return b.depth <= 0 && !b.inString
}

func (b *balance) feedByte(c byte) {
	switch {
	case b.escape:
		b.escape = false
	case b.inString:
		switch c {
		case '\\':
			b.escape = true
		case '"':
			b.inString = false
		}
	case c == '"':
		b.inString = true
	case c == '{' || c == '[':
		b.depth++
	case c == '}' || c == ']':
		b.depth--
	}
}
