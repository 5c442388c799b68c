package permission

import (
	"fmt"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/permission/shell"
)

// exec judges a shell text or an argument list.
func (c *checking) exec(a tools.Access) verdict {
	at := c.scene(a)
	var line shell.Line
	if a.Argv != nil {
		line = shell.AnalyseArgv(a.Argv, at)
	} else {
		line = shell.Analyse(a.Command, at)
		if c.g.foreign {
			line.Opaque, line.Doubt = true, "it is for a shell that is not analysed"
		}
	}
	if elsewhere := paths.Real(at.Dir); at.Dir != "" && !c.g.places.Inside(elsewhere) && line.Doubt == "" && !line.OnlyReads() {
		// The grant was meant for the workspace: make runs a different Makefile there.
		line.Doubt = "it runs outside the project, in " + c.g.places.Show(elsewhere)
		c.elsewhere = true
	}
	return c.line(line)
}

// scene describes where a command would run, and by which shell, under the rules in force.
func (c *checking) scene(a tools.Access) shell.Scene {
	rules := append(c.rules.Deny[:len(c.rules.Deny):len(c.rules.Deny)], c.rules.Ask...)
	at := shell.Scene{
		Places: c.g.places, Dir: a.Dir, Bash: a.Bash, Look: c.g.repositories.Look,
		Denied: func(path string) string { return deniedPath(rules, c.g.places, tools.AccessRead, path) },
		Ruled:  slices.ContainsFunc(rules, func(r Rule) bool { return r.Tool == "read" }),
	}
	if slices.ContainsFunc(rules, func(r Rule) bool { return r.command != nil }) {
		at.Alias = c.g.repositories.Alias
	}
	if roots := c.g.places.Roots(); at.Dir == "" && len(roots) > 0 {
		at.Dir = roots[0]
	}
	return at
}

// line judges a parsed line.
func (c *checking) line(line shell.Line) verdict {
	if line.Text == "" {
		return verdict{outcome: deny, by: tools.ByPolicy, reason: "denied: the command is empty", kind: tools.KindDenied}
	}
	c.needsMore = c.unconfined && line.OnlyReads()
	v, forced := c.execRestricted(line)
	if forced && v.outcome == deny {
		return v
	}
	if c.mode == tools.ModePlan {
		if !forced && line.OnlyReads() && !c.needsMore {
			return verdict{by: tools.ByMode, rule: "read-only", vouched: vouched(line)}
		}
		r := c.refusedByPlan()
		r.reason = "refused in plan mode: only commands that read run here. " + c.firstReason(line)
		return r
	}
	if v, ok := c.ofPlugin(line); ok && !forced {
		return v
	}
	protected := c.touched(line)
	if !forced && protected == "" {
		if ok, v := c.execAllowed(line); ok {
			return v
		}
	}
	return c.execByMode(v, line, forced, protected)
}

// execRestricted applies deny and ask rules to each simple command, wherever it occurs.
func (c *checking) execRestricted(line shell.Line) (verdict, bool) {
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
		return verdict{outcome: deny, by: tools.ByRule, rule: rule, reason: fmt.Sprintf("denied by rule %s: %s", rule, c.g.places.Show(path))}, true
	}
	apply(c.rules.Ask, ask)
	return out, found
}

// restricts reports whether a deny or ask rule may cover a line, and whether it certainly does.
func (r Rule) restricts(line shell.Line) (may, sure bool) {
	if !r.HasPattern {
		return true, true
	}
	if r.command == nil {
		return false, false
	}
	if r.command.Whole {
		same := r.command.VouchesLine(line.Text)
		return same, same
	}
	may = line.Opaque
	for _, cmd := range line.Commands {
		m, s := r.command.MayMean(cmd)
		if s {
			return true, true
		}
		may = may || m
	}
	return may, false
}

// touched names a protected or forbidden file that a command of the line mentions.
func (c *checking) touched(line shell.Line) string {
	protects := c.g.places.protects()
	for _, cmd := range line.Commands {
		for _, path := range cmd.Touches {
			if why := protects(path); why != "" {
				return fmt.Sprintf("%s is protected (%s)", c.g.places.Show(path), why)
			}
			for _, kind := range []tools.AccessKind{tools.AccessRead, tools.AccessWrite, tools.AccessDelete} {
				if rule := c.deniedBy(kind, path); rule != "" {
					return fmt.Sprintf("%s is covered by the rule %s", c.g.places.Show(path), rule)
				}
			}
		}
	}
	return ""
}

// names returns a rule that denies a file which a command of the line certainly names, and the file.
func (c *checking) names(line shell.Line) (rule, path string) {
	for _, cmd := range line.Commands {
		for _, path := range cmd.Opens {
			if rule := c.deniedBy(tools.AccessRead, path); rule != "" {
				return rule, path
			}
		}
		for _, path := range cmd.Changes {
			for _, kind := range []tools.AccessKind{tools.AccessWrite, tools.AccessDelete} {
				if rule := c.deniedBy(kind, path); rule != "" {
					return rule, path
				}
			}
		}
	}
	return "", ""
}

// deniedBy is deniedPath for rules with a pattern: a rule against a whole tool says nothing about commands.
func (c *checking) deniedBy(kind tools.AccessKind, path string) string {
	for _, r := range c.rules.Deny {
		if r.HasPattern && r.standsFor("", kind) && r.paths != nil && r.paths.match(c.g.places.roots, path) {
			return r.String()
		}
	}
	return ""
}

