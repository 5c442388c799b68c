// Package schema reads the lists of tools that MCP servers send. Each tool is checked alone:
// it is kept as it came, repaired, or left out with a reason, so that one bad tool costs
// nothing but itself.
//
// A page goes through Reader.Page; repair makes a server's input schema fit for every
// provider; ForSDK is the part of a page that the protocol library needs. Begin with
// toollist.go.
//
// It must not know how a server is reached, nor what the tools are used for.
package schema
