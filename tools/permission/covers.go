package permission

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"jcode/internal/patch"
	"jcode/internal/paths"
	"jcode/internal/toolcard"
	"jcode/tools"
	"jcode/tools/permission/shell"
)

// Covers reports whether a rule covers a call, as far as the call's arguments tell: a command that can't be
// analysed may be covered by any rule for commands. The rule may have the form of Claude Code, such as
// Bash(git push *).
func (g *Gate) Covers(rule string, call tools.Call) (bool, error) {
	r, err := foreignRule(rule)
	if err != nil {
		return false, err
	}
	var args struct{ Cmd, Command, Dir, Path, From, To, Input string }
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return false, nil //nolint:nilerr // the call will be refused: no rule covers it
	}
	c := &checking{g: g, req: tools.GateRequest{Call: call}, rules: RuleSet{}}
	switch server, mcp := strings.CutPrefix(call.Name, "mcp:"); {
	case mcp:
		return r.Tool == "mcp" && (!r.HasPattern || matchTarget(r.Pattern, server)), nil
	case call.Name == "exec":
		if r.Tool != "exec" {
			return false, nil
		}
		line := shell.Analyse(args.Cmd+args.Command, c.scene(tools.Access{Dir: args.Dir, Bash: c.g.bash}))
		may, _ := r.restricts(line)
		return may, nil
	}
	kind := kindOf(call.Name)
	if !r.HasPattern {
		return r.Tool == call.Name || kind != "" && r.standsFor(call.Name, kind), nil
	}
	if r.paths == nil || !r.standsFor(call.Name, kind) {
		return false, nil
	}
	for _, path := range append(patch.Paths(args.Input), args.Path, args.From, args.To) {
		if path == "" {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(g.places.start, filepath.FromSlash(path))
		}
		if r.paths.match(g.places.roots, paths.Real(path)) {
			return true, nil
		}
	}
	return false, nil
}

// foreignRule parses a rule in jcode's form or in that of Claude Code.
func foreignRule(text string) (Rule, error) {
	name, pattern, has := strings.Cut(strings.TrimSpace(text), "(")
	ours, known := toolcard.Ours(name)
	if !known {
		return Rule{}, fmt.Errorf("%q is not a tool that jcode has", name)
	}
	if server, ok := strings.CutPrefix(ours, "mcp:"); ok {
		return ParseRule("mcp(" + strings.TrimSuffix(server, ":*") + ")")
	}
	pattern = strings.TrimSpace(pattern)
	if !has || pattern == "*)" || pattern == ":*)" {
		return ParseRule(ours)
	}
	if head, ok := strings.CutSuffix(pattern, ":*)"); ok && ours == "exec" {
		pattern = head + " *)"
	}
	return ParseRule(ours + "(" + pattern)
}
