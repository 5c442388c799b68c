package config

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"jcode/agent/model/provider"
	"jcode/tools"
)

// Limit is a limit of the settings of whoever administers the machine.
type Limit struct{ Text, Origin string }

// Denied lists the rules that deny.
func (m *Managed) Denied() []Limit {
	if m == nil {
		return nil
	}
	return limits(m.deny)
}

func limits(list []entry) []Limit {
	out := make([]Limit, len(list))
	for i, e := range list {
		out[i] = Limit{e.text, e.origin}
	}
	return out
}

// Highest returns the highest mode and where it is set; "" for any.
func (m *Managed) Highest() (mode tools.Mode, origin string) {
	if m == nil {
		return "", ""
	}
	return m.MaxMode, m.origins["max_mode"]
}

// limit puts what concerns other settings over them.
func (m *Managed) limit(l *Loaded) {
	if m == nil {
		return
	}
	if len(m.protect) > 0 {
		const key = "sandbox.protect"
		mine := l.Config.Sandbox.Protect
		parts := l.joined[key]
		if parts == nil && len(mine) > 0 {
			parts = []joinedPart{{len(mine), l.Origins[key]}}
		}
		l.Config.Sandbox.Protect = slices.Clone(mine)
		for _, e := range m.protect {
			l.Config.Sandbox.Protect = append(l.Config.Sandbox.Protect, e.text)
			parts = append(parts, joinedPart{1, e.origin})
		}
		l.joined[key], l.Origins[key] = parts, m.protect[len(m.protect)-1].origin
	}
	order := []string{"off", "ask", "auto"}
	now := l.Config.Memory
	if now == "" {
		now = "ask"
	}
	if m.memory != "" && slices.Index(order, now) > slices.Index(order, m.memory) {
		l.Config.Memory, l.Origins["memory"] = m.memory, m.origins["memory"]
	}
	if m.telemetry != "" && l.Config.Telemetry.Content {
		l.Config.Telemetry.Content, l.Origins["telemetry.content"] = false, m.origins["telemetry"]
	}
	if m.noRemote {
		off := false
		l.Config.Remote, l.Origins["remote"] = &off, m.origins["remote"]
	}
	if mode := tools.Mode(l.Config.Mode); mode != "" && mode.Under(m.MaxMode) != mode {
		l.Config.Mode, l.Origins["mode"] = string(m.MaxMode), m.origins["max_mode"]
	}
}

// NoTelemetry reports whether nothing may be sent to a collector, and where that is said.
func (m *Managed) NoTelemetry() (origin string, off bool) {
	if m == nil || m.telemetry != "off" {
		return "", false
	}
	return m.origins["telemetry"], true
}

// ErrManaged is the error of what the settings of whoever administers the machine don't allow.
var ErrManaged = errors.New("not allowed on this machine")

// Permit returns why a model of a provider may not be used: its name, its address, and what is added to its requests.
// id is empty if none was named.
func (m *Managed) Permit(p provider.Config, id string) error {
	if m == nil {
		return nil
	}
	if err := m.Model(p.Name, id); err != nil && (id != "" || p.BaseURL == "") {
		return err
	}
	for _, l := range m.models {
		for key := range p.ExtraBody {
			if strings.HasPrefix(strings.ToLower(key), "model") {
				return fmt.Errorf("extra_body.%s of provider %s, which names another model: %w (%s)", key, p.Name, ErrManaged, l.origin)
			}
		}
	}
	if p.BaseURL == "" {
		return nil // a script
	}
	return m.Endpoint(p.BaseURL)
}

// within reports why one of the lists has no entry that fits.
func within(lists []listed, what string, fits func(entry) bool) error {
	for _, l := range lists {
		if !slices.ContainsFunc(l.entries, fits) {
			return fmt.Errorf("%s: %w (%s)", what, ErrManaged, l.origin)
		}
	}
	return nil
}

// Model returns why a model may not be used: its provider's name, "" for none, and its ID. Without an ID every model of
// the provider must be allowed, or one is checked later, when it is known.
func (m *Managed) Model(provider, id string) error {
	if m == nil || len(m.models) == 0 {
		return nil
	}
	name := id
	if provider != "" {
		name = provider + "/" + id
	}
	return within(m.models, "the model "+name, func(e entry) bool { return matches(e.text, name) })
}

