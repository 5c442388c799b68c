// Package protocol is what jcode speaks with language servers: one JSON-RPC connection over two streams, and the types of
// the Language Server Protocol that are used, a small part of it with its field names. Positions count lines from 0, and
// characters in UTF-16 units unless the server agreed on UTF-8.
//
// It knows no server and starts nothing. Read conn.go first.
package protocol
