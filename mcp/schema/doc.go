// Package schema reads the lists of tools that MCP servers send. Each tool is validated
// separately: it is kept as it came, repaired, or left out with a reason, so that one bad tool
// does not affect the others.
//
// Reader.Page reads a page; repair makes a server's input schema acceptable to every provider;
// ForSDK returns the part of a page that the protocol library needs. Begin with toollist.go.
//
// It must not know how a server is reached, nor what the tools are used for.
package schema
