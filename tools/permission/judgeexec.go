package permission

import (
	"fmt"
	"slices"
	"strings"

	"jcode/tools"
)

// exec judges a shell text or an argument list.
func (c *checking) exec(a tools.Access) verdict {
	at := c.scene(a.Dir)
	var line Line
	if a.Argv != nil {
		line = analyseArgv(a.Argv, at)
	} else {
		line = analyse(a.Command, at)
		if c.g.foreign {
			line.Opaque, line.Doubt = true, "it is for a shell that is not analysed"
		}
	}
	if elsewhere := resolve(at.dir); at.dir != "" && !c.g.places.inside(elsewhere) && line.Doubt == "" && !onlyReads(line) {
		// What was granted was meant for the workspace: make runs another Makefile there.
		line.Doubt = "it runs outside the workspace, in " + c.g.places.show(elsewhere)
		line.elsewhere = true
	}
	return c.line(line)
}

// scene is where a command with this working folder would run, under the rules in force.
func (c *checking) scene(dir string) scene {
	rules := append(c.rules.Deny[:len(c.rules.Deny):len(c.rules.Deny)], c.rules.Ask...)
	at := scene{places: c.g.places, dir: dir}
	at.denied = func(path string) string { return deniedPath(rules, c.g.places, tools.AccessRead, path) }
	at.ruled = slices.ContainsFunc(rules, func(r Rule) bool { return r.Tool == "read" })
	at.look = c.g.repositories.Look
	if slices.ContainsFunc(rules, func(r Rule) bool { return r.command != nil }) {
		at.alias = c.g.repositories.Alias
	}
	if at.dir == "" {
		at.dir = at.places.start
	}
	return at
}

// line judges a line that was taken apart.
func (c *checking) line(line Line) verdict {
	if line.Text == "" {
		return verdict{outcome: deny, by: tools.ByPolicy, reason: "denied: the command is empty", kind: tools.KindDenied}
	}
	c.needsMore = c.unconfined && onlyReads(line)
	v, forced := c.execRestricted(line)
	if forced && v.outcome == deny {
		return v
	}
	if c.mode == tools.ModePlan {
		if !forced && onlyReads(line) && !c.needsMore {
			return verdict{by: tools.ByMode, rule: "read-only", vouched: line.vouched()}
		}
		r := c.refusedByPlan()
		r.reason = "refused in plan mode: only commands that read run here. " + c.firstReason(line)
		return r
	}
	protected := c.touched(line)
	if !forced && protected == "" {
		if ok, v := c.execAllowed(line); ok {
			return v
		}
	}
	return c.execByMode(v, line, forced, protected)
}

// execRestricted applies deny and ask rules to each simple command, wherever it stands.
func (c *checking) execRestricted(line Line) (verdict, bool) {
	var out verdict
	found := false
	apply := func(rules []Rule, o outcome) bool {
		for _, r := range rules {
			if !r.standsFor(c.req.Spec.Name, tools.AccessExec) {
				continue
			}
			may, sure := r.restricts(line)
			if !may || found && o == ask {
				continue
			}
			found = true
			out = verdict{outcome: ask, by: tools.ByRule, rule: r.String(), reason: "the rule " + r.String() + " asks"}
			switch {
			case sure && o == deny:
				out = verdict{outcome: deny, by: tools.ByRule, rule: r.String(), reason: "denied by rule " + r.String()}
				return true
			case !sure:
				out.reason = "it can't be told whether the rule " + r.String() + " covers it"
			}
		}
		return false
	}
	if apply(c.rules.Deny, deny) {
		return out, true
	}
	if rule, path := c.names(line); rule != "" {
		return verdict{outcome: deny, by: tools.ByRule, rule: rule, reason: fmt.Sprintf("denied by rule %s: %s", rule, c.g.places.show(path))}, true
	}
	apply(c.rules.Ask, ask)
	return out, found
}

// restricts reports whether a deny or ask rule may cover a line, and whether it surely does.
func (r Rule) restricts(line Line) (may, sure bool) {
	if !r.HasPattern {
		return true, true
	}
	if r.command == nil {
		return false, false
	}
	if r.command.whole {
		same := r.command.vouchesLine(line.Text)
		return same, same
	}
	may = line.Opaque
	for _, cmd := range line.Commands {
		m, s := r.command.mayMean(cmd)
		if s {
			return true, true
		}
		may = may || m
	}
	return may, false
}

// touched names a protected or forbidden file that a command of the line speaks of.
func (c *checking) touched(line Line) string {
	for _, cmd := range line.Commands {
		for _, path := range cmd.touches {
			if why := c.g.places.protected(path); why != "" {
				return fmt.Sprintf("%s is protected (%s)", c.g.places.show(path), why)
			}
			for _, kind := range []tools.AccessKind{tools.AccessRead, tools.AccessWrite, tools.AccessDelete} {
				if rule := c.deniedBy(kind, path); rule != "" {
					return fmt.Sprintf("%s is covered by the rule %s", c.g.places.show(path), rule)
				}
			}
		}
	}
	return ""
}

// names returns a rule that denies a file which a command of the line names for certain,
// and the file.
func (c *checking) names(line Line) (rule, path string) {
	for _, cmd := range line.Commands {
		for _, path := range cmd.opens {
			if rule := c.deniedBy(tools.AccessRead, path); rule != "" {
				return rule, path
			}
		}
		for _, path := range cmd.changes {
			for _, kind := range []tools.AccessKind{tools.AccessWrite, tools.AccessDelete} {
				if rule := c.deniedBy(kind, path); rule != "" {
					return rule, path
				}
			}
		}
	}
	return "", ""
}

