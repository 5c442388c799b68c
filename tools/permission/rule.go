package permission

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/text"
	"jcode/internal/toolcard"
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
//	*                         every tool
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

// ParseRule parses a rule that allows. The error says what is wrong and how to write it.
//
// The names that Claude Code has for tools mean ours, with its form of patterns: `Bash(git push:*)`,
// `Read(//abs)`, `Edit(/from/the/root)`, `mcp__server__tool`.
func ParseRule(s string) (Rule, error) {
	s = strings.TrimSpace(s)
	name, rest, bracket := strings.Cut(s, "(")
	name = strings.TrimSpace(name)
	if name == "" {
		return Rule{}, fmt.Errorf("rule %q: it begins with a tool's name, as in exec(git status)", s)
	}
	ours, foreign := translated(name)
	r := Rule{Tool: ours}
	if server, ok := strings.CutPrefix(ours, "mcp:"); ok && !bracket {
		return ParseRule("mcp(" + strings.TrimSuffix(server, ":*") + ")")
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
	switch {
	case r.Pattern == "":
		return Rule{}, fmt.Errorf("rule %q: the pattern is empty; write %s alone to mean the whole tool", s, name)
	case foreign && r.Pattern == "*":
		return Rule{Tool: ours}, nil
	case foreign:
		r.Pattern = theirPattern(kindOf(ours), r.Pattern)
	}
	if err := r.compile(); err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", s, err)
	}
	return r, nil
}

// ParseRestriction parses a rule that denies or asks. It may mean several: where the text can be read in two
// ways, both hold. A rule that no tool can match is an error of the type NoTool, and is returned with it.
func ParseRestriction(s string) ([]Rule, error) {
	r, err := ParseRule(s)
	if err != nil {
		return nil, err
	}
	if err := r.reaches(); err != nil {
		return nil, fmt.Errorf("rule %q: %w", strings.TrimSpace(s), err)
	}
	out := []Rule{r}
	name, body, _ := strings.Cut(strings.TrimSpace(s), "(")
	body = strings.TrimSpace(strings.TrimSuffix(body, ")"))
	_, foreign := translated(strings.TrimSpace(name))
	add := func(text string) {
		if more, err := ParseRule(text); err == nil && more.String() != r.String() {
			out = append(out, more)
		}
	}
	switch kind := kindOf(r.Tool); {
	case foreign && r.Tool == "edit": // theirs is about every tool that edits
		for i := range out {
			out[i].Tool = "write"
		}
		r = out[0]
		if strings.HasPrefix(body, "/") {
			add("write(" + body + ")")
		}
	case foreign && strings.HasPrefix(body, "/") && isFile(kind):
		add(r.Tool + "(" + body + ")")
	case !foreign && kind == tools.AccessExec && strings.HasSuffix(body, ":*"):
		add("exec(" + strings.TrimSuffix(body, ":*") + " *)")
	}
	if !r.knowsTool() {
		return out, &NoTool{Rule: r.String(), Tool: r.Tool}
	}
	return out, nil
}

// reaches returns why nothing can match the pattern of a rule, as far as it can be told.
func (r Rule) reaches() error {
	kind := kindOf(r.Tool)
	switch {
	case !r.HasPattern:
		return nil
	case kind == tools.AccessMCP || kind == tools.AccessLua:
		if _, err := path.Match(r.Pattern, ""); err != nil || strings.ContainsAny(r.Pattern, "()") {
			return fmt.Errorf("%q names no tool: write %s(name) or, for several, %s(name*)", r.Pattern, r.Tool, r.Tool)
		}
	case isFile(kind):
		if err := balanced(r.Pattern); err != nil {
			return err
		}
		switch parts := strings.Split(filepath.ToSlash(r.Pattern), "/"); {
		case slices.Contains(parts, ".."):
			return errors.New("no path has .. in it: write it absolute, or from ~")
		case strings.HasPrefix(parts[0], "$") && len(parts) > 1:
			return fmt.Errorf("%s is not replaced by its value: write the path absolute, or from ~", parts[0])
		}
	case kind == tools.AccessExec && r.command.Whole && strings.Count(r.Pattern, ")") != strings.Count(r.Pattern, "("):
		return errors.New("it has a stray bracket, and is no command")
	}
	return nil
}