// Endpoint returns why models may not be reached at an address.
func (m *Managed) Endpoint(address string) error {
	if m == nil || len(m.endpoints) == 0 {
		return nil
	}
	u, err := url.Parse(address)
	what := "models at an address that can't be read"
	if err == nil {
		what = "models at " + u.Scheme + "://" + u.Host
	}
	return within(m.endpoints, what, func(e entry) bool {
		p, fault := parseSite(e.text)
		return err == nil && fault == nil && p.covers(u)
	})
}

// Server returns why an MCP server may not run: the command line that starts it, otherwise its address.
func (m *Managed) Server(command []string, address string) error {
	if m == nil || len(m.servers) == 0 {
		return nil
	}
	if command != nil {
		return within(m.servers, "the MCP server "+strings.Join(command, " "), func(e entry) bool { return !isAddress(e.text) && fitWords(e.words, command) })
	}
	if address == "" {
		return within(m.servers, "functions of the program that drives jcode (program)", func(e entry) bool { return e.text == "program" })
	}
	u, err := url.Parse(address)
	what := "an MCP server at an address that can't be read"
	if err == nil {
		what = "the MCP server at " + u.Scheme + "://" + u.Host
	}
	return within(m.servers, what, func(e entry) bool {
		p, fault := parseSite(e.text)
		return err == nil && isAddress(e.text) && fault == nil && p.covers(u)
	})
}

// fitWords matches words one by one; a * alone at the end is any number of them.
func fitWords(pattern, words []string) bool {
	if n := len(pattern); n > 0 && pattern[n-1] == "*" {
		if len(words) < n-1 {
			return false
		}
		pattern, words = pattern[:n-1], words[:n-1]
	}
	return len(pattern) == len(words) && slices.EqualFunc(pattern, words, matches)
}

// matches compares a text with a pattern in which * stands for any characters.
func matches(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return pattern == s
	}
	if len(s) < len(parts[0])+len(parts[last]) || !strings.HasPrefix(s, parts[0]) || !strings.HasSuffix(s, parts[last]) {
		return false
	}
	s = s[len(parts[0]) : len(s)-len(parts[last])]
	for _, part := range parts[1:last] {
		_, after, ok := strings.Cut(s, part)
		if !ok {
			return false
		}
		s = after
	}
	return true
}

// Plugin returns why a plugin may not be used that comes from somewhere and whose files have this hash.
func (m *Managed) Plugin(name, from, hash string) error {
	if m == nil || len(m.plugins) == 0 {
		return nil
	}
	return within(m.plugins, "the plugin "+name+" from "+from, func(e entry) bool {
		if want, ok := strings.CutPrefix(e.text, "sha256:"); ok {
			return strings.EqualFold(want, hash)
		}
		return matches(e.text, from)
	})
}

// site is an address as a list names it.
type site struct {
	scheme, host, port string
	path               string // what is below it too
}

func isAddress(s string) bool { return strings.Contains(s, "://") }

// parseSite reads HOST, *.DOMAIN, or SCHEME://HOST[:PORT][/PATH]. Without a scheme it is https.
func parseSite(s string) (site, error) {
	whole := s
	if !isAddress(s) {
		whole = "https://" + s
	}
	u, err := url.Parse(whole)
	switch {
	case err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return site{}, fmt.Errorf("%q: write a host, *.domain, or an address such as https://host/path", s)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return site{}, fmt.Errorf("%q: only the host and its path count", s)
	case strings.Contains(strings.TrimPrefix(u.Hostname(), "*."), "*") || strings.Contains(strings.TrimSuffix(u.Path, "/*"), "*"):
		return site{}, fmt.Errorf("%q: a * stands only before the domain, as in *.example.com", s)
	}
	return site{u.Scheme, host(u), port(u), strings.TrimRight(strings.TrimSuffix(u.Path, "/*"), "/")}, nil
}

func host(u *url.URL) string { return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) }

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// covers reports whether an address is at the site or below.
func (p site) covers(u *url.URL) bool {
	name := host(u)
	fits := name == p.host
	if domain, ok := strings.CutPrefix(p.host, "*"); ok {
		fits = strings.HasSuffix(name, domain) && len(name) > len(domain)
	}
	if !fits || u.Scheme != p.scheme || port(u) != p.port || strings.ContainsAny(name, "{}*$") {
		return false
	}
	below := path.Clean("/" + u.Path)
	return p.path == "" || below == p.path || strings.HasPrefix(below, p.path+"/")
}
