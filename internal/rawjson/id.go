package rawjson

import "encoding/json"

// IDFinder finds the top-level id of a JSON-RPC message that is too long to keep, byte by byte.
type IDFinder struct {
	depth    int
	inString bool
	escaped  bool
	token    []byte
	name     string
	id       []byte
	method   bool
}

const maxIDLength = 256

// Feed reads the next part of the message.
func (f *IDFinder) Feed(data []byte) {
	for _, c := range data {
		f.byte(c)
	}
}

func (f *IDFinder) byte(c byte) {
	if f.inString {
		f.keep(c)
		switch {
		case f.escaped:
			f.escaped = false
		case c == '\\':
			f.escaped = true
		case c == '"':
			f.inString = false
		}
		return
	}
	switch c {
	case '"':
		f.inString = true
		f.keep(c)
	case '{', '[':
		f.depth++
		f.token = f.token[:0]
	case '}', ']':
		f.endMember()
		f.depth--
	case ':':
		if f.depth == 1 {
			f.name = String(f.token)
			f.token = f.token[:0]
			f.method = f.method || f.name == "method"
		}
	case ',':
		f.endMember()
	case ' ', '\t', '\r', '\n':
	default:
		f.keep(c)
	}
}

func (f *IDFinder) keep(c byte) {
	if f.depth == 1 && len(f.token) < maxIDLength {
		f.token = append(f.token, c)
	}
}

func (f *IDFinder) endMember() {
	if f.depth == 1 {
		if f.name == "id" && len(f.token) > 0 {
			f.id = append([]byte(nil), f.token...)
		}
		f.name, f.token = "", f.token[:0]
	}
}

// Request returns the id of a request, nil if the message was none or no id was found.
func (f *IDFinder) Request() json.RawMessage { return f.found(true) }

// Response returns the id of a response, nil if the message was none or no id was found.
func (f *IDFinder) Response() json.RawMessage { return f.found(false) }

func (f *IDFinder) found(method bool) json.RawMessage {
	if f.method != method || len(f.id) == 0 || !json.Valid(f.id) {
		return nil
	}
	return f.id
}
