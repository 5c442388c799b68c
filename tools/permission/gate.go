package permission

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"jcode/internal/toolcard"

	"jcode/internal/launch"
	"jcode/tools"
	"jcode/tools/permission/repository"
)

// Options configure a Gate.
type Options struct {
	Places
	// Rules are the configured rules of the person and, once trusted, of the project.
	Rules RuleSet
	// Fixed are rules that deny whatever else is set; what the user types is bound by them too. MaxMode is the highest
	// mode that counts, "" for any.
	Fixed   []Rule
	MaxMode tools.Mode
	// Grants stores lasting answers. Nil keeps them in memory.
	Grants GrantStore
	// Confined reports whether commands can be confined on this machine, which mode auto depends on. Nil means
	// that they can't.
	Confined func() bool
	// ForeignShell says that shell texts are not for a POSIX shell (cmd on Windows): then no command in them is
	// vouched for.
	ForeignShell bool
	// Bash says that the model's commands are read by bash, otherwise by sh.
	Bash bool
	// Programs finds the git that is asked about repositories, and has the environment that commands get. Without
	// its Roots, programs of the workspace are not used.
	Programs launch.Programs
	// Offered reports whether jcode itself offered a resolved path to a session for reading: the file with the
	// whole of a truncated result. Nil means none.
	Offered func(session, path string) bool
	// Brought reports whether a resolved path is in the copy of a plugin that the person accepted: it may be
	// read, and its scripts run confined. Nil means none.
	Brought func(path string) bool
	// Notify is told about calls that ran although they could not be shown to anyone. May be nil.
	Notify func(caller tools.Caller, text string)
}

// Gate is the approval gate. It is safe for concurrent use.
type Gate struct {
	places   places
	confined func() bool
	foreign  bool
	bash     bool
	notify   func(tools.Caller, string)
	offered  func(session, path string) bool
	brought  func(path string) bool
	grants   GrantStore
	fixed    []Rule
	maxMode  tools.Mode
	// repositories decides whether git may read a repository unasked.
	repositories *repository.Looker

	mu     sync.RWMutex
	rules  RuleSet
	during map[int]during
	next   int
	pinned map[pin]sight

	// asking holds a token: there is one person, so only one question is open at a time.
	asking chan struct{}
	parsed guarded[map[string]Rule]
	// noSandbox makes sure that a missing sandbox in mode auto is reported once.
	noSandbox sync.Once
}

// during are rules that hold for a session for a limited time.
type during struct {
	session string
	rules   []Rule
}

// New returns a gate. An error names a protected pattern that can't be parsed.
func New(o Options) (*Gate, error) {
	p, err := newPlaces(o.Places)
	if err != nil {
		return nil, fmt.Errorf("protected files: %w", err)
	}
	if o.Programs.Roots == nil {
		o.Programs.Roots = p.Roots
	}
	g := &Gate{
		places: p, confined: o.Confined, foreign: o.ForeignShell, bash: o.Bash, notify: o.Notify, offered: o.Offered, brought: o.Brought, grants: o.Grants, fixed: o.Fixed, maxMode: o.MaxMode,
		repositories: &repository.Looker{Inside: p.Inside, Programs: o.Programs},
		during:       map[int]during{}, pinned: map[pin]sight{}, asking: make(chan struct{}, 1),
	}
	if g.grants == nil {
		g.grants = &MemoryGrants{}
	}
	g.SetRules(o.Rules)
	return g, nil
}

// SetRules replaces the configured rules after a change of configuration or trust. The fixed ones stay.
func (g *Gate) SetRules(r RuleSet) {
	own := slices.DeleteFunc(slices.Clone(r.Deny), func(r Rule) bool { return among(g.fixed, r.String()) })
	r.Deny = slices.Concat(g.fixed, own)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rules = r
}

// Rules returns the configured rules.
func (g *Gate) Rules() RuleSet {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.rules
}

// AllowFor puts rules in force for a session until release is called: the allowed tools of a skill or command
// file while its message is worked on. They were approved before.
func (g *Gate) AllowFor(session string, rules []Rule) (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next++
	id := g.next
	g.during[id] = during{session, rules}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.during, id)
	}
}

// Granted lists the grants that hold for a session.
func (g *Gate) Granted(ctx context.Context, session string) ([]Grant, error) {
	return g.grants.Grants(ctx, session)
}

// Grant stores a rule as a grant, as `/permissions` does.
func (g *Gate) Grant(ctx context.Context, grant Grant) error {
	r, err := ParseRule(grant.Rule)
	if err != nil {
		return err
	}
	grant.Rule = r.String()
	return g.grants.Add(ctx, grant)
}

// Revoke removes a grant.
func (g *Gate) Revoke(ctx context.Context, id int64) error { return g.grants.Revoke(ctx, id) }

// Check implements tools.Gate.
func (g *Gate) Check(ctx context.Context, req tools.GateRequest) tools.Decision {
	return g.check(ctx, req, false)
}

