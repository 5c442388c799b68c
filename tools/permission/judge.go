package permission

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/tools"
)

// outcome is what the tables say about an access.
type outcome int

const (
	allow outcome = iota
	ask
	deny
)

// verdict is an outcome with its reason and, for a question, with what an answer could store.
type verdict struct {
	outcome outcome
	by      tools.DecidedBy
	rule    string
	reason  string
	kind    tools.ErrorKind
	silent  bool
	confine bool
	// borrowed says that a skill's or command's own rule allows it.
	borrowed bool
	// leaves says that a yes lets the command run outside the sandbox, which would block it.
	leaves bool
	// vouched is set when the analysis alone lets a command run.
	vouched *tools.Vouched
	// shown verdicts must be shown, but are not refused where nobody can see them: they run with a notice in
	// yolo.
	shown bool
	// details are additional lines of the question.
	details []string
	// store are the exact rules that a lasting yes stores, broad the wider ones that a person may choose
	// instead; if both are empty, the yes applies once.
	store, broad []string
	hash         string
	// hashes are the hashes of individual rules among them.
	hashes map[string]string
	// sessionOnly limits lasting answers to the session.
	sessionOnly bool
	// pin identifies a Lua tool that was seen.
	pin pin
}

// checking is one call being judged.
type checking struct {
	g          *Gate
	ctx        context.Context
	req        tools.GateRequest
	mode       tools.Mode
	unconfined bool
	elsewhere  bool // a command runs outside the workspace
	needsMore  bool // a command that only reads was stopped: it is judged like any other
	byPerson   bool // by the user, whom only the fixed rules bind
	dry        bool // an explanation: nothing is reported or remembered
	running    *tools.Running

	rules      RuleSet
	allowances []allowance
	loaded     bool
	failed     error // grants could not be read: nothing is assumed to be granted
}

// judge returns the strictest verdict over all accesses of a call.
func (c *checking) judge() verdict {
	c.rules = c.g.Rules()
	if c.byPerson {
		c.rules = RuleSet{Deny: c.g.fixed}
	}
	list := accesses(c.req)
	var out verdict
	if len(list) == 0 {
		out = c.bare()
	}
	for i, a := range list {
		v := c.access(a)
		if i == 0 {
			out = v
		} else {
			out = merge(out, v)
		}
	}
	if (c.req.Plan.Always && c.mode != tools.ModeYolo || c.req.Plan.Insists) && out.outcome == allow {
		why := "it asks each time"
		if c.req.Plan.Insists && len(c.req.Plan.Notes) > 0 {
			why = c.req.Plan.Notes[0]
		}
		out = verdict{outcome: ask, reason: why, details: out.details}
	}
	return out
}

// merge combines the verdicts of two accesses of one call.
func merge(a, b verdict) verdict {
	if a.outcome != b.outcome {
		if b.outcome > a.outcome {
			a, b = b, a
		}
		a.details = append(a.details, b.details...)
		return a
	}
	if a.outcome != ask {
		a.silent = a.silent && b.silent
		a.confine = a.confine && b.confine
		if b.vouched == nil {
			a.vouched = nil // an access beside the command: no call has both today
		}
		if a.by == tools.ByMode {
			a.by, a.rule = b.by, b.rule
		}
		return a
	}
	once := len(a.store) == 0 || len(b.store) == 0 || a.hash != b.hash
	a.shown = a.shown && b.shown
	a.sessionOnly = a.sessionOnly || b.sessionOnly
	a.details = append(a.details, b.details...)
	if a.reason != b.reason {
		a.reason += "; " + b.reason
	}
	a.store = union(a.store, b.store)
	a.broad = union(a.broad, b.broad)
	for rule, hash := range b.hashes {
		if was, both := a.hashes[rule]; both && was != hash {
			once = true
		}
		if a.hashes == nil {
			a.hashes = map[string]string{}
		}
		a.hashes[rule] = hash
	}
	if once {
		a.store, a.broad = nil, nil
	}
	if a.pin == (pin{}) {
		a.pin = b.pin
	}
	return a
}

