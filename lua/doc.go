// Package lua owns Lua on jcode's side: tool folders and their manifests, plugins, the
// startup script, hot reload, the pool of host processes, and the answer to everything
// that a script asks for. A script runs in a host process (package lua/host) that holds
// no right of its own; this side alone knows who it serves and what that may do.
//
// It must not know the Lua engine: it never parses, compiles or runs Lua itself. It must
// not know the database, the MCP manager or the terminal either: what it needs of them
// it declares as small interfaces.
package lua
