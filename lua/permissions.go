package lua

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"jcode/lua/wire"
	"jcode/tools"
)

// permissions is the ceiling that a manifest or a plugin declares. The zero value
// grants nothing.
type permissions struct {
	Network      *network
	FSRead       []string
	FSWrite      []string
	hasFS        bool
	Intents      []string
	Exec         [][]string
	MCP          []string
	Env          []string
	Capabilities tools.Capabilities
	Events       []string
	MCPAdmin     bool
	raw          *wire.Object
}

// network is what http may reach.
type network struct {
	Hosts   []string
	Methods []string
}

// empty reports whether nothing is asked for.
func (p *permissions) empty() bool { return p == nil || p.raw.Len() == 0 }

// permissionError names the key at fault.
type permissionError struct{ key, text string }

func (e *permissionError) Error() string { return e.text }

func quotedIn(err error) string {
	if e, ok := err.(*permissionError); ok { //nolint:errorlint // made here only
		return e.key
	}
	return "permissions"
}

// parsePermissions reads a declaration. An unknown key is an error: a mistyped
// restriction must not widen anything.
func parsePermissions(o *wire.Object, plugin bool) (permissions, error) {
	p := permissions{raw: o}
	for i := range o.Len() {
		key, v := o.At(i)
		if err := p.field(key, v, plugin); err != nil {
			return permissions{}, err
		}
	}
	return p, nil
}

func (p *permissions) field(key string, v any, plugin bool) (err error) {
	wrong := func(form string) error {
		return &permissionError{key, fmt.Sprintf("permissions.%s must be %s", key, form)}
	}
	switch key {
	case "network":
		p.Network, err = parseNetwork(v)
		return err
	case "fs":
		return p.fs(v)
	case "intents":
		if p.Intents, err = texts(v); err != nil {
			return wrong(`an array of names such as ["grep"]`)
		}
	case "exec":
		list, ok := v.([]any)
		if !ok {
			return wrong(`an array of word lists such as [["git","log"]]`)
		}
		for _, item := range list {
			words, err := texts(item)
			if err != nil || len(words) == 0 {
				return wrong(`an array of word lists such as [["git","log"]]`)
			}
			p.Exec = append(p.Exec, words)
		}
	case "mcp":
		if p.MCP, err = texts(v); err != nil || slices.ContainsFunc(p.MCP, func(s string) bool { return !strings.Contains(s, ":") }) {
			return wrong(`an array such as ["server:tool"]`)
		}
	case "env":
		if p.Env, err = texts(v); err != nil {
			return wrong(`an array of names such as ["LANG"]`)
		}
	case "capabilities", "events", "mcp_admin":
		if !plugin {
			return &permissionError{key, fmt.Sprintf("permissions.%s is for plugins only", key)}
		}
		return p.pluginField(key, v, wrong)
	default:
		return &permissionError{key, fmt.Sprintf("unknown key permissions.%s; known: network, fs, intents, exec, mcp, env", key)}
	}
	return nil
}

func (p *permissions) pluginField(key string, v any, wrong func(string) error) error {
	if key == "mcp_admin" {
		b, ok := v.(bool)
		if !ok {
			return wrong("true or false")
		}
		p.MCPAdmin = b
		return nil
	}
	list, err := texts(v)
	if err != nil {
		return wrong("an array of names")
	}
	if key == "capabilities" {
		if p.Capabilities, err = tools.ParseCapabilities(list); err != nil {
			return &permissionError{key, "permissions.capabilities: " + err.Error()}
		}
		return nil
	}
	for _, e := range list {
		if !slices.Contains(wire.Events[:], e) {
			return &permissionError{key, fmt.Sprintf("permissions.events: unknown event %q; known: %s", e, strings.Join(wire.Events[:], ", "))}
		}
	}
	p.Events = list
	return nil
}

