// Package frontmatter owns reading Markdown files that begin with a block of `key: value` lines
// between two `---` lines. It reads what YAML would read and is more lenient: each key is parsed
// on its own, so an error in one never affects another, and every problem is reported with its
// line and what to do.
//
// It must not know which keys mean what.
package frontmatter

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"jcode/internal/charset"
)

// Document is a parsed Markdown text.
type Document struct {
	// Present says that the text begins with a `---` line, apart from blank lines.
	Present bool
	// Closed says that the front matter has its closing `---` line.
	Closed bool
	// Fields are the keys in the order of the text.
	Fields []Field
	// Body is what follows the front matter: valid UTF-8 with `\n` line ends.
	Body string
	// BodyLine is the 1-based line at which Body begins.
	BodyLine int
	// Problems lists everything that is wrong.
	Problems []Problem
}

// Problem is one thing that is wrong in a text.
type Problem struct {
	// Line is 1-based.
	Line int
	// Text says what is wrong.
	Text string
	// Cure says what to do about it.
	Cure string
	// Key is the key whose value it is about, "" for a line that has no key of its own.
	Key string
	// After is the key that a line without one follows, or that a line repeats.
	After string
}

// Field is a key with its value.
type Field struct {
	Key  string
	Line int // 1-based
	Value
}

// Kind is the form of a value.
type Kind int

// The forms of a value.
const (
	Text Kind = iota // a scalar, always as it is written: `3000` is the text "3000"
	List
	Map
	Null // nothing after the colon, `~` or `null`
)

// Value is the value of a key.
type Value struct {
	Kind Kind
	// Text is set for Text.
	Text string
	// List is set for List; items that are not scalars are in YAML's flow form.
	List []string
	// Map is set for Map, in order.
	Map []Pair
}

// Pair is one entry of a Map.
type Pair struct{ Key, Value string }

// String returns any value as one text: a list joined by ", ", a map as "key: value, …".
func (v Value) String() string {
	switch v.Kind {
	case List:
		return strings.Join(v.List, ", ")
	case Map:
		parts := make([]string, len(v.Map))
		for i, p := range v.Map {
			parts[i] = p.Key + ": " + p.Value
		}
		return strings.Join(parts, ", ")
	default:
		return v.Text
	}
}

// Get returns the field of a key. Keys compare without regard to case, and `_` as `-`.
func (d *Document) Get(key string) (Field, bool) {
	key = normal(key)
	for _, f := range d.Fields {
		if normal(f.Key) == key {
			return f, true
		}
	}
	return Field{}, false
}

func normal(key string) string { return strings.ReplaceAll(strings.ToLower(key), "_", "-") }

// Parse parses a text. It never fails: see Document.Problems.
func Parse(data []byte) Document {
	var d Document
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	text := string(data)
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		decoded, encoding := charset.Decode(data)
		switch encoding {
		case charset.UTF8, charset.Binary:
			d.problem(1, "the file is not UTF-8", "save it as UTF-8")
			text = strings.ToValidUTF8(text, "\uFFFD")
		default:
			d.problem(1, "the file is not UTF-8 and is read as "+encoding, "save it as UTF-8")
			text = decoded
		}
	}
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	lines := strings.Split(text, "\n")
	start := 0 // of the front matter
	for start < len(lines)-1 && strings.TrimSpace(lines[start]) == "" {
		start++
	}
	end := len(lines)
	for i := start + 1; i < len(lines); i++ {
		if l := strings.TrimRight(lines[i], " \t"); l == "---" || l == "..." {
			end, d.Closed = i, true
			break
		}
	}
	// After blank lines, a lone `---` is a horizontal rule of the text.
	if strings.TrimRight(lines[start], " \t") != "---" || start > 0 && !d.Closed {
		d.Closed = false
		d.Body, d.BodyLine = text, 1
		return d
	}
	d.Present = true
	d.fields(lines[start+1:end], start+2)
	d.BodyLine = end + 2
	if d.Closed && end+1 < len(lines) {
		d.Body = strings.Join(lines[end+1:], "\n")
	}
	if !d.Closed {
		d.problem(1, "the front matter is never closed", "put a line `---` after its last key")
	}
	return d
}

func (d *Document) problem(line int, text, cure string) {
	d.Problems = append(d.Problems, Problem{Line: line, Text: text, Cure: cure})
}

// about records a problem of a key's value.
func (d *Document) about(key string, line int, text, cure string) {
	d.Problems = append(d.Problems, Problem{Line: line, Text: text, Cure: cure, Key: key})
}

// chunk is one key with all the lines that belong to it.
type chunk struct {
	key   string
	line  int // 1-based in the file
	first string
	rest  []string
}

