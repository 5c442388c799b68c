// Package jsonedit owns changing JSON files that people write: whatever a change does not touch
// stays byte for byte, comments and trailing commas included. Writers wait for each other, and
// readers always see a whole file.
//
// It must not know what a file is for.
package jsonedit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"jcode/internal/atomicfile"
	"jcode/internal/filelock"
)

// lockWait is how long a writer waits for another.
const lockWait = 10 * time.Second

// mark is the byte order mark that some editors write at the start of a file.
const mark = "\xef\xbb\xbf"

// Edit changes a file in place, and creates it (mode 0600) if it is missing. A file that does not
// parse, or contains no object, is refused and left unchanged; so is a file for which change
// fails.
func Edit(path string, change func(root *hujson.Object) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock, err := filelock.Wait(ctx, path+".lock")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = lock.Remove() }() // the kernel drops the lock in any case
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write %s: %w", path, err)
	}
	text, bom := bytes.CutPrefix(data, []byte(mark))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{\n}\n")
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %s; fix the file first, nothing was written", path, Fault(err))
	}
	top, ok := root.Value.(*hujson.Object)
	if !ok {
		return fmt.Errorf("%s: the file must hold a JSON object; nothing was written", path)
	}
	if err := change(top); err != nil {
		return err
	}
	out := root.Pack()
	if bom {
		out = append([]byte(mark), out...)
	}
	if bytes.Equal(out, data) {
		return nil
	}
	return atomicfile.Write(path, out, atomicfile.Options{Perm: 0o600, Sync: true})
}

// Fault returns the text of an error of hujson.Parse for people: "line 3, column 5: …". The text
// at that place is left out: it may be a secret without its quotes.
func Fault(err error) string {
	text := strings.TrimPrefix(err.Error(), "hujson: ")
	if before, _, found := strings.Cut(text, "invalid literal"); found {
		text = before + "this is not a JSON value (a text needs double quotes)"
	}
	return text
}

// Member returns the member of that name, the last one if it occurs twice; nil if there is none.
func Member(o *hujson.Object, name string) *hujson.ObjectMember {
	if i := lastIndex(o, name); i >= 0 {
		return &o.Members[i]
	}
	return nil
}

func lastIndex(o *hujson.Object, name string) int {
	for i, m := range slices.Backward(o.Members) {
		if Name(m) == name {
			return i
		}
	}
	return -1
}

// Name returns the name of a member.
func Name(m hujson.ObjectMember) string {
	if lit, ok := m.Name.Value.(hujson.Literal); ok {
		return lit.String()
	}
	return ""
}

// Set sets a value at a path of member names, and creates objects on the way.
func Set(o *hujson.Object, path []string, value json.RawMessage) error {
	for depth := 1; ; depth++ {
		name := path[0]
		m := Member(o, name)
		if len(path) > 1 && m != nil {
			inner, ok := m.Value.Value.(*hujson.Object)
			if !ok {
				return fmt.Errorf("%s is not an object", name)
			}
			o, path = inner, path[1:]
			continue
		}
		for i := len(path) - 1; i > 0; i-- {
			quoted, err := json.Marshal(path[i])
			if err != nil {
				return err
			}
			value = append(append(append(append([]byte("{"), quoted...), ':'), value...), '}')
		}
		return setMember(o, name, value, depth)
	}
}

// setMember sets one member, formatted like its neighbours.
func setMember(o *hujson.Object, name string, value json.RawMessage, depth int) error {
	indent, unit := indentOf(o, depth)
	var b bytes.Buffer
	if err := json.Indent(&b, value, indent, unit); err != nil {
		return fmt.Errorf("format the new entry: %w", err)
	}
	v, err := hujson.Parse(b.Bytes())
	if err != nil {
		return fmt.Errorf("format the new entry: %w", err)
	}
	if m := Member(o, name); m != nil {
		m.Value.Value = v.Value
		return nil
	}
	fresh := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: v}
	fresh.Value.BeforeExtra = hujson.Extra(" ")
	// The text before the closing brace may be a comment on the last member.
	fresh.Name.BeforeExtra = append(bytes.TrimRight(o.AfterExtra, " \t\r\n"), "\n"+indent...)
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		fresh.Value.AfterExtra = hujson.Extra{} // the file's style: a trailing comma
	}
	o.AfterExtra = hujson.Extra("\n" + strings.TrimSuffix(indent, unit))
	o.Members = append(o.Members, fresh)
	return nil
}

// indentOf returns the indentation of an object's members and its unit.
func indentOf(o *hujson.Object, depth int) (indent, unit string) {
	for i := range o.Members {
		before := string(o.Members[i].Name.BeforeExtra)
		at := strings.LastIndexByte(before, '\n')
		if at < 0 || strings.TrimLeft(before[at+1:], " \t") != "" {
			continue
		}
		if indent = before[at+1:]; len(indent) >= depth {
			return indent, indent[:len(indent)/depth]
		}
	}
	return strings.Repeat("  ", depth), "  "
}

// Delete removes every member of that name with the comments above it and the one on its line, and
// reports whether there was one. Comments of its neighbours stay.
func Delete(o *hujson.Object, name string) bool {
	had := false
	for i := lastIndex(o, name); i >= 0; i = lastIndex(o, name) {
		deleteAt(o, i)
		had = true
	}
	return had
}

func deleteAt(o *hujson.Object, i int) {
	m, last := &o.Members[i], i == len(o.Members)-1
	after := &o.AfterExtra
	if !last {
		after = &o.Members[i+1].Name.BeforeExtra
	}
	ofPrevious, _ := splitLine(m.Name.BeforeExtra)
	_, rest := splitLine(*after)
	*after = append(slices.Clone(ofPrevious), rest...)
	trailingComma := m.Value.AfterExtra != nil
	o.Members = slices.Delete(o.Members, i, i+1)
	if n := len(o.Members); last && n > 0 && trailingComma && o.Members[n-1].Value.AfterExtra == nil {
		o.Members[n-1].Value.AfterExtra = hujson.Extra{}
	}
}

// splitLine splits what is between two members: the rest of the first one's line
// belongs to it, what follows to the second.
func splitLine(e hujson.Extra) (line, rest hujson.Extra) {
	at := bytes.IndexByte(e, '\n')
	if at < 0 || bytes.Count(e[:at], []byte("/*")) > bytes.Count(e[:at], []byte("*/")) {
		return nil, e
	}
	return e[:at], e[at:]
}
