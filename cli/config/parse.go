package config

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"jcode/internal/jsonedit"
)

// document is one file, parsed as far as possible.
type document struct {
	file     string
	data     []byte
	root     *hujson.Object
	problems []Problem
}

// parse reads JSON with comments and trailing commas. If the whole does not parse, the members of the top
// level that do are kept.
func parse(file string, data []byte) *document {
	d := &document{file: file, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), root: &hujson.Object{}}
	if len(bytes.TrimSpace(d.data)) == 0 {
		return d
	}
	v, err := hujson.Parse(d.data)
	if err != nil {
		d.problems = append(d.problems, syntaxProblem(file, err))
		d.salvage()
		return d
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		d.problems = append(d.problems, Problem{File: file, Line: 1, Col: 1, Text: "must hold a JSON object: { … }"})
		return d
	}
	d.root = root
	return d
}

func syntaxProblem(file string, err error) Problem {
	text := jsonedit.Fault(err)
	p := Problem{File: file}
	if _, err := fmt.Sscanf(text, "line %d, column %d:", &p.Line, &p.Col); err == nil {
		_, text, _ = strings.Cut(text, ": ")
	}
	p.Text = "is not valid JSON: " + text
	return p
}

// salvage reads each member of the top level separately.
func (d *document) salvage() {
	for _, part := range splitMembers(d.data) {
		source := make([]byte, 0, part.end-part.start+2)
		source = append(source, '{')
		source = append(source, d.data[part.start:part.end]...)
		source = append(source, '}')
		v, err := hujson.Parse(source)
		if err != nil {
			continue // the problem of the whole covers it
		}
		if o, ok := v.Value.(*hujson.Object); ok {
			for _, m := range o.Members {
				shift(&m.Name, part.start-1)
				shift(&m.Value, part.start-1)
				d.root.Members = append(d.root.Members, m)
			}
		}
	}
}

// shift moves the offsets of a value and everything in it.
func shift(v *hujson.Value, by int) {
	for x := range v.All() {
		x.StartOffset += by
		x.EndOffset += by
	}
}

type span struct{ start, end int }

// splitMembers finds the members of the outer object by counting brackets, in a text that
// does not parse.
func splitMembers(data []byte) []span {
	var parts []span
	depth, start := 0, -1
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			i = endOfString(data, i)
		case c == '/' && i+1 < len(data) && data[i+1] == '/':
			if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(data)
			}
		case c == '/' && i+1 < len(data) && data[i+1] == '*':
			if n := bytes.Index(data[i+2:], []byte("*/")); n >= 0 {
				i += n + 3
			} else {
				i = len(data)
			}
		case c == '{' || c == '[':
			if depth++; depth == 1 {
				start = i + 1
			}
		case (c == '}' || c == ']') && depth > 0:
			if depth--; depth == 0 {
				return append(parts, span{start, i})
			}
		case c == ',' && depth == 1:
			parts = append(parts, span{start, i})
			start = i + 1
		}
	}
	return parts
}

// endOfString returns the closing quote of the string that begins at i. A string ends at its line's end in
// any case: JSON has no multi-line strings.
func endOfString(data []byte, i int) int {
	for j := i + 1; j < len(data); j++ {
		switch data[j] {
		case '\\':
			j++
		case '"', '\n':
			return j
		}
	}
	return len(data)
}

// at returns the line and column of an offset.
func (d *document) at(offset int) (line, col int) {
	offset = min(max(offset, 0), len(d.data))
	before := d.data[:offset]
	return 1 + bytes.Count(before, []byte("\n")), offset - bytes.LastIndexByte(before, '\n')
}

func (d *document) problem(offset int, key, format string, args ...any) {
	line, col := d.at(offset)
	d.problems = append(d.problems, Problem{File: d.file, Line: line, Col: col, Key: key, Text: fmt.Sprintf(format, args...)})
}

func (d *document) harmless(offset int, key, format string, args ...any) {
	d.problem(offset, key, format, args...)
	d.problems[len(d.problems)-1].Harmless = true
}

// plain converts a value to the types of encoding/json: string, float64, bool, nil, []any, map.
func plain(v hujson.Value) any {
	switch x := v.Value.(type) {
	case hujson.Literal:
		switch x.Kind() {
		case '"':
			return x.String()
		case '0':
			return x.Float()
		case 't', 'f':
			return x.Bool()
		}
		return nil
	case *hujson.Array:
		list := make([]any, len(x.Elements))
		for i, e := range x.Elements {
			list[i] = plain(e)
		}
		return list
	case *hujson.Object:
		m := make(map[string]any, len(x.Members))
		for _, e := range x.Members {
			m[jsonedit.Name(e)] = plain(e.Value)
		}
		return m
	}
	return nil
}
