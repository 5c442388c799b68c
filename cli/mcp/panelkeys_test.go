package mcpcli

import (
	"slices"
	"testing"

	"jcode/mcp"
	"jcode/tools/command"
)

// The footer of a panel names only keys that do something for the row under the cursor.
func TestFootersOfServersNameOnlyKeysThatDoSomething(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		row      command.Row
		has, not []string
	}{
		"a server that is there":  {serverRow(mcp.Details{Status: mcp.Status{State: mcp.StateConnected}}), []string{"disconnect", "connect or restart"}, []string{"approve"}},
		"a server that is gone":   {serverRow(mcp.Details{Status: mcp.Status{State: mcp.StateDisconnected}}), []string{"connect or restart"}, []string{"disconnect", "approve"}},
		"a server that was wrong": {serverRow(mcp.Details{Status: mcp.Status{State: mcp.StateFailed}}), []string{"enable or disable"}, []string{"disconnect"}},
	} {
		for _, key := range tc.has {
			if !slices.Contains(tc.row.Keys, key) {
				t.Errorf("%s: no key for %q: %q", name, key, tc.row.Keys)
			}
		}
		for _, key := range tc.not {
			if tc.row.Keys == nil || slices.Contains(tc.row.Keys, key) {
				t.Errorf("%s: a key for %q: %q", name, key, tc.row.Keys)
			}
		}
	}
}
