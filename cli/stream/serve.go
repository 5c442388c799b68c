package stream

import "encoding/json"

// Serve (serve) says that the program serves an MCP server over the same line. Served answers it once its tools are
// there.
type Serve struct {
	Name string `json:"name"`
	// Trusted says that the readOnlyHint of its tools is believed.
	Trusted bool `json:"trusted,omitempty"`
	// TimeoutSeconds is how long a call may show no progress; without it the usual time of MCP servers.
	TimeoutSeconds float64 `json:"timeout_seconds,omitempty"`
}

// Served answers serve: the tools as rules name them, and what is wrong with some.
type Served struct {
	Tools  []string `json:"tools"`
	Faults []Fault  `json:"faults,omitempty"`
}

// Fault is what is wrong with a tool: it is left out, or repaired.
type Fault struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Message (mcp) is a message of MCP, to a server that the program serves or from it.
type Message struct {
	Type    string          `json:"type,omitempty"`
	Server  string          `json:"server"`
	Message json.RawMessage `json:"message"`
}

// Carry returns the line that carries a message to a server.
func Carry(server string, message []byte) Message { return Message{"mcp", server, message} }