func (p *permissions) fs(v any) (err error) {
	o, ok := v.(*wire.Object)
	if !ok {
		return &permissionError{"fs", `permissions.fs must be {"read": [...], "write": [...]}`}
	}
	p.hasFS = true
	for i := range o.Len() {
		key, v := o.At(i)
		list, err := texts(v)
		if err != nil {
			return &permissionError{key, fmt.Sprintf("permissions.fs.%s must be an array of globs", key)}
		}
		for _, g := range list {
			if !doublestar.ValidatePattern(g) || filepath.IsAbs(g) || strings.Contains(g, "..") {
				return &permissionError{g, fmt.Sprintf("permissions.fs.%s: bad glob %q; globs are relative to the project, without ..", key, g)}
			}
		}
		switch key {
		case "read":
			p.FSRead = list
		case "write":
			p.FSWrite = list
		default:
			return &permissionError{key, fmt.Sprintf("unknown key permissions.fs.%s; known: read, write", key)}
		}
	}
	return nil
}

func parseNetwork(v any) (*network, error) {
	o, ok := v.(*wire.Object)
	if !ok {
		return nil, &permissionError{"network", `permissions.network must be {"allowed_hosts": [...]}`}
	}
	n := &network{Methods: []string{"GET", "HEAD"}}
	for i := range o.Len() {
		key, v := o.At(i)
		list, err := texts(v)
		if err != nil {
			return nil, &permissionError{key, fmt.Sprintf("permissions.network.%s must be an array of texts", key)}
		}
		switch key {
		case "allowed_hosts":
			for _, h := range list {
				if !validHost(h) {
					return nil, &permissionError{h, fmt.Sprintf("permissions.network.allowed_hosts: bad host %q; use name, *.name or name:port", h)}
				}
			}
			n.Hosts = list
		case "methods":
			for j, m := range list {
				list[j] = strings.ToUpper(m)
				if !slices.Contains(httpMethods[:], list[j]) {
					return nil, &permissionError{m, fmt.Sprintf("permissions.network.methods: unknown method %q", m)}
				}
			}
			n.Methods = list
		default:
			return nil, &permissionError{key, fmt.Sprintf("unknown key permissions.network.%s; known: allowed_hosts, methods", key)}
		}
	}
	if len(n.Hosts) == 0 {
		return nil, &permissionError{"network", "permissions.network.allowed_hosts is required"}
	}
	return n, nil
}

// validHost reports whether h is `name`, `*.name`, `[address]`, each with an optional port.
func validHost(h string) bool {
	name, port := splitHost(h)
	if strings.Trim(port, "0123456789") != "" || len(port) > 5 || strings.HasSuffix(h, ":") {
		return false
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		return strings.HasSuffix(inner, "]") && len(inner) > 1 && strings.Trim(inner[:len(inner)-1], "0123456789abcdefABCDEF:.") == ""
	}
	name = strings.TrimPrefix(name, "*.")
	return name != "" && strings.Trim(name, wordBytes+".-") == ""
}

// splitHost parts a host from its port, "" when it has none.
func splitHost(h string) (name, port string) {
	if i := strings.LastIndexByte(h, ':'); i > strings.LastIndexByte(h, ']') {
		return h[:i], h[i+1:]
	}
	return h, ""
}

// allows reports whether a URL's host is listed, and whether it is so literally.
func (n *network) allows(u *url.URL) (ok, literal bool) {
	host := strings.ToLower(u.Hostname())
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	for _, h := range n.Hosts {
		name, wantPort := splitHost(strings.ToLower(h))
		if wantPort == "" {
			wantPort = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		name = strings.Trim(name, "[]")
		if port != wantPort {
			continue
		}
		if name == host {
			return true, true
		}
		if rest, wild := strings.CutPrefix(name, "*"); wild && strings.HasSuffix(host, rest) && len(host) > len(rest) {
			ok = true
		}
	}
	return ok, false
}

// lacks says which entry of allowed_hosts a URL would need.
func (n *network) lacks(u *url.URL) string {
	why := fmt.Sprintf(" with host %q", u.Host)
	for _, h := range n.Hosts {
		if name, port := splitHost(h); port == "" && strings.EqualFold(strings.Trim(name, "[]"), u.Hostname()) {
			return why + fmt.Sprintf(": %q without a port stands for port 80 of http and 443 of https", h)
		}
	}
	return why
}

// texts reads a list of texts. An empty Lua table arrives as an empty object.
func texts(v any) ([]string, error) {
	if o, ok := v.(*wire.Object); ok && o.Len() == 0 {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("no list")
	}
	out := make([]string, len(list))
	for i, item := range list {
		if out[i], ok = item.(string); !ok {
			return nil, fmt.Errorf("item %d is no text", i+1)
		}
	}
	return out, nil
}
