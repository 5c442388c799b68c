// Package toolnames maps the tool names of other agents to jcode's: skills, command files and definitions of
// agents that were written for them name tools.
package toolnames

import "strings"

// Ours returns jcode's name for a tool of another agent, ignoring case. A tool of an MCP server,
// mcp__SERVER__TOOL, is mcp:SERVER:TOOL, and all of a server's tools are mcp:SERVER:*.
func Ours(name string) (string, bool) {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		// Only the first separator is certain: a tool's own name may contain another.
		server, tool, _ := strings.Cut(rest, "__")
		if tool == "" {
			tool = "*"
		}
		return "mcp:" + server + ":" + tool, server != ""
	}
	switch name := strings.ToLower(name); name {
	case "bash", "shell", "exec":
		return "exec", true
	case "read", "view":
		return "read", true
	case "edit", "multiedit":
		return "edit", true
	case "fetch", "webfetch":
		return "fetch", true
	case "task", "agent":
		return "task", true
	case "todo", "todowrite", "todoread":
		return "todo", true
	case "ask", "askuserquestion":
		return "ask", true
	case "bashoutput", "killshell", "job":
		return "job", true
	case "write", "apply_patch", "grep", "glob", "ls", "mkdir", "remove", "mv", "skill", "mcp", "lua":
		return name, true
	}
	return "", false
}

// Builtin lists the names of jcode's own tools, and of the kinds of access that rules name like a tool.
func Builtin() []string {
	return []string{
		"agent", "apply_patch", "ask", "code_action", "definition", "diagnostics", "docs_search", "edit", "exec", "fetch", "glob", "grep", "hover", "job", "ls",
		"lua", "lua_eval", "mcp", "mcp_call", "mcp_connect", "mcp_describe", "mcp_disconnect", "mcp_list", "mcp_reload", "mcp_search", "mkdir", "mv", "read", "references",
		"reload_skills", "remove", "rename", "skill", "symbols", "task", "todo", "web_search", "write",
	}
}
