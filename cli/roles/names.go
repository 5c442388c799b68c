package rolescli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/notes"
	"jcode/session/role"
	"jcode/skills"
	"jcode/tools"
)

// Names knows the names that roles may use.
type Names struct {
	Load     func(ctx context.Context) // waits for tools that are being loaded
	Registry *tools.Registry
	Servers  func() []string  // of MCP; nil with --no-mcp
	Skills   *skills.Registry // nil with --no-skills
}

// unknown returns the names in a role that do not exist. It waits for names that may appear shortly, because
// a skill was just written or scripts are being loaded.
func (a Names) unknown(ctx context.Context, r role.Role) []role.Problem {
	var out []role.Problem
	look := func(key, what string, names []string, known func() []string, later func()) {
		missing := notAmong(names, known)
		if missing != nil && later != nil {
			later()
			missing = notAmong(names, known)
		}
		for _, name := range missing {
			out = append(out, role.Problem{
				Line: r.Line(key), Text: fmt.Sprintf("%s: there is no %s %q", key, what, name), Cure: instead(name, known()),
			})
		}
	}
	look("tools", "tool", r.Tools, a.toolNames, func() { a.Load(ctx) })
	look("disallowed_tools", "tool", r.Disallowed, a.toolNames, nil)
	if a.Servers != nil {
		look("mcp_servers", "MCP server", r.Servers, a.Servers, nil)
	}
	if a.Skills != nil {
		look("skills", "skill", r.Skills, a.skillNames, func() { a.Skills.Reload() })
	}
	return out
}

// notAmong returns the unknown ones of names. Patterns may match nothing, and the tools of a server are known
// only while it runs.
func notAmong(names []string, known func() []string) []string {
	var missing, all []string
	for _, name := range names {
		if strings.ContainsAny(name, "*?[") || strings.HasPrefix(name, "mcp:") {
			continue
		}
		if all == nil {
			all = known()
		}
		if !slices.Contains(all, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// instead says which name may be meant, or which there are.
func instead(name string, known []string) string {
	const most = 12
	switch near := text.Nearest(name, known); {
	case near != "":
		return "did you mean " + near + "?"
	case len(known) == 0:
		return "there is none"
	case len(known) > most:
		return "there are: " + strings.Join(known[:most], ", ") + " …"
	}
	return "there are: " + strings.Join(known, ", ")
}

// toolNames returns the names of all tools, including those that a flag has switched off: a role may still
// name them.
func (a Names) toolNames() []string {
	var names []string
	if a.Skills == nil {
		names = append(names, "skill", "reload_skills")
	}
	if a.Servers == nil {
		names = append(names, "mcp_list", "mcp_connect", "mcp_disconnect", "mcp_reload")
	}
	names = append(names, notes.RememberTool, notes.RecallTool) // also where notes are off
	return append(names, slicex.Map(a.Registry.Snapshot(nil).All(), func(e tools.Entry) string { return e.Spec.Name })...)
}

// skillNames returns the names of all skills that were found, even if switched off or broken.
func (a Names) skillNames() []string {
	var names []string
	for _, e := range a.Skills.Entries() {
		if !slices.Contains(names, e.Name) {
			names = append(names, e.Name)
		}
	}
	return names
}
