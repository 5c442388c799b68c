package acp

import (
	"encoding/json"
	"errors"
	"fmt"
)

// opening is session/new, session/load and session/resume: where, and with which MCP servers.
type opening struct {
	SessionID string         `json:"sessionId"`
	Cwd       string         `json:"cwd"`
	Dirs      []string       `json:"additionalDirectories"`
	Servers   []clientServer `json:"mcpServers"`
}

// Validate is called by decode.
func (o *opening) Validate() error {
	if o.Cwd == "" {
		return errors.New("cwd is missing")
	}
	return nil
}

// clientServer is an MCP server of the client. Clients write environment and headers as lists of names and
// values, as the protocol has them, or as objects, as configuration files do.
type clientServer struct {
	Name    string          `json:"name"`
	Type    string          `json:"type"`
	Command string          `json:"command"`
	Args    []string        `json:"args"`
	Env     json.RawMessage `json:"env"`
	URL     string          `json:"url"`
	Headers json.RawMessage `json:"headers"`
}

// entry returns the server as an entry of a configuration file; i is its place in the list.
func (s clientServer) entry(i int) (json.RawMessage, error) {
	at := fmt.Sprintf("mcpServers[%d]", i)
	if s.Name == "" {
		return nil, invalid("%s: an MCP server has no name", at)
	}
	var v map[string]any
	switch {
	case s.Command != "" && (s.Type == "" || s.Type == "stdio"):
		env, err := pairs(s.Env)
		if err != nil {
			return nil, invalid("%s.env: %v", at, err)
		}
		v = map[string]any{"command": s.Command, "args": s.Args, "env": env}
	case s.URL != "" && (s.Type == "http" || s.Type == "sse" || s.Type == ""):
		headers, err := pairs(s.Headers)
		if err != nil {
			return nil, invalid("%s.headers: %v", at, err)
		}
		v = map[string]any{"url": s.URL, "headers": headers}
		if s.Type != "" {
			v["type"] = s.Type
		}
	default:
		return nil, invalid("%s (%s): MCP servers are reached over stdio, http or sse", at, s.Name)
	}
	return json.Marshal(v)
}

// pairs decodes names with values, a list or an object.
func pairs(raw json.RawMessage) (map[string]string, error) {
	out := map[string]string{}
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &out) == nil {
		return out, nil
	}
	var list []struct{ Name, Value string }
	if json.Unmarshal(raw, &list) != nil {
		return nil, errors.New("it is a list of objects with name and value, or an object of texts")
	}
	out = map[string]string{}
	for _, e := range list {
		out[e.Name] = e.Value
	}
	return out, nil
}
