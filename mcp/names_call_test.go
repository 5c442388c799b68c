package mcp

import (
	"strings"
	"testing"

	"jcode/mcp/config"
)

// A name that includes its server never reaches another server: it matches exactly, or the error
// lists the names that exist.
func TestNamesReachTheirOwnServerOrNone(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{
		"x":    with("x", "named", map[string]any{"args": []string{"named", "y__z,_y_z,plain"}}),
		"x__y": with("x__y", "named", map[string]any{"args": []string{"named", "z"}}),
	}, nil)
	r.m.Start()
	r.waitState("x", StateConnected)
	other := config.KeyFor("x__y")
	r.waitState(other, StateConnected)
	for name, want := range map[string]string{
		"mcp:x:y__z":                "y__z",
		"mcp:x:_y_z":                "_y_z",
		"mcp:X:Plain":               "plain",
		"mcp:" + other + ":z":       "z",
		"mcp__x__y__z":              "y__z",
		config.WireName(other, "z"): "z",
		"mcp:x__y:z":                "",
		"mcp:x_y:z":                 "",
		"mcp:x:y:z":                 "",
		"mcp:x__y__z":               "",
		"mcp: x :y__z":              "y__z",
	} {
		res := r.call(name, `{}`)
		if want == "" {
			candidate := !strings.HasSuffix(name, "y:z") || strings.HasSuffix(name, "x:y:z") || strings.Contains(res.Text, "mcp:"+other+":z")
			if !res.Failed || strings.Contains(res.Text, " ran") || !candidate {
				t.Errorf("%s: %+v", name, res)
			}
			continue
		}
		if res.Failed || !strings.HasPrefix(res.Text, want+" ") {
			t.Errorf("%s: %+v", name, res)
		}
	}
	for _, name := range []string{"mcp:x__y:z", "x__y:z"} {
		if _, err := find(r.m.offer.standIns.available(nil), name); err == nil || !strings.Contains(err.Error(), "mcp:"+other+":z") {
			t.Errorf("mcp_call of %s: %v", name, err)
		}
	}
}
