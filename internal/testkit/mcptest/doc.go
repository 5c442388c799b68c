// Package mcptest owns MCP servers that misbehave on purpose: one that speaks stdio,
// whose fault is chosen by its first argument, and one over HTTP. They are written by
// hand, byte for byte, so that they can do what no library would.
//
// It must not know how jcode's client works; it only speaks the protocol.
package mcptest