// fields splits the front matter at its keys and parses each on its own. first is the number of
// the first line.
func (d *Document) fields(lines []string, first int) {
	var chunks []chunk
	for i, l := range lines {
		number := i + first
		if key, value, ok := splitKey(l); ok {
			chunks = append(chunks, chunk{key: key, line: number, first: value})
			continue
		}
		if len(chunks) == 0 {
			if t := strings.TrimSpace(l); t != "" && t[0] != '#' {
				d.problem(number, "not a `key: value` line", "remove it, or give it a key")
			}
			continue
		}
		if l != "" && l[0] == '#' {
			continue
		}
		last := &chunks[len(chunks)-1]
		if l != "" && l[0] != ' ' && l[0] != '\t' && !strings.HasPrefix(l, "-") && !strings.ContainsAny(l[:1], "]}") {
			d.Problems = append(d.Problems, Problem{Line: number, Text: "the line belongs to no key", Cure: "indent it if it continues `" + last.key + "`", After: last.key})
			l = "  " + l
		}
		last.rest = append(last.rest, l)
	}
	for _, c := range chunks {
		if _, ok := d.Get(c.key); ok {
			d.Problems = append(d.Problems, Problem{Line: c.line, Text: "`" + c.key + "` appears here for the second time", Cure: "keep one; the first counts", After: c.key})
			continue
		}
		d.Fields = append(d.Fields, Field{Key: c.key, Line: c.line, Value: d.value(c)})
	}
}

// splitKey splits a line `key: value`.
func splitKey(line string) (key, value string, ok bool) {
	i := strings.IndexByte(line, ':')
	if i <= 0 || i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '\t' {
		return "", "", false
	}
	key = strings.TrimRight(line[:i], " ")
	if n := len(key); n > 2 && (key[0] == '"' || key[0] == '\'') && key[n-1] == key[0] {
		key = key[1 : n-1]
	}
	for j, r := range key {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (j == 0 || r != '-' && r != '.' && (r < '0' || r > '9')) {
			return "", "", false
		}
	}
	return key, strings.TrimSpace(line[i+1:]), key != ""
}

// value parses one chunk. Plain text is taken literally, including a colon in it; everything else
// is parsed as YAML, and taken as text if that fails.
func (d *Document) value(c chunk) Value {
	first, rest := c.first, trimBlank(c.rest)
	if first == "" || strings.HasPrefix(first, "#") {
		if len(rest) == 0 {
			return Value{Kind: Null}
		}
	} else if !strings.ContainsAny(first[:1], "\"'|>[{&*!%@`-?") || isDash(first) {
		return d.plain(c, first, rest)
	}
	source := "v: " + first + "\n" + strings.Join(rest, "\n") + "\n"
	var node yaml.Node
	err := yaml.Unmarshal([]byte(source), &node)
	if err == nil && len(node.Content) == 1 && node.Content[0].Kind == yaml.MappingNode && len(node.Content[0].Content) == 2 {
		return fromNode(node.Content[0].Content[1])
	}
	d.about(c.key, c.line, "the value of `"+c.key+"` is not valid YAML and is read as text",
		"put it in double quotes, or begin it with `>-` and indent it on the next line")
	return Value{Kind: Text, Text: fold(first, rest)}
}

// isDash reports whether a text merely begins with a dash or question mark.
func isDash(s string) bool {
	return (s[0] == '-' || s[0] == '?') && len(s) > 1 && s[1] != ' '
}

// plain reads a plain scalar over one or more lines.
func (d *Document) plain(c chunk, first string, rest []string) Value {
	for i, l := range rest {
		if strings.HasPrefix(l, "-") {
			d.about(c.key, c.line+1+i, "the line is read as part of `"+c.key+"`", "a list begins on the line after the key; else put the whole value in double quotes")
		}
	}
	text := fold(first, rest)
	if i := strings.Index(text, " # "); i >= 0 {
		text = strings.TrimSpace(text[:i])
	} else if strings.Contains(text, " #") {
		d.about(c.key, c.line, "other programs read ` #` in `"+c.key+"` as the start of a comment", "put the value in double quotes")
	}
	if text == "~" || text == "null" {
		return Value{Kind: Null}
	}
	return Value{Kind: Text, Text: text}
}

// fold joins lines as YAML folds plain text: a line break becomes a space, an empty line a line
// break.
func fold(first string, rest []string) string {
	var b strings.Builder
	b.WriteString(first)
	gap := first == ""
	for _, l := range rest {
		l = strings.TrimSpace(l)
		if l == "" {
			b.WriteByte('\n')
			gap = true
			continue
		}
		if !gap {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteString(l)
	}
	return b.String()
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func fromNode(n *yaml.Node) Value {
	switch n.Kind {
	case yaml.SequenceNode:
		v := Value{Kind: List}
		for _, item := range n.Content {
			v.List = append(v.List, flat(item))
		}
		return v
	case yaml.MappingNode:
		v := Value{Kind: Map}
		for i := 0; i+1 < len(n.Content); i += 2 {
			v.Map = append(v.Map, Pair{Key: flat(n.Content[i]), Value: flat(n.Content[i+1])})
		}
		return v
	default:
	}
	if n.Tag == "!!null" {
		return Value{Kind: Null}
	}
	return Value{Kind: Text, Text: strings.TrimSpace(n.Value)}
}

// flat returns a node as one line of text.
func flat(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	c := *n
	c.Style = yaml.FlowStyle
	out, err := yaml.Marshal(&c)
	if err != nil {
		return n.Value // an alias without its anchor
	}
	return strings.TrimSpace(string(out))
}
