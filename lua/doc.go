// Package lua owns Lua on jcode's side: tool folders, plugins, the startup script, hot reload, and the answer
// to every call of a script. A script runs in a host process (package lua/host) without any rights of its
// own; only this side knows whom a host serves and what that script may do.
//
// Room.Refresh compares folders with the disk (loader.go) and registers what changed; a call of a tool takes
// a host from lua/pool (tool.go); each call of the script arrives at its principal (principal.go), which
// checks the declared permissions and dispatches to jcode's tools like any other caller. Plugins and the
// startup script own a host for as long as they live (script.go).
//
// It must not know the Lua engine: it never parses, compiles or runs Lua itself. It must not know the
// database, the MCP manager or the terminal either: what it needs from them it declares as small interfaces.
// Read room.go first, then loader.go and tool.go.
package lua
