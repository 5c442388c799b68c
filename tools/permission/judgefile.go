package permission

import (
	"path/filepath"
	"strings"

	"jcode/tools"
)

// file judges reading, writing or deleting a path.
func (c *checking) file(a tools.Access) verdict {
	tool, p := c.req.Spec.Name, c.g.places
	path := filepath.Clean(a.Path)
	match := func(r Rule) bool {
		return r.standsFor(tool, a.Kind) && (!r.HasPattern || r.paths != nil && r.paths.match(p.roots, path))
	}
	v, restricted := c.restricted(match)
	if restricted && v.outcome == deny {
		v.reason += ": " + p.Show(path)
		return v
	}
	inside, protected := p.Inside(path), ""
	if a.Kind != tools.AccessRead {
		protected = p.protects()(path)
	}
	if c.mode == tools.ModePlan && a.Kind != tools.AccessRead {
		return c.refusedByPlan()
	}
	if a.Kind == tools.AccessRead && !restricted && (inside || c.offered(path) || c.brought(path)) {
		return verdict{by: tools.ByMode, silent: true}
	}
	if !restricted {
		if v, ok := c.allowed("", func(r Rule) bool { return c.fileAllowed(r, tool, a.Kind, path, inside, protected) }); ok {
			return v
		}
	}
	return c.fileByMode(v, a.Kind, path, inside, protected, restricted)
}

// offered reports whether jcode offered the path to this session for reading.
func (c *checking) offered(path string) bool {
	session := c.req.Call.Caller.Session
	return c.g.offered != nil && session != "" && c.g.offered(session, path)
}

// fileAllowed reports whether an allow rule covers a path. A rule without a pattern covers the tool itself,
// in the workspace; a protected path must be named.
func (c *checking) fileAllowed(r Rule, tool string, kind tools.AccessKind, path string, inside bool, protected string) bool {
	if !r.HasPattern {
		return r.about(tool, kind) && inside && protected == ""
	}
	if !r.standsFor(tool, kind) || r.paths == nil || !r.paths.match(c.g.places.roots, path) {
		return false
	}
	return protected == "" || r.paths.names(protected)
}

// names reports whether a pattern mentions a protected place by name, rather than covering it with a
// wildcard.
func (p *pathPattern) names(protected string) bool {
	if p.literal {
		return true
	}
	for _, part := range strings.Split(p.glob, "/") {
		switch part {
		case ".git", ".jcode", ".claude", ".agents", ".mcp.json":
			return true
		}
		if protected == "start-up and key files of your account" && strings.HasPrefix(part, ".") {
			return true
		}
	}
	return false
}

func (c *checking) fileByMode(v verdict, kind tools.AccessKind, path string, inside bool, protected string, restricted bool) verdict {
	shown := c.g.places.Show(path)
	v.outcome = ask
	if v.by == "" {
		v.by = tools.ByMode
	}
	if !inside {
		v.details = append(v.details, "outside the project: "+shown)
	}
	if protected != "" {
		v.details = append(v.details, "protected: "+shown+" ("+protected+")")
	}
	name := pathRuleTool(c.req.Spec.Name, kind)
	switch {
	case protected != "":
		v.store, v.sessionOnly = []string{name + "(" + escapeGlob(path) + ")"}, true
	case !inside:
		v.store = []string{name + "(" + escapeGlob(path) + ")"}
		if folder := c.g.places.around(path); folder != "" {
			v.broad = []string{name + "(" + escapeGlob(folder) + "/**)"}
		}
	default:
		v.store = []string{c.req.Spec.Name}
	}
	if v.reason == "" {
		v.reason = fileReason(kind, shown, inside, protected)
	}
	switch {
	case restricted:
		return v
	case protected != "":
		v.shown = c.mode == tools.ModeYolo
		return v
	case c.mode == tools.ModeYolo, inside && (c.mode == tools.ModeEdits || c.mode == tools.ModeAuto):
		return verdict{outcome: allow, by: tools.ByMode, rule: string(c.mode)}
	}
	return v
}

func fileReason(kind tools.AccessKind, shown string, inside bool, protected string) string {
	what := map[tools.AccessKind]string{tools.AccessRead: "reading ", tools.AccessWrite: "writing ", tools.AccessDelete: "removing "}[kind] + shown
	switch {
	case protected != "":
		return what + " is protected (" + protected + ")"
	case !inside:
		return what + " is outside the project"
	}
	return what
}

// pathRuleTool returns the tool name under which a path is granted.
func pathRuleTool(tool string, kind tools.AccessKind) string {
	if kindOf(tool) == kind {
		return tool
	}
	switch kind {
	case tools.AccessRead:
		return "read"
	case tools.AccessDelete:
		return "remove"
	}
	return "write"
}

// escapeGlob writes a path as a pattern that matches only that path.
func escapeGlob(path string) string {
	path = filepath.ToSlash(path)
	var b strings.Builder
	for i := range len(path) {
		if strings.IndexByte(`*?[]{}\`, path[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
