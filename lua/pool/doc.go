// Package pool owns the processes in which Lua runs, the hosts: it starts them, keeps a spare one, limits how
// many run at once, lets a host carry out one piece of work after another, and ends a host that breaks a
// limit or the protocol.
//
// For a tool call, Pool.Enter waits for a free place, Pool.Take returns a host, Conn.Do sends the work and
// passes the script's calls to the work's Owner until the result arrives, and Pool.Put returns the host to
// the pool or ends it. A script that lives longer, a plugin, owns a host from StartProcess.
//
// The package must not know tools or plugins, nor who may do what: the Owner decides. Read work.go first,
// then conn.go.
package pool
