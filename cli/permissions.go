package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"jcode/cli/board"
	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/permission"
)

// permissionsCmd shows what may run, and why.
type permissionsCmd struct {
	List    permissionsListCmd    `cmd:"" default:"withargs" help:"List the rules and grants that apply in this project."`
	Revoke  permissionsRevokeCmd  `cmd:"" help:"Take back what a program of the project or a plugin may do besides, as the list names it: 'network mcp github'."`
	Explain permissionsExplainCmd `cmd:"" help:"Say what would happen to a shell line, or to a call such as 'write(src/a.go)', and why."`
}

type permissionsListCmd struct {
	JSON bool `name:"json" help:"Print one JSON array."`
}

// permissionLine is one rule or grant.
type permissionLine struct {
	Effect string `json:"effect"` // deny, ask or allow; mode for the highest mode
	Rule   string `json:"rule"`
	From   string `json:"from"`
}

// Run lists rules and grants in order of precedence.
func (c *permissionsListCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, err := openJudge(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	lines, err := newPermissionActions(a).permissionLines(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(std.Out, slicex.OrEmpty(lines))
	}
	if len(lines) == 0 {
		fmt.Fprintf(std.Out, "No rules and no grants: mode %s and your answers decide.\n", a.mode)
		return nil
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%s%s\n", l.Effect, text.Visible(l.Rule), l.From, breadth(l))
	}
	return w.Flush()
}

// breadth says what a rule without a pattern allows, which may be more than its author thinks.
func breadth(l permissionLine) string {
	switch {
	case l.Effect == "allow" && l.Rule == "exec":
		return ": all commands, whatever they contain"
	case l.Effect == "allow" && l.Rule == "*":
		return ": everything, all commands included"
	}
	return ""
}

// permissionActions are the actions of a person on rules: the panel, the words of /permissions, explanations.
type permissionActions struct {
	gate  *permission.Gate
	board *board.Board
	mode  func() tools.Mode // if no conversation is open
	// rules are those of the settings, given those of flags. origin returns where an element of
	// a list of settings comes from.
	rules   func() config.Permissions
	given   *flags
	origin  func(key string, element int) string
	rights  rights
	managed *config.Managed
}

func newPermissionActions(a *app) permissionActions {
	return permissionActions{
		a.gate, &a.board, func() tools.Mode { return a.mode }, func() config.Permissions { return a.config.Permissions }, a.flags,
		func(key string, element int) string { return a.origin(key, element) },
		rights{a.trust, ofPerson(a)},
		a.std.managed,
	}
}

// ruleLines returns the rules in force.
func (a permissionActions) ruleLines() []permissionLine {
	var lines []permissionLine
	if most, from := a.managed.Highest(); most != "" {
		lines = append(lines, permissionLine{"mode", "at most " + string(most), from})
	}
	rules, from := a.gate.Rules(), a.ruleOrigins()
	for _, set := range []struct {
		effect string
		rules  []permission.Rule
	}{{"deny", rules.Deny}, {"ask", rules.Ask}, {"allow", rules.Allow}} {
		for _, r := range set.rules {
			lines = append(lines, permissionLine{set.effect, r.String(), cmp.Or(from[set.effect+" "+r.String()], "until jcode ends")})
		}
	}
	return lines
}

// permissionLines returns the rules in force and the project's grants.
func (a permissionActions) permissionLines(ctx context.Context) ([]permissionLine, error) {
	lines := a.ruleLines()
	granted, err := a.gate.Granted(ctx, a.board.Session())
	if err != nil {
		return nil, err
	}
	for _, g := range granted {
		lines = append(lines, permissionLine{"allow", g.Rule, "granted for this " + string(g.Scope) + " on " + g.Created.Format("2006-01-02")})
	}
	given, err := a.rights.list(ctx)
	for _, r := range given {
		lines = append(lines, permissionLine{"allow", r.String(), r.from()})
	}
	return lines, err
}

// ruleOrigins returns where each rule in force comes from, by "effect rule": a file and line, or a flag. A
// rule that is not among them was typed in the chat.
func (a permissionActions) ruleOrigins() map[string]string {
	p, out := a.rules(), map[string]string{}
	for _, l := range a.managed.Denied() {
		for _, r := range meaning("deny", l.Text) {
			out["deny "+r.String()] = l.Origin
		}
	}
	for _, set := range []struct {
		effect      string
		kept, given []string
	}{{"allow", p.Allow, a.given.Allow}, {"ask", p.Ask, nil}, {"deny", p.Deny, a.given.Deny}} {
		add := func(rule, from string) {
			for _, r := range meaning(set.effect, rule) {
				if out[set.effect+" "+r.String()] == "" {
					out[set.effect+" "+r.String()] = from
				}
			}
		}
		for i, rule := range set.kept {
			add(rule, a.origin("permissions."+set.effect, i))
		}
		for _, rule := range set.given {
			add(rule, "--"+set.effect)
		}
	}
	return out
}

// meaning returns what a rule of this effect means; nothing if it can't be read.
func meaning(effect, text string) []permission.Rule {
	if effect != "allow" {
		rules, _ := permission.ParseRestriction(text) // its faults are reported where the settings are read
		return rules
	}
	r, err := permission.ParseRule(text)
	if err != nil {
		return nil
	}
	return []permission.Rule{r}
}

type permissionsExplainCmd struct {
	Line []string `arg:"" help:"The shell line, or a call written like a rule."`
	JSON bool     `name:"json" help:"Print one JSON object."`
}

// Run explains the line in the mode of --mode or the configuration.
func (c *permissionsExplainCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, err := openJudge(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	e := newPermissionActions(a).explain(ctx, strings.Join(c.Line, " "), a.mode)
	if c.JSON {
		return console.PrintJSON(std.Out, e)
	}
	_, err = fmt.Fprint(std.Out, e)
	return err
}

func (a permissionActions) explain(ctx context.Context, line string, mode tools.Mode) permission.Explanation {
	return a.gate.Explain(ctx, tools.Caller{Session: a.board.Session(), Mode: func() tools.Mode { return mode }}, line)
}

// openJudge opens what a judgement needs: places, store, trust, settings and the gate.
func openJudge(ctx context.Context, f *flags, std Streams) (*app, error) {
	a, err := openKept(ctx, f, std)
	if err != nil {
		return nil, err
	}
	return a.after(ctx, a.loadConfig, a.openGate)
}

// words runs what is typed after /permissions.
func (a permissionActions) words(ctx context.Context, args string) (notice string, err error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(args), " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "explain":
		mode := a.mode()
		if conv := a.board.Open(); conv != nil {
			mode = conv.State().Mode
		}
		if rest == "" {
			return "", errors.New("/permissions explain LINE: a shell line, or a call such as write(src/a.go)")
		}
		return strings.TrimRight(a.explain(ctx, rest, mode).String(), "\n"), nil
	case "allow":
		grant := permission.Grant{Rule: rest, Scope: tools.AnswerProject}
		if err := a.gate.Grant(ctx, grant); err != nil {
			return "", fmt.Errorf("/permissions allow RULE: %w", err)
		}
		return "always in this project: " + rest, nil
	case "revoke":
		return a.rights.revoke(ctx, rest)
	case "deny", "ask":
		added, err := permission.ParseRestriction(rest)
		if err != nil {
			return "", fmt.Errorf("/permissions %s RULE: %w", word, err)
		}
		rules := a.gate.Rules()
		if word == "deny" {
			rules.Deny = append(rules.Deny[:len(rules.Deny):len(rules.Deny)], added...)
		} else {
			rules.Ask = append(rules.Ask[:len(rules.Ask):len(rules.Ask)], added...)
		}
		a.gate.SetRules(rules)
		return word + " " + added[0].String() + " until jcode ends; permissions." + word + " in config.json keeps it", nil
	}
	return "", command.ErrSearch
}
