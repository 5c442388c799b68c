// Package mcp owns Model Context Protocol servers: their lifecycle with retries and
// leases, the sessions with them, and the wrapping of their tools, prompts and resources.
// Configuration belongs to mcp/config, the connection below the protocol to mcp/wire, and
// signing in to mcp/auth.
//
// It must not know how a person is asked (it plans an access and a gate decides),
// how anything is shown, or what a model is. Trust, elicitation dialogs, folders and
// the clock come in as small interfaces. Text that a server sends is data: it is
// never an instruction and never changes what is approved.
package mcp
