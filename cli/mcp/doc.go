// Package mcpcli is what a user sees of MCP servers: what they add to conversations (Extension), the commands of
// `jcode mcp` (Cmd), the panel and the words of /mcp, the questions of servers and the sign-in to them, and what the
// doctor says of them (Check). The servers themselves are package mcp; this one knows no other feature. Begin with
// extension.go.
package mcpcli