// CheckUnconfined is Check for a command that runs outside the sandbox: what mode auto would run confined is
// asked about.
func (g *Gate) CheckUnconfined(ctx context.Context, req tools.GateRequest) tools.Decision {
	return g.check(ctx, req, true)
}

func (g *Gate) check(ctx context.Context, req tools.GateRequest, unconfined bool) tools.Decision {
	c := &checking{g: g, ctx: ctx, req: req, mode: g.mode(req.Call.Caller), unconfined: unconfined}
	if req.Call.Caller.Origin == tools.OriginPerson {
		if len(g.fixed) > 0 {
			c.byPerson, c.dry, c.mode = true, true, tools.ModeYolo
			if v := c.judge(); v.outcome == deny && v.by == tools.ByRule {
				return c.settle(v)
			}
		}
		// The person who typed it needs no question.
		return tools.Decision{Allow: true, By: tools.ByUser, Silent: true}
	}
	v := c.judge()
	switch {
	case v.outcome == ask && c.answeredBefore():
		return tools.Decision{Allow: true, By: tools.ByUser, Sandbox: c.sandboxed(v)}
	case v.outcome == ask:
		return c.ask(v)
	}
	return c.settle(v)
}

// mode returns the mode in which a call is judged.
func (g *Gate) mode(caller tools.Caller) tools.Mode { return caller.CurrentMode().Under(g.maxMode) }

func among(rules []Rule, text string) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.String() == text })
}

// Offered implements tools.Gate.
func (g *Gate) Offered(spec tools.Spec, mode tools.Mode) (ok bool, why string) {
	for _, r := range g.Rules().Deny {
		if r.hides(spec) {
			return false, "denied by rule " + r.String()
		}
	}
	if mode.Under(g.maxMode) == tools.ModePlan && !planned(spec) {
		return false, "plan mode"
	}
	return true, ""
}

// Denied implements tools.Concealer: it returns the rule that forbids an access to a path, "" if none.
// The path is absolute and resolved.
func (g *Gate) Denied(kind tools.AccessKind, path string) string {
	return deniedPath(g.Rules().Deny, g.places, kind, path)
}

func deniedPath(deny []Rule, p places, kind tools.AccessKind, path string) string {
	for _, r := range deny {
		if r.standsFor("", kind) && (r.paths == nil || r.paths.match(p.roots, path)) {
			return r.String()
		}
	}
	return ""
}

// standsFor reports whether a rule applies to a tool, or to every tool with that kind of access.
func (r Rule) standsFor(tool string, kind tools.AccessKind) bool {
	if tool != "" && r.about(tool, kind) {
		return true
	}
	switch kind {
	case tools.AccessRead:
		return r.named("read")
	case tools.AccessWrite:
		return r.named("write")
	case tools.AccessDelete:
		return r.named("remove")
	}
	return r.named(string(kind))
}

// about reports whether a rule names a tool. A rule for edit also applies to what apply_patch writes.
func (r Rule) about(tool string, kind tools.AccessKind) bool {
	return r.named(tool) || tool == "apply_patch" && kind == tools.AccessWrite && r.Tool == "edit"
}

// hides reports whether a deny rule covers a tool entirely.
func (r Rule) hides(spec tools.Spec) bool {
	if r.named(spec.Name) && !r.HasPattern {
		return true
	}
	switch spec.Group {
	case tools.GroupMCP:
		return r.Tool == "mcp" && (!r.HasPattern || matchTarget(r.Pattern, serverTool(spec)))
	case tools.GroupLua:
		return r.Tool == "lua" && (!r.HasPattern || matchTarget(r.Pattern, spec.Name))
	}
	if r.HasPattern {
		return false
	}
	return slices.Contains(under(spec), r.Tool)
}

// under returns the rules that cover one of jcode's own tools. One without a card is covered by what it needs, so that
// a rule never depends on whether somebody thought of the tool.
func under(spec tools.Spec) (rules []string) {
	if toolcard.Known(spec.Name) {
		return toolcard.Of(spec.Name).Under
	}
	for _, by := range []struct {
		needs tools.Capabilities
		rule  string
	}{{tools.CapRead, "read"}, {tools.CapWrite, "write"}, {tools.CapDelete, "remove"}, {tools.CapExecute, "exec"}, {tools.CapHTTP, "fetch"}, {tools.CapMCP, "mcp"}, {tools.CapLua, "lua"}} {
		if spec.Needs&by.needs != 0 {
			rules = append(rules, by.rule)
		}
	}
	return rules
}

// planned reports whether plan mode offers a tool: nothing that can only edit.
func planned(spec tools.Spec) bool {
	switch spec.Group {
	case tools.GroupMCP:
		return spec.ReadOnly && spec.Trusted
	case tools.GroupLua:
		return spec.ReadOnly
	}
	return spec.ReadOnly || spec.Needs&(tools.CapWrite|tools.CapDelete) == 0
}
