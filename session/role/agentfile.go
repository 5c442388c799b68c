package role

import (
	"fmt"
	"slices"
	"strings"

	"jcode/internal/frontmatter"
	"jcode/internal/toolcard"
)

// ParseAgent reads the definition of an agent as Claude Code writes it, in .claude/agents, as a
// role. name is the file's, which counts where the file names no other. Like Parse it never
// fails. A key without a meaning here is a problem that does not keep the role from being
// used; an unknown tool is left out.
func ParseAgent(name string, data []byte) Role { return read(name, data, true) }

// setAgent applies one key of an agent's definition.
func (r *Role) setAgent(f frontmatter.Field, raw func() string) {
	switch bare(f.Key) {
	case "name": // taken already
	case "description":
		r.Description = f.String()
	case "tools":
		r.Tools = r.agentTools(f)
	case "disallowedtools":
		r.Disallowed = r.agentTools(f)
		for i := range r.Problems { // what is left out here is given
			if p := &r.Problems[i]; p.Line == f.Line && !slices.ContainsFunc(lacking(), func(name string) bool { return strings.Contains(p.Text, `"`+name+`"`) }) {
				p.Fatal = true
			}
		}
	case "model":
		r.Model = r.agentModel(f)
	case "permissionmode":
		r.Mode = r.agentMode(f)
	case "skills":
		r.Skills = r.list(f)
	case "mcpservers":
		r.Servers = r.agentServers(f)
	case "hooks":
		r.hooks(f, raw())
	case "maxturns":
		r.MaxSteps = r.count(f, "requests")
	default:
		r.Unknown = append(r.Unknown, Field{Key: f.Key, Raw: raw()})
		r.problem(f.Line, fmt.Sprintf("the key %q has no meaning here", f.Key), "it has no effect", meantToLimit(f.Key))
	}
}

// agentTools reads names of tools; those that jcode does not have are left out.
func (r *Role) agentTools(f frontmatter.Field) []string {
	names := r.list(f)
	if names == nil {
		return nil
	}
	out := []string{}
	for _, name := range names {
		ours, known := toolcard.Ours(name)
		switch plain := strings.ToLower(name) == name && !strings.ContainsAny(name, "( "); {
		case known:
			out = append(out, ours)
		case plain && !strings.HasPrefix(name, "mcp__"): // a name of ours, which is looked up later
			out = append(out, name)
		case strings.Contains(name, "("):
			r.problem(f.Line, fmt.Sprintf("%s: %q does not accept a pattern here", f.Key, name), "it is left out: write the tool's name, and a rule of permissions for the rest", false)
		default:
			r.problem(f.Line, fmt.Sprintf("%s: jcode has no tool %q", f.Key, name), "it is left out", false)
		}
	}
	return out
}

// lacking are tools of Claude Code that jcode has nothing like: to take them away changes nothing.
func lacking() []string {
	return []string{
		"NotebookEdit", "NotebookRead", "ExitPlanMode", "EnterPlanMode", "SlashCommand", "ListMcpResourcesTool", "ReadMcpResourceTool", "WebSearch", "TaskOutput", "TaskStop",
		"TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "ToolSearch", "LSP", "Monitor", "CronCreate", "CronDelete", "CronList", "EnterWorktree", "ExitWorktree", "SendMessage", "PowerShell",
	}
}

// agentModel reads a model's name. The short names are Claude Code's own.
func (r *Role) agentModel(f frontmatter.Field) string {
	switch name := strings.TrimSpace(f.String()); strings.ToLower(name) {
	case "", "inherit":
		return ""
	case "sonnet", "opus", "haiku", "default", "best":
		r.problem(f.Line, fmt.Sprintf("model: %q is a short name that only Claude Code knows", name),
			"the current model is kept; write a full one, such as anthropic/claude-sonnet-4-5", false)
		return ""
	default:
		return name
	}
}

// agentMode reads a permission mode as the ceiling of the role: none raises what holds.
func (r *Role) agentMode(f frontmatter.Field) string {
	switch mode := strings.TrimSpace(f.String()); strings.ToLower(mode) {
	case "", "default":
		return ""
	case "plan":
		return "plan"
	case "acceptedits":
		return "edits"
	case "auto":
		return "auto"
	case "bypasspermissions", "dontask", "delegate":
		r.problem(f.Line, fmt.Sprintf("permissionMode: %q has no meaning here", mode), "a role only narrows: the mode in force holds", false)
		return ""
	default:
		r.problem(f.Line, fmt.Sprintf("permissionMode: there is no mode %q", mode), "use default, plan, acceptEdits or auto, or leave the key out", true)
		return ""
	}
}

// agentServers reads names of MCP servers. A server that is defined in place is not started.
func (r *Role) agentServers(f frontmatter.Field) []string {
	if f.Kind == frontmatter.Map {
		r.problem(f.Line, "mcpServers: servers are not defined here", "define them in .mcp.json, and list their names", false)
		return nil
	}
	var names []string
	for _, name := range r.list(f) {
		if strings.ContainsAny(name, ":{ \n") {
			r.problem(f.Line, "mcpServers: a server is not defined here", "define it in .mcp.json, and name it", false)
			continue
		}
		names = append(names, name)
	}
	return names
}
