package permission

import (
	"cmp"
	"net/url"
	"strings"

	"jcode/internal/netaddr"
	"jcode/tools"
	"jcode/tools/permission/shell"
)

// fetch judges a request to a web server.
func (c *checking) fetch(a tools.Access) verdict {
	host, ok := hostOf(a.URL)
	if !ok {
		return verdict{outcome: deny, by: tools.ByPolicy, reason: "denied: only http and https addresses with a host can be fetched", kind: tools.KindInvalidArgs}
	}
	private := a.Private || netaddr.PrivateHost(host)
	tool := c.req.Spec.Name
	about := func(r Rule) bool { return r.standsFor(tool, tools.AccessFetch) }
	v, restricted := c.restricted(func(r Rule) bool { return about(r) && (!r.HasPattern || fetchRule(r, host, private, true)) })
	if restricted && v.outcome == deny {
		return v
	}
	if !restricted {
		// A private address must be allowed as private: a public name may later resolve to one.
		if v, ok := c.allowed("", func(r Rule) bool {
			return about(r) && (!r.HasPattern && !private || r.HasPattern && fetchRule(r, host, private, false))
		}); ok {
			return v
		}
	}
	scheme := "domain:"
	if private {
		scheme = "private:"
		v.details = append(v.details, "the address is on this machine or in a private network: "+host)
	}
	v.store = []string{"fetch(" + scheme + host + ")"}
	if v.reason == "" {
		v.reason = "fetching from " + host
	}
	if restricted || private {
		v.outcome, v.by = ask, tools.ByMode
		return v
	}
	return c.byMode(v, true)
}

// DeniedAddress returns the rule that forbids requests to an address, "" if none: it holds for whatever fetches.
func (g *Gate) DeniedAddress(address string) string {
	host, ok := hostOf(address)
	if !ok {
		return ""
	}
	private := netaddr.PrivateHost(host)
	for _, r := range g.Rules().Deny {
		if r.standsFor("fetch", tools.AccessFetch) && (!r.HasPattern || fetchRule(r, host, private, true)) {
			return r.String()
		}
	}
	return ""
}

// fetchRule reports whether a rule is about a host. For rules that restrict, a domain rule also covers
// private addresses.
func fetchRule(r Rule, host string, private, restricts bool) bool {
	scheme, pattern, _ := strings.Cut(r.Pattern, ":")
	if !restricts && (scheme == "private") != private {
		return false
	}
	if restricts && scheme == "private" && !private {
		return false
	}
	pattern = strings.ToLower(strings.TrimSuffix(pattern, "."))
	if rest, ok := strings.CutPrefix(pattern, "*."); ok {
		return host == rest || strings.HasSuffix(host, "."+rest)
	}
	return pattern == "*" || pattern == host
}

// hostOf returns the host of an http address, in lower case and without the port.
func hostOf(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", false
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), true
}

// matchTarget matches `server`, `server:tool` or a plain name with a pattern in which * matches anything. A
// server alone covers all of its tools.
func matchTarget(pattern, target string) bool {
	if tools.MatchName(pattern, target) {
		return true
	}
	server, _, ok := strings.Cut(target, ":")
	return ok && !strings.Contains(pattern, ":") && tools.MatchName(pattern, server)
}

// server judges a call of an MCP server's tool.
func (c *checking) server(a tools.Access) verdict {
	match := func(r Rule) bool {
		return r.named(c.req.Spec.Name) && !r.HasPattern || r.Tool == "mcp" && (!r.HasPattern || matchTarget(r.Pattern, a.Target))
	}
	v, restricted := c.restricted(match)
	if restricted && v.outcome == deny {
		return v
	}
	if c.mode == tools.ModePlan && !a.ReadOnly {
		return c.refusedByPlan()
	}
	if !restricted {
		if v, ok := c.allowed(a.Hash, match); ok {
			return v
		}
	}
	server, _, _ := strings.Cut(a.Target, ":")
	v.hash = a.Hash
	v.store, v.broad = []string{"mcp(" + a.Target + ")"}, []string{"mcp(" + server + ")"}
	if v.reason == "" {
		v.reason = "using " + a.Target
	}
	if restricted {
		return v
	}
	return c.byMode(v, a.ReadOnly)
}

