package wire

import "strings"

// Env is a kind of script, or a set of them.
type Env uint8

// The kinds of script.
const (
	EnvStartup Env = 1 << iota // <config>/startup.lua
	EnvPlugin                  // a plugin
	EnvTool                    // main.lua of a tool folder
	EnvEval                    // code given to lua_eval

	envScripts = EnvStartup | EnvPlugin
	envAll     = EnvStartup | EnvPlugin | EnvTool | EnvEval
	envNoEval  = EnvStartup | EnvPlugin | EnvTool
)

// kinds are the single kinds: as they travel in an init message, and as people know them.
var kinds = [...]struct {
	env          Env
	name, people string
}{{EnvStartup, "startup", "startup.lua"}, {EnvPlugin, "plugin", "plugins"}, {EnvTool, "tool", "tools"}, {EnvEval, "eval", "lua_eval"}}

// String names a single kind, as it travels in an init message.
func (e Env) String() string {
	for _, k := range kinds {
		if k.env == e {
			return k.name
		}
	}
	return "mixed"
}

// ParseEnv is the inverse of String.
func ParseEnv(name string) (Env, bool) {
	for _, k := range kinds {
		if k.name == name {
			return k.env, true
		}
	}
	return 0, false
}

// Names lists the kinds as people know them: "startup.lua and plugins".
func (e Env) Names() string {
	var list []string
	for _, k := range kinds {
		if e&k.env != 0 {
			list = append(list, k.people)
		}
	}
	if len(list) > 1 {
		return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
	}
	return strings.Join(list, "")
}

// Arg is one argument of an API function. Type is a Lua type name, "integer", "any",
// "function", or several joined by `|`; a trailing `?` makes it optional.
type Arg struct{ Name, Type string }

// Func describes one function of the API. Globals, checks of hostile calls, editor stubs and the manual are
// all generated from this.
type Func struct {
	// Name is the full name as a script writes it: "jcode.dispatch", "print".
	Name string
	Args []Arg
	// Returns is the type of its results, in stub notation.
	Returns string
	Doc     string
	// In are the environments that have the function; elsewhere its name is nil.
	In Env
	// Local functions run inside the host only.
	Local bool
	// Needs is the manifest key that grants it to a tool or plugin ("" = none). Without it the
	// function exists but refuses.
	Needs string
	// Pauses stops the script's clock during the call, which may wait for a person or for another
	// script.
	Pauses bool
	// Quiet functions also work inside an event handler.
	Quiet bool
}

// Table and Field split the name: "jcode", "dispatch"; Table is empty for a global.
func (f Func) Table() string {
	t, _, ok := strings.Cut(f.Name, ".")
	if !ok {
		return ""
	}
	return t
}

// Field is the name inside its table.
func (f Func) Field() string { return f.Name[strings.LastIndexByte(f.Name, '.')+1:] }

// Events are the names that jcode.on understands.
var Events = [...]string{"session_start", "prompt", "tool_call", "tool_result", "mcp_state", "turn_end"}

// API lists every function in the order of the manual.
func API() []Func { return api }

// Find returns the function of that full name.
func Find(name string) (Func, bool) {
	for _, f := range api {
		if f.Name == name {
			return f, true
		}
	}
	return Func{}, false
}

const resultTable = "{ok: boolean, error: string?, error_kind: string?, [string]: any}"