func union(a, b []string) []string {
	out := append([]string(nil), a...)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// accesses returns what a call touches. A server's tool or a script without a plan is judged by its kind.
func accesses(req tools.GateRequest) []tools.Access {
	if len(req.Plan.Accesses) > 0 {
		return req.Plan.Accesses
	}
	switch req.Spec.Group {
	case tools.GroupMCP:
		return []tools.Access{{Kind: tools.AccessMCP, Target: serverTool(req.Spec), Hash: req.Spec.Hash, ReadOnly: req.Spec.ReadOnly && req.Spec.Trusted}}
	case tools.GroupLua:
		return []tools.Access{{Kind: tools.AccessLua, Target: req.Spec.Name, Hash: req.Spec.Hash, ReadOnly: req.Spec.ReadOnly}}
	}
	return nil
}

// serverTool returns an MCP tool's name in the form server:tool.
func serverTool(spec tools.Spec) string { return strings.TrimPrefix(spec.Name, "mcp:") }

// bare judges a builtin that touches nothing outside jcode.
func (c *checking) bare() verdict {
	name := c.req.Spec.Name
	if v, ok := c.restricted(func(r Rule) bool { return r.named(name) && !r.HasPattern }); ok {
		return v
	}
	if c.req.Spec.ReadOnly || c.req.Spec.Needs&(tools.CapWrite|tools.CapDelete|tools.CapExecute|tools.CapHTTP) == 0 {
		return verdict{by: tools.ByMode, silent: true}
	}
	if a, ok := c.allowed("", func(r Rule) bool { return r.named(name) && !r.HasPattern }); ok {
		return a
	}
	return c.byMode(verdict{reason: name + " changes something", store: []string{name}}, false)
}

// restricted applies deny and ask rules. ok says that one of them decided.
func (c *checking) restricted(match func(Rule) bool) (v verdict, ok bool) {
	for _, r := range c.rules.Deny {
		if match(r) {
			return verdict{outcome: deny, by: tools.ByRule, rule: r.String(), reason: "denied by rule " + r.String()}, true
		}
	}
	for _, r := range c.rules.Ask {
		if match(r) {
			return verdict{outcome: ask, by: tools.ByRule, rule: r.String(), reason: "the rule " + r.String() + " asks"}, true
		}
	}
	return verdict{}, false
}

// allowed finds a rule or grant that allows something with this hash.
func (c *checking) allowed(hash string, match func(Rule) bool) (verdict, bool) {
	c.load()
	for _, a := range c.allowances {
		if a.fits(hash) && match(a.rule) {
			return verdict{outcome: allow, by: a.by, rule: a.rule.String(), borrowed: a.borrowed}, true
		}
	}
	return verdict{}, false
}

// load collects the rules and grants in force, once per call and only when needed.
func (c *checking) load() {
	if c.loaded {
		return
	}
	c.loaded = true
	for _, r := range c.rules.Allow {
		c.allowances = append(c.allowances, allowance{rule: r, by: tools.ByRule})
	}
	session := c.req.Call.Caller.Session
	c.g.mu.RLock()
	for _, d := range c.g.during {
		if d.session == session {
			for _, r := range d.rules {
				c.allowances = append(c.allowances, allowance{rule: r, by: tools.ByRule, borrowed: true})
			}
		}
	}
	c.g.mu.RUnlock()
	grants, err := c.g.grants.Grants(c.ctx, session)
	if root := c.req.Call.Caller.Root; err == nil && root != "" {
		var whole []Grant
		whole, err = c.g.grants.Grants(c.ctx, root) // the project's once more, which is no harm
		grants = append(grants, whole...)
	}
	if err != nil {
		c.failed = err
		return
	}
	for _, gr := range grants {
		if r, ok := c.g.rule(gr.Rule); ok {
			c.allowances = append(c.allowances, allowance{rule: r, hash: gr.Hash, by: tools.ByGrant})
		}
	}
}

// rule parses a stored grant's rule, once. A rule that can't be parsed grants nothing.
func (g *Gate) rule(text string) (r Rule, ok bool) {
	g.parsed.with(func(m *map[string]Rule) {
		if r, ok = (*m)[text]; ok {
			ok = r.Tool != ""
			return
		}
		var err error
		if r, err = ParseRule(text); err != nil {
			r = Rule{}
		}
		if *m == nil {
			*m = map[string]Rule{}
		}
		(*m)[text] = r
		ok = r.Tool != ""
	})
	return r, ok
}

// byMode returns the mode's verdict on an access that no rule covers and that may change something. In plan
// mode, readOnly accesses are asked about and others are refused.
func (c *checking) byMode(v verdict, readOnly bool) verdict {
	switch c.mode {
	case tools.ModePlan:
		if !readOnly {
			return c.refusedByPlan()
		}
	case tools.ModeYolo:
		v.outcome, v.by = allow, tools.ByMode
		return v
	}
	v.outcome, v.by = ask, tools.ByMode
	return v
}

func (c *checking) refusedByPlan() verdict {
	what := cmp.Or(c.req.Plan.Summary, c.req.Spec.Name)
	return verdict{
		outcome: deny, by: tools.ByMode, rule: string(tools.ModePlan),
		reason: fmt.Sprintf("refused in plan mode: %s. Only look around and write down what you would change; the user switches the mode.", what),
	}
}

// access judges one access.
func (c *checking) access(a tools.Access) verdict {
	c.running = a.Running
	switch a.Kind {
	case tools.AccessRead, tools.AccessWrite, tools.AccessDelete:
		return c.file(a)
	case tools.AccessExec:
		return c.exec(a)
	case tools.AccessFetch:
		return c.fetch(a)
	case tools.AccessMCP:
		return c.server(a)
	case tools.AccessConnect:
		return c.connect(a)
	case tools.AccessLua:
		return c.lua(a)
	case tools.AccessInput:
		return c.input(a)
	}
	return verdict{outcome: deny, by: tools.ByPolicy, reason: fmt.Sprintf("denied: unknown kind of access %q", a.Kind)}
}
