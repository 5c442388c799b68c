// Package lsp owns language servers: which one a file has, their processes and connections, what
// they report after a change, and the tools that query them by a symbol's name.
//
// How a change is handled: Manager.Changing opens the file as it was. The function that it returns
// sends the new content, waits a limited time for the answer to exactly that version, and returns
// what is new in it. Start with manager.go.
//
// It must not know the database, the terminal or the agent's loop; its options decide who may
// start a server and how files are written.
package lsp