// connect judges starting a server that the person did not configure: a command, in every mode.
func (c *checking) connect(a tools.Access) verdict {
	line := cmp.Or(a.Command, a.URL)
	if c.mode == tools.ModePlan {
		return c.refusedByPlan()
	}
	match := func(r Rule) bool {
		return r.named(string(tools.AccessConnect)) && (!r.HasPattern || shell.MatchText(r.Pattern, line))
	}
	v, restricted := c.restricted(match)
	if restricted && v.outcome == deny {
		return v
	}
	if !restricted {
		if v, ok := c.allowed(a.Hash, match); ok {
			return v
		}
	}
	v.outcome, v.hash = ask, a.Hash
	v.details = append(v.details, "starts the server "+a.Target)
	if a.Hash != "" {
		rule := "mcp_connect(" + escapeStar(line) + ")"
		if r, err := ParseRule(rule); err == nil && r.String() == rule {
			v.store = []string{rule}
		}
	}
	if v.reason == "" {
		v.by, v.reason, v.shown = tools.ByMode, "starting the server "+a.Target+": "+line, c.mode == tools.ModeYolo
	}
	return v
}

func escapeStar(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "*", `\*`)
}

// lua judges a Lua tool or a component's operation.
func (c *checking) lua(a tools.Access) verdict {
	match := func(r Rule) bool {
		return r.named(c.req.Spec.Name) && !r.HasPattern || r.Tool == "lua" && (!r.HasPattern || matchTarget(r.Pattern, a.Target) || r.Pattern == a.Target)
	}
	v, restricted := c.restricted(match)
	if restricted && v.outcome == deny {
		return v
	}
	if c.mode == tools.ModePlan && !a.ReadOnly {
		return c.refusedByPlan()
	}
	version := pin{c.req.Call.Caller.Session, a.Target, a.Hash}
	seen := c.g.seen(version)
	if !restricted {
		// A pin belongs to a hash: a configured rule has none, so it does not pin.
		if v, ok := c.allowed(a.Hash, match); ok && (v.by == tools.ByGrant || !a.Pin || seen == approved) {
			return v
		}
	}
	needsPin := a.Pin && seen != approved
	if !needsPin && a.ReadOnly && !restricted {
		return verdict{by: tools.ByMode, silent: true}
	}
	v.hash, v.store = a.Hash, []string{"lua(" + a.Target + ")"}
	if needsPin {
		v.pin = version
		v.details = append(v.details, "this version of "+a.Target+" was not approved before")
	}
	if v.reason == "" {
		v.reason = "running the Lua tool " + a.Target
	}
	if restricted {
		return v
	}
	if c.mode == tools.ModeYolo {
		// It runs unseen here: it still has to be approved in a mode that asks.
		if needsPin && !c.dry && seen != told {
			c.g.see(version, told)
			c.g.tell(c.req.Call.Caller, "first run of this version of the Lua tool "+a.Target)
		}
		return verdict{outcome: allow, by: tools.ByMode, rule: string(c.mode)}
	}
	v.outcome, v.by = ask, tools.ByMode
	return v
}

// pin is a version of a Lua tool in a session.
type pin struct{ session, tool, hash string }

// sight is what a person has seen of such a version.
type sight int

const (
	unseen sight = iota
	told         // that it ran, in a mode that does not ask
	approved
)

func (g *Gate) seen(p pin) sight {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.pinned[p]
}

func (g *Gate) see(p pin, s sight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pinned[p] = max(s, g.pinned[p])
}

func (g *Gate) tell(caller tools.Caller, text string) {
	if g.notify != nil {
		g.notify(caller, text)
	}
}
