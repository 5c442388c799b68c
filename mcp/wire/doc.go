// Package wire turns bytes into one live MCP connection: a server process with its pipes, or an
// HTTP session. It tolerates what servers do wrong below the protocol: output that is not a
// message, answers in odd layouts, streams that end, bodies that are too long.
//
// Host.StartStdio and Host.OpenHTTP return a Link, whose Transport the protocol library
// speaks over. Exchange carries a request's result past the library as the server wrote it;
// Fault and HTTPError say why a connection failed and whether another try can help. Begin
// with link.go.
//
// It must not know what a tool is used for, when a server is started again, or who asks:
// a link ends once and is never reopened.
package wire
