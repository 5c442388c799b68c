package toolcard

import "sync"

// cards returns the table, sorted by name; it is made at its first use and never changed. Where two tools have a name in common, as edit and
// apply_patch do in Claude Code's terms, Trained names it at the one that is meant by Ours.
var cards = sync.OnceValue(func() []Card {
	path := map[string]string{"path": "file_path"}
	return []Card{
		{Name: "agent", Kind: Think, Steers: true, After: []string{"task"}},
		{Name: "apply_patch", Kind: Edit, Parts: true, Access: "write", Under: []string{"write", "edit"}, Grants: "any patch, also one that removes files,", Trained: []string{"apply_patch"}, Instead: []string{"edit", "mkdir", "mv", "remove", "write"}},
		{Name: "ask", Kind: Think, Trained: []string{"ask", "askuserquestion"}},
		{Name: "code_action", Kind: Edit, Under: []string{"write", "edit"}},
		{Name: "definition", Kind: Search, Under: []string{"read"}},
		{Name: "diagnostics", Kind: Read, Under: []string{"read"}},
		{Name: "docs_search", Kind: Search},
		{Name: "edit", Kind: Edit, Parts: true, Access: "write", Under: []string{"write"}, Editable: "new_string", Grants: "any edit", Theirs: []string{"Edit", "MultiEdit"}, Arguments: path, Trained: []string{"str_replace", "str_replace_editor", "str_replace_based_edit_tool", "replace", "search_replace", "edit_file"}},
		{Name: "exec", Kind: Execute, Access: "exec", Editable: "cmd", Theirs: []string{"Bash"}, Arguments: map[string]string{"cmd": "command"}, Trained: []string{"exec", "shell", "run_shell_command", "run_command", "execute_command", "local_shell", "shell_command"}},
		{Name: "fetch", Kind: Fetch, Access: "fetch", Theirs: []string{"WebFetch"}, Trained: []string{"fetch", "web_fetch"}},
		{Name: "glob", Kind: Search, Access: "read", Under: []string{"read"}, Looks: true, Theirs: []string{"Glob"}, Arguments: map[string]string{"dir": "path"}, Trained: []string{"file_search"}},
		{Name: "grep", Kind: Search, Access: "read", Under: []string{"read"}, Looks: true, Theirs: []string{"Grep"}, Trained: []string{"search_file_content", "grep_search"}},
		{Name: "hover", Kind: Read, Under: []string{"read"}},
		{Name: "job", Kind: Execute, After: []string{"job"}, Said: []string{"Started job ", "running as job ", "runs as job "}, Under: []string{"exec"}, Steers: true, Trained: []string{"job", "bashoutput", "killshell"}},
		{Name: "ls", Kind: Read, Access: "read", Under: []string{"read"}, Looks: true, Theirs: []string{"LS"}, Trained: []string{"list_directory", "list_dir"}},
		{Name: "lua", Kind: Other, Access: "lua", Trained: []string{"lua"}},
		{Name: "lua_eval", Kind: Other},
		{Name: "mcp", Kind: Other, Access: "mcp", Trained: []string{"mcp"}},
		{Name: "mcp_call", Kind: Other},
		{Name: "mcp_connect", Kind: Other, Access: "mcp_connect", After: []string{"mcp_list"}, Serves: true},
		{Name: "mcp_describe", Kind: Other},
		{Name: "mcp_disconnect", Kind: Other, After: []string{"mcp_list", "mcp_connect"}, Serves: true},
		{Name: "mcp_list", Kind: Other},
		{Name: "mcp_reload", Kind: Other, After: []string{"mcp_list", "mcp_connect"}, Serves: true},
		{Name: "mcp_search", Kind: Other},
		{Name: "mkdir", Kind: Edit, Access: "write", Under: []string{"write"}, Grants: "making any folder", Trained: []string{"mkdir"}},
		{Name: "mv", Kind: Move, Access: "delete", Under: []string{"write", "remove"}, Grants: "moving any file", Trained: []string{"mv"}},
		{Name: "read", Kind: Read, Access: "read", Looks: true, Theirs: []string{"Read"}, Arguments: path, Trained: []string{"view", "read_file", "view_file", "open_file"}},
		{Name: "recall", Kind: Search},
		{Name: "references", Kind: Search, Under: []string{"read"}},
		{Name: "reload_skills", Kind: Other, After: []string{"mcp_list", "skill"}},
		{Name: "remember", Kind: Think, Editable: "text", Grants: "keeping any note"},
		{Name: "remove", Kind: Delete, Access: "delete", Grants: "removing any file", Trained: []string{"remove"}},
		{Name: "rename", Kind: Edit, Under: []string{"write", "edit"}},
		{Name: "skill", Kind: Read, Theirs: []string{"Skill"}},
		{Name: "symbols", Kind: Search, Under: []string{"read"}},
		{Name: "task", Kind: Think, Steers: true, Theirs: []string{"Task", "Agent"}},
		{Name: "todo", Kind: Think, Steers: true, Theirs: []string{"TodoWrite"}, Trained: []string{"todo", "todoread", "update_plan", "write_todos", "todo_write"}},
		{Name: "web_search", Kind: Fetch},
		{Name: "write", Kind: Edit, Parts: true, Access: "write", Editable: "content", Grants: "any write", Theirs: []string{"Write"}, Arguments: path, Trained: []string{"write_file", "create_file"}},
	}
})
