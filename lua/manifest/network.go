package manifest

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"jcode/lua/wire"
)

// Network is the hosts and methods of HTTP requests.
type Network struct {
	Hosts   []string
	Methods []string
}

// HTTPMethods returns the methods that a script can use.
func HTTPMethods() []string { return []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"} }

func parseNetwork(v any) (*Network, error) {
	o, ok := v.(*wire.Object)
	if !ok {
		return nil, &keyError{"network", `permissions.network must be {"allowed_hosts": [...]}`}
	}
	n := &Network{Methods: []string{"GET", "HEAD"}}
	for i := range o.Len() {
		key, v := o.At(i)
		list, err := wire.Texts(v)
		if err != nil {
			return nil, &keyError{key, fmt.Sprintf("permissions.network.%s must be an array of texts", key)}
		}
		switch key {
		case "allowed_hosts":
			for _, h := range list {
				if !validHost(h) {
					return nil, &keyError{h, fmt.Sprintf("permissions.network.allowed_hosts: bad host %q; use name, *.name or name:port", h)}
				}
			}
			n.Hosts = list
		case "methods":
			for j, m := range list {
				list[j] = strings.ToUpper(m)
				if !slices.Contains(HTTPMethods(), list[j]) {
					return nil, &keyError{m, fmt.Sprintf("permissions.network.methods: unknown method %q", m)}
				}
			}
			n.Methods = list
		default:
			return nil, &keyError{key, fmt.Sprintf("unknown key permissions.network.%s; known: allowed_hosts, methods", key)}
		}
	}
	if len(n.Hosts) == 0 {
		return nil, &keyError{"network", "permissions.network.allowed_hosts is required"}
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

// splitHost splits a host from its port, "" when it has none.
func splitHost(h string) (name, port string) {
	if i := strings.LastIndexByte(h, ':'); i > strings.LastIndexByte(h, ']') {
		return h[:i], h[i+1:]
	}
	return h, ""
}

// Allows reports whether the host of a URL is listed, and whether it is by its very name
// rather than by a pattern.
func (n *Network) Allows(u *url.URL) (ok, literal bool) {
	usual := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	host, port := strings.ToLower(u.Hostname()), cmp.Or(u.Port(), usual)
	for _, h := range n.Hosts {
		name, wantPort := splitHost(strings.ToLower(h))
		if port != cmp.Or(wantPort, usual) {
			continue
		}
		name = strings.Trim(name, "[]")
		if name == host {
			return true, true
		}
		if rest, wild := strings.CutPrefix(name, "*"); wild && strings.HasSuffix(host, rest) && len(host) > len(rest) {
			ok = true
		}
	}
	return ok, false
}

// Lacks describes the entry of allowed_hosts that a URL would need.
func (n *Network) Lacks(u *url.URL) string {
	why := fmt.Sprintf(" with host %q", u.Host)
	for _, h := range n.Hosts {
		if name, port := splitHost(h); port == "" && strings.EqualFold(strings.Trim(name, "[]"), u.Hostname()) {
			return why + fmt.Sprintf(": %q without a port means port 80 of http and 443 of https", h)
		}
	}
	return why
}
