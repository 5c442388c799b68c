package wire

import (
	"bytes"
	"encoding/json"
)

// assembler extracts messages from the lines of a server's output. A line may contain several
// messages, or text before one; a message may be spread over several lines.
type assembler struct {
	held  pieces // lines of an incomplete value
	scan  jsonScan
	owner lineOwner
}

// lineOwner receives what an assembler finds.
type lineOwner interface {
	// message receives a message; it returns false when no more are wanted.
	message(e envelope) bool
	// awaited reports whether e, which lacks the version of the protocol, answers a pending
	// request.
	awaited(e envelope) bool
	// unusable receives output that is not a message.
	unusable(data []byte)
}

// holds reports whether lines of an incomplete value are held.
func (a *assembler) holds() bool { return a.held.size > 0 }

// giveUp reports the held lines as unusable, because the rest of their value does not arrive.
// They may contain a message after the one that was cut off.
func (a *assembler) giveUp() {
	if a.holds() {
		data := a.held.join()
		a.held, a.scan = pieces{}, jsonScan{}
		a.afterText(data, 1)
	}
}

// line processes a line; it returns false when no more messages are wanted.
func (a *assembler) line(data []byte, limit int) bool {
	data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("\xef\xbb\xbf"))
	if !a.holds() {
		return a.fresh(data)
	}
	if list, err := readEnvelopes(data); err == nil && len(list) > 0 {
		a.giveUp() // the held lines were not a message
		return a.deliver(list)
	}
	a.held.add([]byte{'\n'})
	a.held.add(data)
	a.scan.feed(data)
	switch {
	case a.held.size > limit || a.scan.broken:
		a.giveUp()
		return true
	case !a.scan.done():
		return true
	}
	whole := a.held.join()
	a.held, a.scan = pieces{}, jsonScan{}
	return a.value(whole)
}

// fresh processes a line that does not continue another.
func (a *assembler) fresh(data []byte) bool {
	if len(data) == 0 {
		return true
	}
	if data[0] != '{' && data[0] != '[' {
		return a.afterText(data, 0)
	}
	if list, err := readEnvelopes(data); err == nil {
		return a.deliver(list)
	}
	for len(data) > 0 && (data[0] == '{' || data[0] == '[') {
		var scan jsonScan
		n := scan.feed(data)
		if !scan.done() {
			a.held.add(data)
			a.scan = scan
			return true
		}
		if !a.value(data[:n]) {
			return false
		}
		data = bytes.TrimLeft(data[n:], " \t\r,;")
	}
	if len(data) > 0 {
		return a.afterText(data, 0)
	}
	return true
}

// maxStarts bounds how many places of a line are tried as the start of a message.
const maxStarts = 16

// afterText searches, from an offset on, for an answer after other text, such as a prompt or a
// log line without newline. Only answers to pending requests count: programs log what they
// receive.
func (a *assembler) afterText(data []byte, from int) bool {
	for rest, tries := data[from:], 0; tries < maxStarts && bytes.Contains(rest, []byte(`"jsonrpc"`)); tries++ {
		at := bytes.IndexByte(rest, '{')
		if at < 0 {
			break
		}
		var scan jsonScan
		n := scan.feed(rest[at:])
		if scan.done() && json.Valid(rest[at:at+n]) {
			if e, version := readEnvelope(rest[at : at+n]); version && e.method == "" && a.owner.awaited(e) {
				a.owner.unusable(data[:len(data)-len(rest)+at])
				return a.owner.message(e)
			}
		}
		rest = rest[at+1:]
	}
	a.owner.unusable(data)
	return true
}

// value processes a whole JSON value, or what looks like one.
func (a *assembler) value(data []byte) bool {
	list, err := readEnvelopes(data)
	if err == nil {
		return a.deliver(list)
	}
	if json.Valid(data) && data[0] == '{' {
		if e, _ := readEnvelope(data); !e.other && a.owner.awaited(e) {
			return a.owner.message(e)
		}
	}
	a.owner.unusable(data)
	return true
}

func (a *assembler) deliver(list []envelope) bool {
	for _, e := range list {
		if !a.owner.message(e) {
			return false
		}
	}
	return true
}

// jsonScan follows brackets and strings to find where a JSON value ends.
type jsonScan struct {
	depth    int
	inString bool
	escaped  bool
	started  bool
	broken   bool // more brackets were closed than opened
}

// feed reads on and returns how many bytes belong to the value.
func (s *jsonScan) feed(data []byte) int {
	for i, c := range data {
		switch {
		case s.inString && s.escaped:
			s.escaped = false
		case s.inString && c == '\\':
			s.escaped = true
		case s.inString:
			s.inString = c != '"'
		case c == '"':
			s.inString = true
		case c == '{' || c == '[':
			s.depth++
			s.started = true
		case c == '}' || c == ']':
			if s.depth--; s.depth == 0 {
				return i + 1
			}
			s.broken = s.broken || s.depth < 0
		}
	}
	return len(data)
}

// done reports whether the value has ended.
func (s *jsonScan) done() bool { return s.started && s.depth <= 0 }
