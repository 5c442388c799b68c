// Package remote owns the session protocol: JSON-RPC 2.0, one object a line, on a Unix socket of each process that
// owns sessions. Other programs of the same user list its sessions, follow their events by number, and, where
// they may, send prompts and answer questions. It must not know terminals, tools or the database.
//
// The way of one event: the conversation's broker numbers it; the session's hub keeps its line in a ring; each
// connection sends what follows its own place. A slow reader holds up nothing: the ring turns over, and the reader is
// told to begin again. Start with server.go.
package remote
