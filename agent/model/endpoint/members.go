package endpoint

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// member is a member of a JSON object, by the places of its name and of the end of its value.
type member struct {
	name       string
	start, end int
	value      int // where its value begins
}

// membersOf returns the members of an object; nil for anything else.
func membersOf(object string) (list []member) {
	dec := json.NewDecoder(strings.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		at := int(dec.InputOffset())
		at += strings.IndexByte(object[at:], '"')
		t, err := dec.Token()
		name, ok := t.(string)
		var v json.RawMessage
		if err != nil || !ok || dec.Decode(&v) != nil {
			return nil
		}
		end := int(dec.InputOffset())
		list = append(list, member{name: name, start: at, end: end, value: end - len(v)})
	}
	return list
}

// WithoutMembers returns an object without some of its members. All other bytes stay as they are.
func WithoutMembers(object string, names ...string) string {
	list := membersOf(object)
	if len(list) == 0 {
		return object
	}
	var out strings.Builder
	out.WriteString(object[:list[0].start])
	kept := 0
	for i, m := range list {
		if slices.Contains(names, m.name) {
			continue
		}
		if kept++; kept > 1 {
			out.WriteString(object[list[i-1].end:m.start])
		}
		out.WriteString(object[m.start:m.end])
	}
	return out.String() + object[list[len(list)-1].end:]
}

// WithMember returns an object with a member set to a JSON value, in its place if it has one. All other bytes
// stay as they are.
func WithMember(object, name, value string) string {
	list := membersOf(object)
	for _, m := range list {
		if m.name == name {
			return object[:m.value] + value + object[m.end:]
		}
	}
	end := strings.LastIndexByte(object, '}')
	if end < 0 {
		return object
	}
	var b bytes.Buffer
	b.WriteString(object[:end])
	if len(list) > 0 {
		b.WriteByte(',')
	}
	b.Write(AppendString(nil, name))
	b.WriteString(":" + value)
	return b.String() + object[end:]
}
