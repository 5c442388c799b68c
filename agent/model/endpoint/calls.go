package endpoint

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"jcode/agent/model"
)

// TidyArguments repairs arguments that a server garbled: sent twice, or after an empty object that was meant
// as a beginning. Anything else is returned byte for byte.
func TidyArguments(s string) string {
	if s == "" || json.Valid([]byte(s)) {
		return s
	}
	dec := json.NewDecoder(strings.NewReader(s))
	var values []json.RawMessage
	for len(values) < 8 {
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			break
		}
		if v[0] != '{' {
			return s
		}
		if len(values) == 0 || !bytes.Equal(v, values[len(values)-1]) {
			values = append(values, v)
		}
	}
	if dec.InputOffset() < int64(len(strings.TrimRight(s, " \t\r\n"))) {
		return s
	}
	if len(values) == 2 && isEmptyObject(values[0]) {
		values = values[1:]
	}
	if len(values) != 1 {
		return s
	}
	return string(values[0])
}

func isEmptyObject(v []byte) bool {
	return len(bytes.TrimSpace(v[1:len(v)-1])) == 0
}

// IDs assigns call IDs: the model's own where usable, otherwise new ones. An id must be unique in the whole
// conversation and of bounded length.
type IDs struct{ used map[string]bool }

// NewIDs returns IDs that excludes the ids a request already uses.
func NewIDs(req *model.Request) *IDs {
	used := map[string]bool{}
	for i := range req.Messages {
		for k := range req.Messages[i].Calls {
			used[req.Messages[i].Calls[k].ID] = true
		}
	}
	return &IDs{used}
}

// Take returns an id for a call that arrived with the given one.
func (s *IDs) Take(id string) string {
	for id == "" || len(id) > maxCallID || s.used[id] || strings.ContainsFunc(id, unfitForID) {
		var b [12]byte
		rand.Read(b[:]) // never fails
		id = "call_" + hex.EncodeToString(b[:])
	}
	s.used[id] = true
	return id
}

// maxCallID is the longest call id that is kept, in bytes.
const maxCallID = 128

func unfitForID(r rune) bool { return r <= ' ' || r >= 0x7f }

// ShortID limits a call's id to most characters; equal ids are always shortened equally.
func ShortID(id string, most int) string {
	if len(id) <= most {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}

// Calls returns a call that arrived as the calls that are made: with a name, and an ID that is unique. Some
// models invent a wrapper to make several at once; each of those is a call of its own, unless a tool of that
// name is offered.
func (s *IDs) Calls(req *model.Request, c model.Call) []model.Call {
	c.Name = strings.TrimPrefix(c.Name, "functions.")
	calls := []model.Call{c}
	if isWrapper(c.Name) && !slices.ContainsFunc(req.Tools, func(t model.Tool) bool { return t.Name == c.Name }) {
		if inner := unwrap(c.Arguments); len(inner) > 0 {
			calls = inner
		}
	}
	for i := range calls {
		calls[i].ID, calls[i].Incomplete = s.Take(calls[i].ID), c.Incomplete
		calls[i].Name = cmp.Or(calls[i].Name, model.Unnamed)
	}
	return calls
}

func isWrapper(name string) bool {
	switch name {
	case "parallel", "multi_tool_use", "multi_tool_use.parallel", "multi_tool_use_parallel", "multi_tool_use__parallel":
		return true
	}
	return false
}

// unwrap extracts the calls from the arguments of a wrapper.
func unwrap(args string) (out []model.Call) {
	var w struct {
		Uses []struct {
			Recipient  string          `json:"recipient_name"`
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
			Arguments  json.RawMessage `json:"arguments"`
		} `json:"tool_uses"`
	}
	if json.Unmarshal([]byte(args), &w) != nil {
		return nil
	}
	for _, u := range w.Uses {
		given := u.Parameters
		if len(given) == 0 {
			given = u.Arguments
		}
		text := string(given)
		if json.Unmarshal(given, &text) != nil { // not as text
			text = string(given)
		}
		if text == "" || text == "null" {
			text = "{}"
		}
		out = append(out, model.Call{Name: strings.TrimPrefix(cmp.Or(u.Recipient, u.Name), "functions."), Arguments: text})
	}
	return out
}
