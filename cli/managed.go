package cli

import (
	"jcode/cli/config"
	"jcode/tools"
	"jcode/tools/permission"
)

// fixedRules returns the rules of this machine's administrator.
func fixedRules(m *config.Managed) []permission.Rule {
	var out []permission.Rule
	for _, l := range m.Denied() {
		out = append(out, meaning("deny", l.Text)...)
	}
	return out
}

// managedHooks returns the hooks of this machine's administrator.
func managedHooks(m *config.Managed) []config.ManagedHooks {
	if m == nil {
		return nil
	}
	return m.Hooks
}

// maxMode returns the highest mode that this machine's administrator allows, "" for any.
func maxMode(m *config.Managed) tools.Mode {
	mode, _ := m.Highest()
	return mode
}
