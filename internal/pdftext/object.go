package pdftext

import (
	"bytes"
	"strconv"
)

// The objects of a PDF. Numbers are float64, strings string, booleans bool, null is nil.
type (
	name     string
	operator string
	array    []any
	dict     map[name]any
	ref      struct{ num, gen int }
	stream   struct {
		dict
		raw []byte
		ref // for decryption
	}
)

// lexer reads tokens and objects.
type lexer struct {
	b    []byte
	i    int
	refs bool // whether "1 0 R" is a reference: not in the content of pages
}

func blank(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func delimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

// skip skips white space and comments.
func (l *lexer) skip() {
	for ; l.i < len(l.b); l.i++ {
		if l.b[l.i] == '%' {
			for l.i < len(l.b) && l.b[l.i] != '\n' && l.b[l.i] != '\r' {
				l.i++
			}
			l.i--
		} else if !blank(l.b[l.i]) {
			return
		}
	}
}

// next reads an object or an operator; false at the end.
func (l *lexer) next(depth int) (any, bool) {
	l.skip()
	if l.i >= len(l.b) || depth > maxDepth {
		l.i = len(l.b)
		return nil, false
	}
	switch c := l.b[l.i]; c {
	case '/':
		l.i++
		return l.name(), true
	case '(':
		l.i++
		return l.literal(), true
	case '[':
		l.i++
		return l.array(depth), true
	case '<':
		l.i++
		if l.i < len(l.b) && l.b[l.i] == '<' {
			l.i++
			return l.dict(depth), true
		}
		return l.hex(), true
	case ')', '>', ']', '{', '}':
		l.i++
		return operator(c), true
	}
	word := l.word()
	if n, ok := number(word); ok {
		if l.refs {
			if r, ok := l.reference(n); ok {
				return r, true
			}
		}
		return n, true
	}
	switch string(word) {
	case "true":
		return true, true
	case "false":
		return false, true
	case "null":
		return nil, true
	}
	return operator(word), true
}

func (l *lexer) word() []byte {
	from := l.i
	for l.i < len(l.b) && !blank(l.b[l.i]) && !delimiter(l.b[l.i]) {
		l.i++
	}
	return l.b[from:l.i]
}

// number parses a number leniently: "--5" and "1.2-3" occur.
func number(word []byte) (float64, bool) {
	if len(word) == 0 || len(word) > 40 || bytes.IndexByte([]byte("+-.0123456789"), word[0]) < 0 {
		return 0, false
	}
	if n, err := strconv.Atoi(string(word)); err == nil {
		return float64(n), true
	}
	if bytes.ContainsAny(word, "xXpPeEiInN_") {
		return 0, false
	}
	if n, err := strconv.ParseFloat(string(word), 64); err == nil {
		return n, true
	}
	trimmed := bytes.TrimLeft(word, "+-")
	if i := bytes.IndexAny(trimmed, "+-"); i > 0 {
		trimmed = trimmed[:i]
	}
	n, err := strconv.ParseFloat(string(trimmed), 64)
	return n, err == nil
}

// reference looks for the rest of "1 0 R".
func (l *lexer) reference(n float64) (ref, bool) {
	back := l.i
	l.skip()
	gen, ok := number(l.word())
	l.skip()
	if ok && n >= 0 && n < 1<<31 && n == float64(int(n)) && string(l.word()) == "R" {
		return ref{int(n), int(gen)}, true
	}
	l.i = back
	return ref{}, false
}

func (l *lexer) name() name {
	word := l.word()
	if bytes.IndexByte(word, '#') < 0 {
		return name(word)
	}
	var out []byte
	for i := 0; i < len(word); i++ {
		if word[i] == '#' && i+2 < len(word) {
			if n, err := strconv.ParseUint(string(word[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, word[i])
	}
	return name(out)
}

// literal reads a string after its opening parenthesis.
func (l *lexer) literal() string {
	var out []byte
	open := 1
	for ; l.i < len(l.b); l.i++ {
		switch c := l.b[l.i]; c {
		case '\\':
			out = l.escaped(out)
		case '(':
			open++
			out = append(out, c)
		case ')':
			if open--; open == 0 {
				l.i++
				return string(out)
			}
			out = append(out, c)
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// escaped reads an escape sequence after its backslash, and stays at its last byte.
func (l *lexer) escaped(out []byte) []byte {
	l.i++
	if l.i >= len(l.b) {
		return out
	}
	switch c := l.b[l.i]; c {
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case '\n':
		return out
	case '\r':
		if l.i+1 < len(l.b) && l.b[l.i+1] == '\n' {
			l.i++
		}
		return out
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := 0
		for k := 0; k < 3 && l.i < len(l.b) && l.b[l.i] >= '0' && l.b[l.i] <= '7'; k++ {
			n = n*8 + int(l.b[l.i]-'0')
			l.i++
		}
		l.i--
		return append(out, byte(n)) //nolint:gosec // overflow is dropped, as the format says
	default:
		return append(out, c)
	}
}

// hex reads a string of hexadecimal digits after its opening bracket.
func (l *lexer) hex() string {
	end := bytes.IndexByte(l.b[l.i:], '>')
	digits := l.b[l.i:]
	if end >= 0 {
		digits = digits[:end]
	}
	l.i += min(len(digits)+1, len(l.b)-l.i)
	return string(unhex(digits))
}

// unhex decodes hexadecimal digits, and skips other characters.
func unhex(digits []byte) []byte {
	out := make([]byte, 0, len(digits)/2+1)
	high, half := byte(0), false
	for _, c := range digits {
		var v byte
		switch {
		case c >= '0' && c <= '9':
			v = c - '0'
		case c >= 'a' && c <= 'f':
			v = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			v = c - 'A' + 10
		default:
			continue
		}
		if half {
			out = append(out, high<<4|v)
		}
		high, half = v, !half
	}
	if half {
		out = append(out, high<<4)
	}
	return out
}

func (l *lexer) array(depth int) array {
	var out array
	for {
		v, ok := l.next(depth + 1)
		if op, is := v.(operator); !ok || is && (op == "]" || op == "endobj") {
			return out
		}
		out = append(out, v)
	}
}

func (l *lexer) dict(depth int) dict {
	out := dict{}
	for {
		key, ok := l.next(depth + 1)
		if !ok {
			return out
		}
		switch k := key.(type) {
		case operator:
			if k == ">" && l.i < len(l.b) && l.b[l.i] == '>' {
				l.i++
				return out
			}
			if k == "endobj" || k == "stream" {
				l.i -= len(k)
				return out
			}
		case name:
			back := l.i
			v, ok := l.next(depth + 1)
			if op, is := v.(operator); is || !ok {
				if op == ">" {
					l.i = back
				}
				continue
			}
			out[k] = v
		}
	}
}
