package mcpcli

import (
	"testing"

	"jcode/internal/testkit/footers"
	"jcode/mcp"
)

// The footer of a panel names only keys that do something for the row under the cursor.
func TestFootersOfServersNameOnlyKeysThatDoSomething(t *testing.T) {
	t.Parallel()
	footers.Check(t, map[string]footers.Row{
		"a server that is there":  {Keys: serverRow(mcp.Details{Status: mcp.Status{State: mcp.StateConnected}}).Keys, Has: []string{"disconnect", "connect or restart"}, Not: []string{"approve"}},
		"a server that is gone":   {Keys: serverRow(mcp.Details{Status: mcp.Status{State: mcp.StateDisconnected}}).Keys, Has: []string{"connect or restart"}, Not: []string{"disconnect", "approve"}},
		"a server that was wrong": {Keys: serverRow(mcp.Details{Status: mcp.Status{State: mcp.StateFailed}}).Keys, Has: []string{"enable or disable"}, Not: []string{"disconnect"}},
	})
}
