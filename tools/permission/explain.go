package permission

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"jcode/internal/paths"
	"jcode/tools"
	"jcode/tools/permission/shell"
)

// Explanation says what would happen to a line of text, and why.
type Explanation struct {
	// Text is the text that was judged, with hidden characters made visible.
	Text string `json:"text"`
	// Outcome is "runs", "asks" or "is denied".
	Outcome string `json:"outcome"`
	// Sandboxed says that it would run confined.
	Sandboxed bool `json:"sandboxed"`
	// Why is the reason in one line.
	Why string `json:"why"`
	// Parts are the simple commands of a shell line, each with its own outcome.
	Parts []ExplainedPart `json:"parts,omitempty"`
	// Rules are what a lasting yes would store.
	Rules []string `json:"rules,omitempty"`
}

// ExplainedPart is one simple command of an explained line.
type ExplainedPart struct {
	Text    string `json:"text"`
	Outcome string `json:"outcome"`
	Why     string `json:"why"`
}

// String returns the explanation as lines for a terminal.
func (e Explanation) String() string {
	var b strings.Builder
	for _, p := range e.Parts {
		fmt.Fprintf(&b, "  %s\n      %s: %s\n", p.Text, p.Outcome, p.Why)
	}
	verb := e.Outcome
	if e.Sandboxed {
		verb += " in the sandbox"
	}
	fmt.Fprintf(&b, "%s\n  %s: %s\n", e.Text, verb, e.Why)
	if len(e.Rules) > 0 {
		fmt.Fprintf(&b, "  a lasting yes would store: %s\n", joinRules(e.Rules))
	}
	return b.String()
}

// Explain says what would happen to a shell line, or to a call written like a rule: write(src/a.go),
// fetch(https://example.com), mcp(server:tool), lua(name).
func (g *Gate) Explain(ctx context.Context, caller tools.Caller, line string) Explanation {
	line = strings.TrimSpace(line)
	access, tool, ok := g.accessOf(line)
	if !ok {
		access, tool = tools.Access{Kind: tools.AccessExec, Command: line, Bash: g.bash}, "exec"
	}
	group := tools.GroupBuiltin
	switch access.Kind {
	case tools.AccessMCP:
		group, tool = tools.GroupMCP, "mcp:"+access.Target
	case tools.AccessLua:
		group, tool = tools.GroupLua, access.Target
	}
	caller.Origin = tools.OriginModel
	c := &checking{g: g, ctx: ctx, mode: g.mode(caller), dry: true, req: tools.GateRequest{
		Spec: tools.Spec{Name: tool, Group: group},
		Call: tools.Call{Name: tool, Caller: caller},
		Plan: tools.Plan{Accesses: []tools.Access{access}},
	}}
	v := c.judge()
	e := Explanation{Text: show(line), Sandboxed: v.confine, Rules: v.store}
	e.Outcome, e.Why = [...]string{"runs", "asks", "is denied"}[v.outcome], v.reason
	switch {
	case v.outcome == allow && v.rule != "":
		e.Why = fmt.Sprintf("by %s %s", v.by, v.rule)
	case v.outcome == allow:
		e.Why = fmt.Sprintf("by mode %s", c.mode)
	case v.outcome == ask && v.by == tools.ByMode:
		e.Why = fmt.Sprintf("mode %s; %s", c.mode, v.reason)
	}
	if access.Kind == tools.AccessExec {
		e.Parts = c.parts(access)
	}
	return e
}

// parts explains each simple command of a line.
func (c *checking) parts(a tools.Access) []ExplainedPart {
	line := shell.Analyse(a.Command, c.scene(a))
	var out []ExplainedPart
	if line.Doubt != "" {
		out = append(out, ExplainedPart{"the line as a whole", "asks", line.Doubt})
	}
	for i, cmd := range line.Commands {
		p := ExplainedPart{Text: show(cmd.Text), Outcome: "asks", Why: cmd.Why}
		one := shell.Line{Text: cmd.Text, Commands: []shell.Command{cmd}}
		if v, forced := c.execRestricted(one); forced {
			p.Why = v.reason
			if v.outcome == deny {
				p.Outcome = "is denied"
			}
		} else if cmd.ReadOnly {
			p.Outcome = "runs"
		} else if v, ok := c.commandAllowed(line, i); ok {
			p.Outcome, p.Why = "runs", "by "+string(v.by)+" "+v.rule
		}
		out = append(out, p)
	}
	return out
}

// accessOf parses a text of the form tool(argument).
func (g *Gate) accessOf(line string) (a tools.Access, tool string, ok bool) {
	name, rest, ok := strings.Cut(line, "(")
	arg, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed || arg == "" {
		return a, "", false
	}
	switch kind := kindOf(name); kind {
	case tools.AccessRead, tools.AccessWrite, tools.AccessDelete:
		if !filepath.IsAbs(arg) && g.places.start != "" {
			arg = filepath.Join(g.places.start, arg)
		}
		return tools.Access{Kind: kind, Path: paths.Real(arg)}, name, true
	case tools.AccessExec:
		return tools.Access{Kind: kind, Command: arg}, name, true
	case tools.AccessFetch:
		if !strings.Contains(arg, "://") {
			arg = "https://" + strings.TrimPrefix(arg, "domain:")
		}
		return tools.Access{Kind: kind, URL: arg}, name, true
	case tools.AccessMCP, tools.AccessLua:
		return tools.Access{Kind: kind, Target: arg}, name, true
	case tools.AccessConnect:
		return tools.Access{Kind: kind, Command: arg, Target: "?"}, name, true
	}
	return a, "", false
}
