package permissionscli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/permission"
)

// Cmd shows what may run, and why.
type Cmd struct {
	List    listCmd    `cmd:"" default:"withargs"`
	Revoke  revokeCmd  `cmd:""`
	Explain explainCmd `cmd:""`
}

// Setup is what the commands of `jcode permissions` are given.
type Setup struct {
	console.Streams
	// Open opens what a judgement needs. The caller closes it.
	Open func(ctx context.Context) (Opened, error)
}

// Opened are the actions on the rules of this folder.
type Opened struct {
	Actions Actions
	Close   func()
}

// Command is a command of `jcode permissions`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

type listCmd struct {
	JSON bool `name:"json" help:"Print one JSON array."`
}

// line is one rule or grant.
type line struct {
	Effect string `json:"effect"` // deny, ask or allow; mode for the highest mode
	Rule   string `json:"rule"`
	From   string `json:"from"`
}

// Run lists rules and grants in order of precedence.
func (c *listCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	lines, err := a.Actions.lines(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(std.Out, slicex.OrEmpty(lines))
	}
	if len(lines) == 0 {
		fmt.Fprintf(std.Out, "No rules and no grants: mode %s and your answers decide.\n", a.Actions.Mode())
		return nil
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%s%s\n", l.Effect, text.Visible(l.Rule), l.From, breadth(l))
	}
	return w.Flush()
}

// breadth says what a rule without a pattern allows, which may be more than its author thinks.
func breadth(l line) string {
	switch {
	case l.Effect == "allow" && l.Rule == "exec":
		return ": all commands, whatever they contain"
	case l.Effect == "allow" && l.Rule == "*":
		return ": everything, all commands included"
	}
	return ""
}

// Actions are the actions of a person on rules: the panel, the words of /permissions, explanations.
type Actions struct {
	Gate    *permission.Gate
	Session func() string     // that of the open conversation, "" without one
	Mode    func() tools.Mode // in which calls are judged now
	// Rules are those of the settings, Allow and Deny those of flags. Origin returns where an element of
	// a list of settings comes from.
	Rules       func() config.Permissions
	Allow, Deny []string
	Origin      func(key string, element int) string
	Rights      Rights
	Managed     *config.Managed
}

// ruleLines returns the rules in force.
func (a Actions) ruleLines() []line {
	var lines []line
	if most, from := a.Managed.Highest(); most != "" {
		lines = append(lines, line{"mode", "at most " + string(most), from})
	}
	rules, from := a.Gate.Rules(), a.ruleOrigins()
	for _, set := range []struct {
		effect string
		rules  []permission.Rule
	}{{"deny", rules.Deny}, {"ask", rules.Ask}, {"allow", rules.Allow}} {
		for _, r := range set.rules {
			lines = append(lines, line{set.effect, r.String(), cmp.Or(from[set.effect+" "+r.String()], "until jcode ends")})
		}
	}
	return lines
}

// lines returns the rules in force and the project's grants.
func (a Actions) lines(ctx context.Context) ([]line, error) {
	lines := a.ruleLines()
	granted, err := a.Gate.Granted(ctx, a.Session())
	if err != nil {
		return nil, err
	}
	for _, g := range granted {
		lines = append(lines, line{"allow", g.Rule, "granted for this " + string(g.Scope) + " on " + g.Created.Format("2006-01-02")})
	}
	given, err := a.Rights.list(ctx)
	for _, r := range given {
		lines = append(lines, line{"allow", r.String(), r.from()})
	}
	return lines, err
}

// ruleOrigins returns where each rule in force comes from, by "effect rule": a file and line, or a flag. A
// rule that is not among them was typed in the chat.
func (a Actions) ruleOrigins() map[string]string {
	p, out := a.Rules(), map[string]string{}
	for _, l := range a.Managed.Denied() {
		for _, r := range meaning("deny", l.Text) {
			out["deny "+r.String()] = l.Origin
		}
	}
	for _, set := range []struct {
		effect      string
		kept, given []string
	}{{"allow", p.Allow, a.Allow}, {"ask", p.Ask, nil}, {"deny", p.Deny, a.Deny}} {
		add := func(rule, from string) {
			for _, r := range meaning(set.effect, rule) {
				if out[set.effect+" "+r.String()] == "" {
					out[set.effect+" "+r.String()] = from
				}
			}
		}
		for i, rule := range set.kept {
			add(rule, a.Origin("permissions."+set.effect, i))
		}
		for _, rule := range set.given {
			add(rule, "--"+set.effect)
		}
	}
	return out
}

type explainCmd struct {
	Line []string `arg:"" help:"The shell line, or a call written like a rule."`
	JSON bool     `name:"json" help:"Print one JSON object."`
}

// Run explains the line in the mode of --mode or the configuration.
func (c *explainCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	e := a.Actions.explain(ctx, strings.Join(c.Line, " "))
	if c.JSON {
		return console.PrintJSON(std.Out, e)
	}
	_, err = fmt.Fprint(std.Out, e)
	return err
}

func (a Actions) explain(ctx context.Context, line string) permission.Explanation {
	return a.Gate.Explain(ctx, tools.Caller{Session: a.Session(), Mode: a.Mode}, line)
}

// verbs are the words of /permissions.
func (a Actions) verbs() command.Verbs {
	restrict := func(effect string) command.Verb {
		return command.Verb{Run: func(_ context.Context, rule string) (string, error) { return a.restrict(effect, rule) }}
	}
	return Table().Verbs(a.Rights.names, command.Deeds{
		"explain": {Run: func(ctx context.Context, line string) (string, error) {
			return strings.TrimRight(a.explain(ctx, line).String(), "\n"), nil
		}},
		"allow":  {Run: a.allow},
		"ask":    restrict("ask"),
		"deny":   restrict("deny"),
		"revoke": {Run: a.Rights.revoke},
	})
}

// allow grants a rule for the project.
func (a Actions) allow(ctx context.Context, rule string) (string, error) {
	if err := a.Gate.Grant(ctx, permission.Grant{Rule: rule, Scope: tools.AnswerProject}); err != nil {
		return "", fmt.Errorf("/permissions allow RULE: %w", err)
	}
	return "always in this project: " + rule, nil
}

// restrict adds a rule that denies or asks, until jcode ends.
func (a Actions) restrict(effect, rule string) (string, error) {
	added, err := permission.ParseRestriction(rule)
	if err != nil {
		return "", fmt.Errorf("/permissions %s RULE: %w", effect, err)
	}
	rules := a.Gate.Rules()
	if effect == "deny" {
		rules.Deny = append(rules.Deny[:len(rules.Deny):len(rules.Deny)], added...)
	} else {
		rules.Ask = append(rules.Ask[:len(rules.Ask):len(rules.Ask)], added...)
	}
	a.Gate.SetRules(rules)
	return effect + " " + added[0].String() + " until jcode ends; permissions." + effect + " in config.json keeps it", nil
}
