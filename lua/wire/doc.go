// Package wire owns the protocol between jcode and its Lua host processes: frames, messages,
// values as ordered JSON, and the one table of all functions that a script can call. Both sides
// import it, so they cannot disagree.
//
// It must not know the Lua engine, a tool, or how a process is started.
package wire
