package permission

import (
	"errors"
	"fmt"
	"strings"

	"jcode/tools"
	"jcode/tools/permission/shell"
)

// Rule is one rule as a person writes it: `TOOL` or `TOOL(PATTERN)`.
//
//	exec(git status)          exactly this command
//	exec(go test *)           these first words and anything after them
//	write(src/**)             files of the workspace; also absolute and ~/ patterns
//	read(.env)                a name without a slash matches at any depth
//	fetch(domain:example.com) the domain and, with *., its subdomains
//	fetch(private:localhost)  a host although its address is private
//	mcp(server) mcp(server:tool) mcp_connect(npx -y thing *) lua(name)
//
// `read`, `write` and `remove` name the kind of access: they apply to every tool that reads, writes or
// deletes. The zero Rule matches nothing.
type Rule struct {
	// Tool is a tool's name or a kind of access.
	Tool string
	// Pattern is the text in parentheses; HasPattern tells an absent one from an empty one.
	Pattern    string
	HasPattern bool

	command *shell.Pattern // exec
	paths   *pathPattern   // file kinds
}

// String returns the rule as a person writes it.
func (r Rule) String() string {
	if !r.HasPattern {
		return r.Tool
	}
	return r.Tool + "(" + r.Pattern + ")"
}

// ParseRule parses a rule. The error says what is wrong and how to write it.
func ParseRule(s string) (Rule, error) {
	s = strings.TrimSpace(s)
	name, rest, bracket := strings.Cut(s, "(")
	name = strings.TrimSpace(name)
	if name == "" {
		return Rule{}, fmt.Errorf("rule %q: it begins with a tool's name, as in exec(git status)", s)
	}
	r := Rule{Tool: name}
	if server, ok := strings.CutPrefix(name, "mcp:"); ok && !bracket {
		return ParseRule("mcp(" + server + ")")
	}
	if strings.ContainsAny(name, " \t\r\n)") {
		return Rule{}, fmt.Errorf("rule %q: %q is not a tool's name", s, name)
	}
	if !bracket {
		return r, nil
	}
	body, closed := strings.CutSuffix(rest, ")")
	if !closed {
		return Rule{}, fmt.Errorf("rule %q: the closing bracket is missing", s)
	}
	r.Pattern, r.HasPattern = strings.TrimSpace(body), true
	if r.Pattern == "" {
		return Rule{}, fmt.Errorf("rule %q: the pattern is empty; write %s alone to mean the whole tool", s, name)
	}
	if err := r.compile(); err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", s, err)
	}
	return r, nil
}

func (r *Rule) compile() (err error) {
	switch kindOf(r.Tool) {
	case tools.AccessExec:
		r.command, err = shell.Compile(r.Pattern)
	case tools.AccessRead, tools.AccessWrite, tools.AccessDelete:
		r.paths, err = compilePath(r.Pattern)
	case tools.AccessFetch:
		scheme, host, ok := strings.Cut(r.Pattern, ":")
		if !ok || (scheme != "domain" && scheme != "private") || host == "" || strings.ContainsAny(host, "/ ") {
			return errors.New("write fetch(domain:example.com) or fetch(domain:*.example.com)")
		}
	case tools.AccessMCP, tools.AccessConnect, tools.AccessLua:
	default:
		return fmt.Errorf("%s takes no pattern", r.Tool)
	}
	return err
}

// kindOf returns the kind of access that a rule's tool name means; "" for a name that means only the tool
// itself.
func kindOf(tool string) tools.AccessKind {
	switch tool {
	case "exec":
		return tools.AccessExec
	case "read", "grep", "glob", "ls":
		return tools.AccessRead
	case "write", "edit", "mkdir", "apply_patch":
		return tools.AccessWrite
	case "remove", "mv":
		return tools.AccessDelete
	case "fetch":
		return tools.AccessFetch
	case "mcp":
		return tools.AccessMCP
	case "mcp_connect":
		return tools.AccessConnect
	case "lua":
		return tools.AccessLua
	}
	return ""
}

// RuleSet holds rules by their effect.
type RuleSet struct {
	Allow, Ask, Deny []Rule
}

// ParseRules parses lists of rules. Invalid ones are left out and named in the error; the others are
// returned.
func ParseRules(allow, ask, deny []string) (RuleSet, error) {
	var set RuleSet
	var errs []error
	parse := func(dst *[]Rule, texts []string) {
		for _, t := range texts {
			r, err := ParseRule(t)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			*dst = append(*dst, r)
		}
	}
	parse(&set.Allow, allow)
	parse(&set.Ask, ask)
	parse(&set.Deny, deny)
	return set, errors.Join(errs...)
}