// api is the one table; it is never written.
var api = []Func{
	{
		Name: "jcode.dispatch", Args: []Arg{{"name", "string"}, {"args", "table?"}}, Returns: resultTable, In: envAll, Needs: "intents", Pauses: true,
		Doc: "Call any intent by name: a builtin, an MCP tool (mcp:server:tool), a Lua tool or component. It never raises for a failure: look at ok.",
	},
	{
		Name: "jcode.read", Args: []Arg{{"path", "string"}, {"more", "table?"}}, Returns: resultTable, In: envAll, Needs: "intents", Pauses: true,
		Doc: "Read a file. Gives content (exact bytes) and size.",
	},
	{
		Name: "jcode.write", Args: []Arg{{"path", "string"}, {"content", "string"}, {"more", "table?"}}, Returns: resultTable, In: envNoEval, Needs: "intents", Pauses: true,
		Doc: "Write a file atomically, making its folders. Gives bytes_written.",
	},
	{
		Name: "jcode.grep", Args: []Arg{{"pattern", "string"}, {"path", "string?"}, {"more", "table?"}}, Returns: resultTable, In: envAll, Needs: "intents", Pauses: true,
		Doc: "Search with an RE2 pattern in a file or folder. Gives matches {path, line_number, line} and count.",
	},
	{
		Name: "jcode.glob", Args: []Arg{{"pattern", "string"}, {"dir", "string?"}, {"more", "table?"}}, Returns: resultTable, In: envAll, Needs: "intents", Pauses: true,
		Doc: "Find files by pattern. Gives files and count.",
	},
	{
		Name: "jcode.mkdir", Args: []Arg{{"path", "string"}, {"more", "table?"}}, Returns: resultTable, In: envNoEval, Needs: "intents", Pauses: true,
		Doc: "Make a folder with its parents.",
	},
	{
		Name: "jcode.remove", Args: []Arg{{"path", "string"}, {"more", "table?"}}, Returns: resultTable, In: envNoEval, Needs: "intents", Pauses: true,
		Doc: "Remove a file or a tree.",
	},
	{
		Name: "jcode.mv", Args: []Arg{{"src", "string"}, {"dst", "string"}, {"more", "table?"}}, Returns: resultTable, In: envNoEval, Needs: "intents", Pauses: true,
		Doc: "Move a file or folder, making the target's folders.",
	},
	{
		Name: "jcode.exec", Args: []Arg{{"cmd", "string|table"}, {"more", "table?"}}, Returns: resultTable, In: envNoEval, Needs: "exec", Pauses: true,
		Doc: "Run a command: a shell line, or a table of words without any shell. Gives stdout, stderr and code. more: timeout_ms, dir.",
	},
	{
		Name: "jcode.tool_schemas", Returns: "{name: string, description: string, args: table}[]", In: envAll, Quiet: true,
		Doc: "List all intents with their arguments as {name, type, required, description}.",
	},
	{
		Name: "jcode.intent_defs", Returns: "{name: string, description: string, parameters: table}[]", In: envAll, Quiet: true,
		Doc: "List all intents with their JSON Schemas as tables.",
	},
	{
		Name: "jcode.tool_descriptions", Returns: "string", In: envAll, Quiet: true,
		Doc: "One text that describes all intents, a line each.",
	},
	{
		Name: "jcode.register_intent", Args: []Arg{{"def", "table"}}, Returns: resultTable, In: envScripts,
		Doc: "Add an intent of this script: name, description, and handler or component (+ operation); params, timeout_ms, read_only, approval. What a handler returns is the data; {success = false, error = …} or nil and a message is a failure. A plugin registers in init().",
	},
	{
		Name: "jcode.on", Args: []Arg{{"event", "string"}, {"fn", "function"}}, Returns: resultTable, In: envScripts,
		Doc: "Listen to an event: session_start, prompt, tool_call, tool_result, mcp_state, turn_end.",
	},
	{
		Name: "jcode.command", Args: []Arg{{"name", "string"}, {"def", "table"}}, Returns: resultTable, In: envScripts,
		Doc: "Add a slash command: description, args (a hint), run = function(text).",
	},
	{
		Name: "jcode.request", Args: []Arg{{"fqn", "string"}, {"operation", "string"}, {"payload", "any?"}, {"opts", "table?"}}, Returns: "{success: boolean, data: any, error: string?}", In: envScripts, Pauses: true,
		Doc: "Call another component's on_request. opts: timeout_ms (30000).",
	},
	{
		Name: "jcode.mcp_servers", Returns: resultTable, In: envAll, Quiet: true,
		Doc: "List connected MCP servers, sorted: servers = {{name}}.",
	},
	{
		Name: "jcode.mcp_tools", Args: []Arg{{"server", "string?"}}, Returns: resultTable, In: envAll, Quiet: true,
		Doc: "List MCP tools: tools = {{name, description, server, tool, parameters}}.",
	},
	{
		Name: "jcode.mcp_call", Args: []Arg{{"server", "string"}, {"tool", "string"}, {"args", "table?"}}, Returns: resultTable, In: envNoEval, Needs: "mcp", Pauses: true,
		Doc: "Call a tool of an MCP server. Gives content, and data where the server sends structured content.",
	},
	{
		Name: "jcode.progress", Args: []Arg{{"text", "string"}}, In: EnvPlugin | EnvTool, Local: true,
		Doc: "Show a line while the call runs; at most ten per second are shown.",
	},
	{
		Name: "jcode.log", Args: []Arg{{"level", "string"}, {"msg", "string"}}, In: envAll, Local: true, Quiet: true,
		Doc: "Write to the log: debug, info, warn or error. See /lua log.",
	},
	{Name: "jcode.time", Returns: "number", In: envAll, Local: true, Quiet: true, Doc: "Seconds since the epoch, with a fraction."},
	{
		Name: "jcode.date", Args: []Arg{{"fmt", "string?"}, {"t", "number?"}}, Returns: "string", In: envAll, Local: true, Quiet: true,
		Doc: "Format a time with the directives of os.date; `!` first means UTC. Default: %Y-%m-%d %H:%M:%S.",
	},
	{
		Name: "jcode.env", Args: []Arg{{"name", "string"}}, Returns: "string?, string?", In: envNoEval, Needs: "env",
		Doc: "Value of an environment variable, or nil if it is not set. Keys and other secrets are never given: then nil and a message.",
	},

	{
		Name: "tools.mcp_add", Args: []Arg{{"name", "string"}, {"target", "string|table"}}, Returns: "boolean, string?", In: envNoEval, Needs: "mcp_admin",
		Doc: "Want an MCP server: a URL, or {command, args, env, cwd}, or {url, headers}. Returns at once; connects in the background.",
	},
	{
		Name: "tools.mcp_remove", Args: []Arg{{"name", "string"}}, Returns: "boolean", In: envNoEval, Needs: "mcp_admin",
		Doc: "Disconnect a server; true if it was there.",
	},
	{
		Name: "tools.mcp_restart", Args: []Arg{{"name", "string"}}, Returns: "boolean", In: envNoEval, Needs: "mcp_admin",
		Doc: "Try a server again from the start; false if unknown.",
	},
	{
		Name: "tools.mcp_status", Args: []Arg{{"name", "string"}}, Returns: "{name: string, state: string, tools: integer, error: string?, attempt: integer?}?", In: envNoEval,
		Doc: "State of one server, nil if unknown.",
	},
	{Name: "tools.mcp_list", Returns: "table[]", In: envNoEval, Doc: "State of all servers, sorted by name."},

	{Name: "state.get", Args: []Arg{{"key", "string"}}, Returns: "any", In: envNoEval, Quiet: true, Doc: "Stored value of this script, or nil."},
	{
		Name: "state.set", Args: []Arg{{"key", "string"}, {"value", "any?"}}, In: envNoEval, Quiet: true,
		Doc: "Store a string, number, boolean or table durably; nil deletes.",
	},
	{
		Name: "state.update", Args: []Arg{{"key", "string"}, {"fn", "function"}}, Returns: "any", In: envNoEval, Quiet: true,
		Doc: "Replace a stored value by fn(value) in one step, whatever else writes it meanwhile: fn may run again, with the newer value. nil deletes. Gives the new value.",
	},
	{Name: "state.keys", Returns: "string[]", In: envNoEval, Quiet: true, Doc: "Sorted keys that are stored."},

	{
		Name: "http.get", Args: []Arg{{"url", "string"}, {"opts", "table?"}}, Returns: resultTable, In: envNoEval, Needs: "network",
		Doc: "Fetch a URL of a declared host. Gives status, headers, body. opts: headers, timeout (seconds).",
	},
	{
		Name: "http.request", Args: []Arg{{"method", "string"}, {"url", "string"}, {"opts", "table?"}}, Returns: resultTable, In: envNoEval, Needs: "network",
		Doc: "Any HTTP method that the manifest lists. opts: headers, body, timeout (seconds).",
	},

	{Name: "fs.read", Args: []Arg{{"path", "string"}}, Returns: resultTable, In: envNoEval, Needs: "fs", Pauses: true, Doc: "Read a file that permissions.fs.read covers."},
	{Name: "fs.write", Args: []Arg{{"path", "string"}, {"text", "string"}}, Returns: resultTable, In: envNoEval, Needs: "fs", Pauses: true, Doc: "Write a file that permissions.fs.write covers."},
	{Name: "fs.list", Args: []Arg{{"dir", "string"}}, Returns: resultTable, In: envNoEval, Needs: "fs", Pauses: true, Doc: "List a folder: entries = {{name, dir, size}}."},
	{Name: "fs.stat", Args: []Arg{{"path", "string"}}, Returns: resultTable, In: envNoEval, Needs: "fs", Pauses: true, Doc: "size, dir and mtime of a file."},

	{Name: "json.encode", Args: []Arg{{"value", "any"}}, Returns: "string?, string?", In: envAll, Local: true, Quiet: true, Doc: "JSON text, or nil and a message."},
	{
		Name: "json.decode", Args: []Arg{{"text", "string"}, {"opts", "table?"}}, Returns: "any, string?", In: envAll, Local: true, Quiet: true,
		Doc: "Value, or nil and a message. null in an array is json.null. A member that is null is left out, or json.null with {null = true}, so that the text can be encoded again as it was.",
	},
	{Name: "json.array", Args: []Arg{{"t", "table?"}}, Returns: "table", In: envAll, Local: true, Quiet: true, Doc: "Mark a table as an array, so that it encodes as [] when empty."},

	{
		Name: "regex.find", Args: []Arg{{"s", "string"}, {"re", "string"}, {"init", "integer?"}}, Returns: "integer?, integer|string|nil, ...", In: envAll, Local: true, Quiet: true,
		Doc: "Like string.find with an RE2 pattern; a bad pattern returns nil and a message.",
	},
	{
		Name: "regex.match", Args: []Arg{{"s", "string"}, {"re", "string"}}, Returns: "string?, ...", In: envAll, Local: true, Quiet: true,
		Doc: "Like string.match with an RE2 pattern.",
	},
	{
		Name: "regex.gsub", Args: []Arg{{"s", "string"}, {"re", "string"}, {"repl", "string|table|function"}, {"n", "integer?"}}, Returns: "string?, integer|string", In: envAll, Local: true, Quiet: true,
		Doc: "Like string.gsub with an RE2 pattern; %1 is the first group in a replacement text.",
	},

	{Name: "print", Args: []Arg{{"...", "any"}}, In: envAll, Local: true, Quiet: true, Doc: "Write a line to the log; never into a result."},
	{Name: "require", Args: []Arg{{"name", "string"}}, Returns: "any", In: EnvPlugin, Local: true, Doc: "Load another file of a folder plugin."},
}
