package mcp

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"jcode/internal/rawjson"
)

// largeResult is the size in bytes from which memory is given back to the system at once.
const largeResult = 8 << 20

// giveBack returns the memory of a large message, which is garbage now, to the system: the
// next collection may be long in coming.
func giveBack(size int) {
	if size >= largeResult {
		debug.FreeOSMemory()
	}
}

// membersOf takes an object apart without copying its values; nil when raw is none.
func membersOf(raw json.RawMessage) map[string]json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || len(raw) < largeResult && !json.Valid(raw) {
		return nil
	}
	out := map[string]json.RawMessage{}
	for rest := raw[1:]; ; {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if len(rest) == 0 || rest[0] == '}' {
			return out
		}
		end := valueEnd(rest)
		name := rawjson.String(rest[:end])
		rest = bytes.TrimLeft(rest[end:], " \t\r\n:")
		end = valueEnd(rest)
		out[name] = json.RawMessage(rest[:end])
		rest = rest[end:]
	}
}

// itemsOf takes an array apart without copying its values; ok is false when raw is none.
func itemsOf(raw json.RawMessage) (out []json.RawMessage, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' || len(raw) < largeResult && !json.Valid(raw) {
		return nil, false
	}
	for rest := raw[1:]; ; {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if len(rest) == 0 || rest[0] == ']' {
			return out, true
		}
		end := valueEnd(rest)
		out = append(out, json.RawMessage(rest[:end]))
		rest = rest[end:]
	}
}

// largeString decodes a JSON string with one copy, however long it is.
func largeString(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) < largeResult || raw[0] != '"' {
		return rawjson.String(raw)
	}
	body := raw[1 : len(raw)-1]
	var b strings.Builder
	b.Grow(len(body))
	for len(body) > 0 {
		at := bytes.IndexByte(body, '\\')
		if at < 0 {
			at = len(body)
		}
		writeValid(&b, body[:at])
		body = body[at:]
		end := 0
		for end < len(body) && body[end] == '\\' { // a run of escapes: two may be one character
			if end++; end < len(body) && body[end] == 'u' {
				end += 4
			}
			end = min(end+1, len(body))
		}
		if end > 0 {
			escaped := append(append([]byte{'"'}, body[:end]...), '"')
			b.WriteString(rawjson.String(escaped))
		}
		body = body[end:]
	}
	return b.String()
}

// writeValid writes text with bytes that are no UTF-8 replaced, as JSON decoders do.
func writeValid(b *strings.Builder, data []byte) {
	if utf8.Valid(data) {
		b.Write(data)
		return
	}
	b.WriteString(strings.ToValidUTF8(string(data), "\ufffd"))
}
