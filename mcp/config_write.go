package mcp

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

// errExists says that a server of that name is in the file already.
var errExists = errors.New("exists already")

// errMissing says that the file has no such server.
var errMissing = errors.New("is not in the file")

// editFile changes a configuration file in place: what the change does not touch stays
// byte for byte, comments included. Writers wait for each other; readers always see a
// whole file. A file that does not parse is refused.
func editFile(path string, change func(root *hujson.Value) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
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
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{\n}\n")
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %s; mend the file first, nothing was written", path, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return fmt.Errorf("%s: the file must hold a JSON object; nothing was written", path)
	}
	if err := change(&root); err != nil {
		return err
	}
	out := root.Pack()
	if bytes.Equal(out, data) {
		return nil
	}
	return atomicfile.Write(path, out, atomicfile.Options{Perm: 0o600, Sync: true})
}

// serversKey is the member that holds a server of that name, or new ones.
func serversKey(root *hujson.Object, name string) string {
	for _, key := range []string{"mcpServers", "servers"} {
		if m := member(root, key); m != nil {
			if o, ok := m.Value.Value.(*hujson.Object); ok && member(o, name) != nil {
				return key
			}
		}
	}
	if member(root, "mcpServers") == nil && member(root, "servers") != nil {
		return "servers"
	}
	return "mcpServers"
}

// putServer adds or, with force, replaces a server.
func putServer(path, name string, value json.RawMessage, force bool) error {
	return editFile(path, func(root *hujson.Value) error {
		top := root.Value.(*hujson.Object)
		key := serversKey(top, name)
		if m := member(top, key); m != nil {
			if o, ok := m.Value.Value.(*hujson.Object); ok && member(o, name) != nil && !force {
				return fmt.Errorf("server %s %w in %s (use --force to replace it)", name, errExists, path)
			}
		}
		return putMember(top, []string{key, name}, value)
	})
}

// dropServer removes a server.
func dropServer(path, name string) error {
	return editFile(path, func(root *hujson.Value) error {
		top := root.Value.(*hujson.Object)
		if m := member(top, serversKey(top, name)); m != nil {
			if o, ok := m.Value.Value.(*hujson.Object); ok && dropMember(o, name) {
				return nil
			}
		}
		return fmt.Errorf("server %s %w %s", name, errMissing, path)
	})
}

// dropMember removes a member with the comments above it and the one on its line. The
// neighbours keep theirs.
func dropMember(o *hujson.Object, name string) bool {
	m := member(o, name)
	if m == nil {
		return false
	}
	i := slices.IndexFunc(o.Members, func(x hujson.ObjectMember) bool { return memberName(&x) == name })
	last := i == len(o.Members)-1
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
	return true
}

// splitLine splits what stands between two members: the rest of the first one's line
// belongs to it, what follows to the second.
func splitLine(e hujson.Extra) (line, rest hujson.Extra) {
	at := bytes.IndexByte(e, '\n')
	if at < 0 || bytes.Count(e[:at], []byte("/*")) > bytes.Count(e[:at], []byte("*/")) {
		return nil, e
	}
	return e[:at], e[at:]
}

// putEnabled switches a server of the file on or off.
func putEnabled(path, name string, enabled bool) error {
	return editFile(path, func(root *hujson.Value) error {
		top := root.Value.(*hujson.Object)
		key := serversKey(top, name)
		base := "/" + key + "/" + pointerPart(name)
		if root.Find(base) == nil {
			return fmt.Errorf("server %s %w %s", name, errMissing, path)
		}
		if root.Find(base+"/disabled") != nil {
			return putMember(top, []string{key, name, "disabled"}, boolJSON(!enabled))
		}
		return putMember(top, []string{key, name, "enabled"}, boolJSON(enabled))
	})
}

// putOverride switches an imported server on or off in the person's own file.
func putOverride(path, name string, enabled bool) error {
	return editFile(path, func(root *hujson.Value) error {
		return putMember(root.Value.(*hujson.Object), []string{"overrides", name, "enabled"}, boolJSON(enabled))
	})
}

func boolJSON(b bool) json.RawMessage {
	if b {
		return json.RawMessage("true")
	}
	return json.RawMessage("false")
}

func pointerPart(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// putMember sets a value at a path of member names, making objects on the way.
func putMember(o *hujson.Object, path []string, value json.RawMessage) error {
	for depth := 1; ; depth++ {
		name := path[0]
		m := member(o, name)
		if len(path) > 1 && m != nil {
			inner, ok := m.Value.Value.(*hujson.Object)
			if !ok {
				return fmt.Errorf("%s is no object", name)
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
	if m := member(o, name); m != nil {
		m.Value.Value = v.Value
		return nil
	}
	fresh := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: v}
	fresh.Value.BeforeExtra = hujson.Extra(" ")
	// What stands before the closing brace may be a comment on the last member.
	fresh.Name.BeforeExtra = append(bytes.TrimRight(o.AfterExtra, " \t\r\n"), "\n"+indent...)
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		fresh.Value.AfterExtra = hujson.Extra{} // the file's style: a trailing comma
	}
	o.AfterExtra = hujson.Extra("\n" + strings.TrimSuffix(indent, unit))
	o.Members = append(o.Members, fresh)
	return nil
}

// indentOf gives the indentation of an object's members and its unit.
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