// vouched describes what a line may do that runs because it only reads.
func vouched(l shell.Line) *tools.Vouched {
	v := &tools.Vouched{Hidden: l.Hidden, Beyond: l.Beyond, Git: l.Git}
	if l.Ruled && !l.Git {
		v.Only = append([]string{}, l.Reads...)
	}
	return v
}

// execAllowed reports whether rules, grants and the table vouch for a whole line.
func (c *checking) execAllowed(line shell.Line) (bool, verdict) {
	if line.OnlyReads() && !c.needsMore {
		v := verdict{by: tools.ByMode, rule: "read-only", confine: c.confine()}
		if c.mode != tools.ModeYolo {
			v.vouched = vouched(line)
		}
		return true, v
	}
	if v, ok := c.allowedAs(line.Pin(), func(r Rule) bool {
		return !c.elsewhere && r.named("exec") && (!r.HasPattern || r.command != nil && r.command.VouchesLine(line.Text))
	}); ok {
		if v.borrowed && len(line.Pin().Files) > 0 && c.confinable() {
			v.confine = true
			return !c.unconfined, v
		}
		return true, v
	}
	if line.Doubt != "" || len(line.Commands) == 0 {
		return false, verdict{}
	}
	out := verdict{by: tools.ByMode}
	covered := make([]bool, len(line.Commands)+1)
	for i, cmd := range line.Commands {
		v, ok := c.commandAllowed(line, i)
		if ok && v.borrowed && len(line.PinOf(i).Files) > 0 && c.confinable() { // a script of the project that a skill runs
			ok, out.confine = !c.unconfined, true
		}
		covered[i+1] = ok && cmd.Wrapper
		if !ok && cmd.Wrapped > 0 {
			// It is part of a wrapper's text that was granted verbatim.
			ok = covered[cmd.Wrapped]
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

func (c *checking) commandAllowed(line shell.Line, i int) (verdict, bool) {
	cmd := line.Commands[i]
	if cmd.ReadOnly && !c.needsMore {
		return verdict{}, true
	}
	return c.allowedAs(line.PinOf(i), func(r Rule) bool { return r.Tool == "exec" && r.command != nil && r.command.Vouches(cmd) })
}

// confinable reports whether commands can be confined at all.
func (c *checking) confinable() bool {
	if c.running != nil {
		return c.running.Confined
	}
	return c.g.confined != nil && c.g.confined()
}

// brought reports whether a path is in the copy of a plugin that was accepted.
func (c *checking) brought(path string) bool { return c.g.brought != nil && c.g.brought(path) }

// ofPlugin allows a line that runs scripts of an accepted plugin, and otherwise only reads: confined, as the
// plugin's hooks are.
func (c *checking) ofPlugin(line shell.Line) (verdict, bool) {
	if c.g.brought == nil || line.Doubt != "" || len(line.Commands) == 0 || c.unconfined || !c.confinable() {
		return verdict{}, false
	}
	found := false
	protects := c.g.places.protects()
	theirs := make([]bool, len(line.Commands)+1) // by 1 + the index
	for i, cmd := range line.Commands {
		script := cmd.RunsScript()
		switch {
		case script != "" && c.brought(script), theirs[cmd.Wrapped]: // what an interpreter's words might run besides, too
			found, theirs[i+1] = true, true
		case !cmd.ReadOnly:
			return verdict{}, false
		}
		for _, path := range cmd.Touches {
			if !c.brought(path) && protects(path) != "" || c.deniedBy(tools.AccessRead, path) != "" {
				return verdict{}, false
			}
		}
	}
	return verdict{by: tools.ByRule, rule: "a script of a plugin", confine: true}, found
}

// allowedAs is allowed for what a pin ties grants to; rules that a person wrote apply to whatever they name.
func (c *checking) allowedAs(p shell.Pin, match func(Rule) bool) (verdict, bool) {
	if !p.Unknown {
		return c.allowed(p.Hash, match)
	}
	return c.allowed("unknown", match)
}

// confine reports whether commands run in the sandbox now.
func (c *checking) confine() bool {
	if c.mode != tools.ModeAuto || c.unconfined {
		return false
	}
	if c.running != nil {
		return c.running.Confined
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

func (c *checking) execByMode(v verdict, line shell.Line, forced bool, protected string) verdict {
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
		if !c.elsewhere {
			v.store, v.broad, v.hashes = c.storable(line)
			if files := line.Pin().Files; len(files) > 0 && len(v.store) > 0 {
				v.details = append(v.details, "a lasting yes applies in this folder, until one of these changes: "+show(strings.Join(files, ", ")))
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

// firstReason returns the first reason why a line is not vouched for.
func (c *checking) firstReason(line shell.Line) string {
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

// explainCommands says why simple commands of a longer line are asked about, those with one reason together.
func (c *checking) explainCommands(line shell.Line) []string {
	var out []string
	if line.Doubt != "" {
		out = append(out, "asks because "+line.Doubt)
	}
	if len(line.Commands) < 2 {
		return out
	}
	var whys []string
	named := map[string][]string{}
	for i, cmd := range line.Commands {
		if cmd.ReadOnly {
			continue
		}
		why := cmd.Why
		if v, ok := c.commandAllowed(line, i); ok {
			why = "allowed by " + v.rule
		}
		whys = union(whys, []string{why})
		named[why] = union(named[why], []string{show(text.Ellipsis(cmd.Text, longCommand))})
	}
	for _, why := range whys {
		out = append(out, strings.Join(named[why], ", ")+": "+why)
	}
	return out
}

// longCommand is how much of a command names it beside the whole line, in bytes.
const longCommand = 60