// NoTool is the error of a rule that no tool can match.
type NoTool struct{ Rule, Tool string }

func (e *NoTool) Error() string {
	hint := ""
	if near := text.Nearest(strings.ToLower(e.Tool), toolcard.Names()); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	return fmt.Sprintf("rule %q: there is no tool %q, so it covers nothing%s; a Lua tool is lua(%s), a server's tool mcp(SERVER:TOOL), everything *", e.Rule, e.Tool, hint, e.Tool)
}

// knowsTool reports whether a tool of the rule's name can exist.
func (r Rule) knowsTool() bool {
	return r.Tool == everything || slices.Contains(toolcard.Names(), r.Tool)
}

// everything is the name of a rule for all tools.
const everything = "*"

// named reports whether the rule names a tool, or all of them.
func (r Rule) named(tool string) bool { return r.Tool == tool || r.Tool == everything }

// translated returns our name for a tool, and whether another program's name was used.
func translated(name string) (ours string, foreign bool) {
	if name == everything || slices.Contains(toolcard.Names(), name) {
		return name, false
	}
	if strings.EqualFold(name, "WebSearch") {
		return "web_search", true
	}
	if ours, ok := toolcard.Ours(name); ok {
		return ours, true
	}
	return name, false
}

// theirPattern translates a pattern of another program's rule.
func theirPattern(kind tools.AccessKind, pattern string) string {
	switch {
	case kind == tools.AccessExec: // `git:*` is git and anything after it
		if head, ok := strings.CutSuffix(pattern, ":*"); ok {
			return head + " *"
		}
	case !isFile(kind):
	case strings.HasPrefix(pattern, "//"):
		return pattern[1:]
	case strings.HasPrefix(pattern, "/"): // from the project's root
		rest := strings.TrimLeft(pattern, "/")
		if !strings.Contains(strings.TrimSuffix(rest, "/"), "/") {
			return "{" + rest + "," + rest + "/**}" // only there, not at any depth
		}
		return rest
	}
	return pattern
}

func isFile(kind tools.AccessKind) bool {
	return kind == tools.AccessRead || kind == tools.AccessWrite || kind == tools.AccessDelete
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
	case "":
		if r.Tool == string(tools.AccessInput) {
			return nil
		}
		return fmt.Errorf("%s does not accept a pattern", r.Tool)
	default:
		return fmt.Errorf("%s does not accept a pattern", r.Tool)
	}
	return err
}

// balanced refuses a stray bracket: it is almost always one too many, and the pattern would match nothing.
func balanced(pattern string) error {
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		return errors.New(`it has a stray bracket; in a file's name write it as \( or \)`)
	}
	return nil
}

// kindOf returns the kind of access that a rule's tool name means; "" for a name that means only the tool
// itself.
func kindOf(tool string) tools.AccessKind { return tools.AccessKind(toolcard.Of(tool).Access) }

// RuleSet holds rules by their effect.
type RuleSet struct {
	Allow, Ask, Deny []Rule
}

// ParseRules parses lists of rules. Invalid ones are left out and named in the error; the others are
// returned. A rule that no tool can match yet is kept: a tool of that name may come.
func ParseRules(allow, ask, deny []string) (RuleSet, error) {
	var set RuleSet
	var errs []error
	for _, text := range allow {
		r, err := ParseRule(text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		set.Allow = append(set.Allow, r)
	}
	restrict := func(dst *[]Rule, texts []string) {
		for _, text := range texts {
			rules, err := ParseRestriction(text)
			if none := (*NoTool)(nil); err != nil && !errors.As(err, &none) {
				errs = append(errs, err)
			}
			*dst = append(*dst, rules...)
		}
	}
	restrict(&set.Ask, ask)
	restrict(&set.Deny, deny)
	return set, errors.Join(errs...)
}
