package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"jcode/internal/schema"
)

// AddOptions say how a server is written to a file.
type AddOptions struct {
	Project bool // the project's file instead of the person's
	Force   bool // replace an existing one
	// CallTimeout is written when it is not 0.
	CallTimeout time.Duration
}

// AddServer writes a new server to a configuration file and returns the file's path.
func (p Paths) AddServer(name string, t Target, opt AddOptions) (string, error) {
	if err := CheckServer(name, t); err != nil {
		return "", err
	}
	raw, err := entryJSON(t, opt.CallTimeout)
	if err != nil {
		return "", err
	}
	return p.write(name, raw, opt)
}

// AddServerJSON writes a server given as JSON, keeping all of its keys.
func (p Paths) AddServerJSON(name string, data []byte, opt AddOptions) (string, error) {
	if err := CheckKey(name); err != nil {
		return "", err
	}
	if _, err := ParseJSON(name, data); err != nil {
		return "", err
	}
	return p.write(name, json.RawMessage(data), opt)
}

func (p Paths) write(name string, raw json.RawMessage, opt AddOptions) (string, error) {
	path := p.UserFile()
	if opt.Project {
		path = p.ProjectFile()
	}
	return path, putServer(path, name, raw, opt.Force)
}

// RemoveServer removes a server from the files that jcode writes and returns the path of
// the one that had it.
func (p Paths) RemoveServer(name string) (string, error) {
	c := Load(p)
	list := c.candidates[name]
	for _, e := range list {
		if p.writes(e.Source.File) {
			return e.Source.File, dropServer(e.Source.File, name)
		}
	}
	if len(list) > 0 {
		return "", fmt.Errorf("server %s is defined in %s, which another program writes; `jcode mcp disable %s` switches it off", name, list[0].Source.File, name)
	}
	return "", UnknownServer(name, slices.Sorted(maps.Keys(c.candidates)))
}

// EnableServer switches a configured server on or off in a file and returns its path.
func (p Paths) EnableServer(name string, on bool) (string, error) {
	c := Load(p)
	list := c.candidates[name]
	if len(list) == 0 {
		return "", UnknownServer(name, slices.Sorted(maps.Keys(c.candidates)))
	}
	return p.Enable(list[0], on)
}

// Enable writes whether an entry is on to the file that jcode may write for it, and returns the file's path.
func (p Paths) Enable(e Entry, on bool) (string, error) {
	if p.writes(e.Source.File) {
		return e.Source.File, putEnabled(e.Source.File, e.Name, on)
	}
	return p.UserFile(), putOverride(p.UserFile(), e.Name, on)
}

// entryJSON returns a target in the form that is written to a file; the timeout is left out if it is 0.
func entryJSON(t Target, callTimeout time.Duration) (json.RawMessage, error) {
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("encode server: %w", err)
	}
	n, err := schema.Parse(raw)
	if err != nil {
		return nil, err
	}
	o := n.(*schema.Object)
	if t.Type == Stdio {
		o.Delete("type") // a command implies its type
	}
	if callTimeout > 0 {
		o.Set("callTimeout", callTimeout.String())
	}
	return schema.Print(o), nil
}
