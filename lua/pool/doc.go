// Package pool owns the processes in which Lua runs: it starts hosts, keeps a warm one, gives
// each call a place, carries out one piece of work after another on a host, and ends what
// breaks a limit or the protocol.
//
// The way of a tool call: Pool.Enter waits for a place, Pool.Take returns a host, Conn.Do sends
// the work and hands what the script asks for to the work's Owner until the result comes,
// Pool.Put takes the host back or ends it. A script that lives longer, a plugin, owns a host of
// its own from StartProcess.
//
// The package knows neither tools nor plugins, nor who may do what: the Owner decides. Read
// work.go first, then conn.go.
package pool
