package tools

import (
	"fmt"
	"slices"
	"strings"
)

// Capabilities is a set of rights that a role grants and a tool needs.
type Capabilities uint16

// The single capabilities. Spawn and LLM are reserved.
const (
	CapRead Capabilities = 1 << iota
	CapWrite
	CapDelete
	CapExecute
	CapHTTP
	CapMCP
	CapLua
	CapSpawn
	CapLLM

	// CapAll holds every capability.
	CapAll Capabilities = 1<<iota - 1
	// CapFileAll is the set of reading, writing and deleting files.
	CapFileAll = CapRead | CapWrite | CapDelete
)

var capabilityNames = [...]string{"READ", "WRITE", "DELETE", "EXECUTE", "HTTP", "MCP", "LUA", "SPAWN", "LLM"}

// ParseCapabilities parses names, ignoring case. `exec` means EXECUTE; `ALL` and `FILE_ALL` are
// sets. The error for unknown names lists them all.
func ParseCapabilities(names []string) (Capabilities, error) {
	var set Capabilities
	var unknown []string
	for _, n := range names {
		switch up := strings.ToUpper(strings.TrimSpace(n)); up {
		case "ALL":
			set |= CapAll
		case "FILE_ALL":
			set |= CapFileAll
		case "EXEC":
			set |= CapExecute
		default:
			if i := slices.Index(capabilityNames[:], up); i >= 0 {
				set |= 1 << i
			} else {
				unknown = append(unknown, n)
			}
		}
	}
	if unknown != nil {
		return set, fmt.Errorf("unknown capabilities: %s (known: %s, ALL, FILE_ALL)",
			strings.Join(unknown, ", "), strings.Join(capabilityNames[:], ", "))
	}
	return set, nil
}

// Names lists the set's members in declaration order.
func (c Capabilities) Names() []string {
	var out []string
	for i, name := range capabilityNames {
		if c&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// String joins the names by commas.
func (c Capabilities) String() string { return strings.Join(c.Names(), ",") }