// deniedBy is deniedPath for rules with a pattern: a rule against a whole tool says
// nothing about commands.
func (c *checking) deniedBy(kind tools.AccessKind, path string) string {
	for _, r := range c.rules.Deny {
		if r.HasPattern && r.standsFor("", kind) && r.paths != nil && r.paths.match(c.g.places.roots, path) {
			return r.String()
		}
	}
	return ""
}

// vouched is what a line may do that runs because it only reads.
func (l Line) vouched() *tools.Vouched {
	v := &tools.Vouched{Hidden: l.hidden, Beyond: l.beyond, Git: l.git}
	if l.ruled && !l.git {
		v.Only = append([]string{}, l.reads...)
	}
	return v
}

func onlyReads(line Line) bool {
	if line.Doubt != "" || len(line.Commands) == 0 {
		return false
	}
	for _, cmd := range line.Commands {
		if !cmd.ReadOnly {
			return false
		}
	}
	return true
}

// execAllowed reports whether rules, grants and the table vouch for a whole line.
func (c *checking) execAllowed(line Line) (bool, verdict) {
	if onlyReads(line) && !c.needsMore {
		v := verdict{by: tools.ByMode, rule: "read-only", confine: c.confine()}
		if c.mode != tools.ModeYolo {
			v.vouched = line.vouched()
		}
		return true, v
	}
	if v, ok := c.allowedAs(line.pin(), func(r Rule) bool {
		return !line.elsewhere && r.Tool == "exec" && (!r.HasPattern || r.command != nil && r.command.vouchesLine(line.Text))
	}); ok {
		return true, v
	}
	if line.Doubt != "" || len(line.Commands) == 0 {
		return false, verdict{}
	}
	out := verdict{by: tools.ByMode}
	covered := make([]bool, len(line.Commands)+1)
	for i, cmd := range line.Commands {
		v, ok := c.commandAllowed(line, i)
		covered[i+1] = ok && cmd.wrapper
		if !ok && cmd.wrapped > 0 {
			// What stands in the text of a wrapper that was granted to the letter.
			ok = covered[cmd.wrapped]
			covered[i+1] = ok
		}
		if !ok {
			return false, verdict{}
		}
		if v.rule != "" {
			out.by, out.rule = v.by, v.rule
		}
	}
	return true, out
}

func (c *checking) commandAllowed(line Line, i int) (verdict, bool) {
	cmd := line.Commands[i]
	if cmd.ReadOnly && !c.needsMore {
		return verdict{}, true
	}
	return c.allowedAs(line.pinOf(i), func(r Rule) bool { return r.Tool == "exec" && r.command != nil && r.command.vouches(cmd) })
}

// allowedAs is allowed for what a pin ties grants to; rules that a person wrote hold for
// whatever they name.
func (c *checking) allowedAs(p pin, match func(Rule) bool) (verdict, bool) {
	if !p.unknown {
		return c.allowed(p.hash, match)
	}
	return c.allowed("unknown", match)
}

// confine reports whether commands run in the sandbox now.
func (c *checking) confine() bool {
	if c.mode != tools.ModeAuto || c.unconfined {
		return false
	}
	if c.g.confined != nil && c.g.confined() {
		return true
	}
	if !c.dry {
		c.g.noSandbox.Do(func() {
			c.g.tell(c.req.Call.Caller, "mode auto: there is no sandbox on this machine, so commands ask as in mode ask (jcode doctor says why)")
		})
	}
	return false
}

func (c *checking) execByMode(v verdict, line Line, forced bool, protected string) verdict {
	if !forced {
		v = verdict{by: tools.ByMode}
		if protected == "" {
			switch {
			case c.mode == tools.ModeYolo:
				v.rule = string(tools.ModeYolo)
				return v
			case c.confine():
				v.rule, v.confine = string(tools.ModeAuto), true
				return v
			}
		} else {
			v.reason = protected
			v.shown = c.mode == tools.ModeYolo
			if v.leaves = c.confine(); v.leaves {
				v.details = append(v.details, "runs outside the sandbox, which would not let it: "+protected)
			}
		}
	}
	v.outcome = ask
	v.details = append(v.details, c.explainCommands(line)...)
	if v.reason == "" {
		v.reason = c.firstReason(line)
	}
	if !forced {
		if !line.elsewhere {
			v.store, v.broad, v.hashes = c.storable(line)
			if files := line.pin().files; len(files) > 0 && len(v.store) > 0 {
				v.details = append(v.details, "a lasting yes holds in this folder, until one of these changes: "+show(strings.Join(files, ", ")))
			}
		}
		v.sessionOnly = protected != ""
		if protected != "" {
			// A grant does not lift the protection, so none is offered.
			v.store, v.broad = nil, nil
		}
	}
	return v
}

// firstReason says what first keeps a line from being vouched for.
func (c *checking) firstReason(line Line) string {
	if line.Doubt != "" {
		return line.Doubt
	}
	for _, cmd := range line.Commands {
		if !cmd.ReadOnly {
			return cmd.Text + ": " + cmd.Why
		}
	}
	if c.needsMore {
		return "it needs more than reading"
	}
	return "it may change something"
}

// explainCommands says for each simple command of a longer line why it asks.
func (c *checking) explainCommands(line Line) []string {
	var out []string
	if line.Doubt != "" {
		out = append(out, "asks because "+line.Doubt)
	}
	if len(line.Commands) < 2 {
		return out
	}
	for i, cmd := range line.Commands {
		state := "read-only"
		if !cmd.ReadOnly {
			state = cmd.Why
			if v, ok := c.commandAllowed(line, i); ok {
				state = "allowed by " + v.rule
			}
		}
		out = append(out, show(cmd.Text)+": "+state)
	}
	return out
}
