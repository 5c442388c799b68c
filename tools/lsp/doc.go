// Package lsp owns language servers: which one a file has, their processes and connections,
// what they report after a change, and the tools that ask them by a symbol's name.
//
// A change goes this way: Manager.Changing opens the file as it was, Manager.Changed sends what
// it became, waits a bounded time for the answer to exactly that version, and words what is new
// in it. Start with manager.go.
//
// It must not know the database, the terminal or the agent's loop; who may start a server and
// how files are written is passed in.
package lsp
