package tools

import (
	"path"
	"slices"
	"strings"
)

// Scope is what a role, or a session without a role, may use. A nil list means everything; an empty one
// means nothing. It is immutable after construction.
type Scope struct {
	// Name is the role's name, empty for the session's own scope.
	Name string
	// Tools are canonical names or globs ("mcp:github:*").
	Tools []string
	// Without are tools that are excluded even if Tools includes them, names or globs.
	Without []string
	// Servers are MCP server keys.
	Servers []string
	// Skills are skill names.
	Skills []string
	// Capabilities are the granted rights; nil means all.
	Capabilities *Capabilities
	// ModeCeiling is the most permissive mode that this scope allows; "" means any.
	ModeCeiling Mode

	outer *Scope // see Within
}

// Allows reports whether the scope includes a tool, and if not, why.
func (s *Scope) Allows(spec Spec) (ok bool, why string) {
	if s == nil {
		return true, ""
	}
	if ok, why := s.outer.Allows(spec); !ok {
		return false, why
	}
	if s.Tools != nil && !slices.ContainsFunc(s.Tools, func(p string) bool { return MatchName(p, spec.Name) }) {
		return false, "not in " + s.label() + " (tools)"
	}
	if slices.ContainsFunc(s.Without, func(p string) bool { return MatchName(p, spec.Name) }) {
		return false, "left out by " + s.label() + " (disallowed_tools)"
	}
	if spec.Group == GroupMCP && spec.Server != "" && s.Servers != nil && !slices.Contains(s.Servers, spec.Server) {
		return false, "not in " + s.label() + " (mcp_servers)"
	}
	if missing := s.Missing(spec.Needs); missing != 0 {
		return false, missing.String() + " not granted by " + s.label()
	}
	return true, ""
}

// AllowsSkill reports whether the scope includes a skill.
func (s *Scope) AllowsSkill(name string) bool {
	if s == nil || !s.outer.AllowsSkill(name) {
		return s == nil
	}
	return s.Skills == nil || slices.ContainsFunc(s.Skills, func(p string) bool { return MatchName(p, name) })
}

// Missing returns the capabilities in need that the scope does not grant.
func (s *Scope) Missing(need Capabilities) Capabilities {
	if s == nil {
		return 0
	}
	missing := s.outer.Missing(need)
	if s.Capabilities != nil {
		missing |= need &^ *s.Capabilities
	}
	return missing
}

// Ceiling returns the most permissive mode that the scope allows; "" means any.
func (s *Scope) Ceiling() Mode {
	if s == nil {
		return ""
	}
	if outer := s.outer.Ceiling(); outer != "" {
		return outer.Under(s.ModeCeiling)
	}
	return s.ModeCeiling
}

// Roles returns the names of the roles that the scope comes from: its own and those that it lies within.
func (s *Scope) Roles() (names []string) {
	for ; s != nil; s = s.outer {
		if s.Name != "" && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

func (s *Scope) label() string {
	if s.Name == "" {
		return "this session"
	}
	return "role " + s.Name
}

// MatchName matches a canonical name against a pattern in which `*` matches any run of characters;
// "all" and "*" match everything.
func MatchName(pattern, name string) bool {
	if pattern == name || pattern == "*" || pattern == "all" {
		return true
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	ok, err := path.Match(pattern, strings.ReplaceAll(name, "/", "\x00"))
	return err == nil && ok
}

// Within returns a scope that allows what both s and outer allow.
func (s *Scope) Within(outer *Scope) *Scope {
	switch {
	case s == nil:
		return outer
	case outer == nil:
		return s
	}
	both := *s
	both.outer = outer
	return &both
}
