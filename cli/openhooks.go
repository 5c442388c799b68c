package cli

import (
	"jcode/cli/config"
	hookscli "jcode/cli/hooks"
	"jcode/internal/paths"
	"jcode/tools"
)

// openHooks finds the hooks. Nothing runs yet.
func (a *app) openHooks() {
	h := hookscli.New(hookscli.Options{
		Board: &a.board, Plugins: a.bundles.Hooks, PluginRights: a.bundles.Plugin, LookAtPlugins: newPluginLife(a).Look,
		Shell: a.shell, Follower: a.follower, Cwd: a.cwd, Root: a.root, Originals: a.originals, Home: a.paths.Home, Config: paths.Real(a.paths.Config),
		Secret: func() []string { return []string{paths.Real(a.paths.Credentials())} }, Once: a.flags.Print,
		Start:      func() tools.Mode { return a.mode },
		Configured: func() (own, project config.Hooks) { return a.config.Hooks, a.theirHooks },
		Managed:    managedHooks(a.std.managed), TheirPins: func() map[string]string { return a.theirPins },
		Trusted: a.trusted, Trust: a.everywhere(), Confinement: a.confinement, Variables: &a.hookVariables, Scratch: hookscli.EnvFiles(a.paths.Data), Covers: a.gate.Covers,
	})
	a.userHooks = h
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, h.Calls())
	a.commands.Sources = append(a.commands.Sources, h)
	a.onClose(h.Close)
}

// managedHooks returns the hooks of this machine's administrator.
func managedHooks(m *config.Managed) []config.ManagedHooks {
	if m == nil {
		return nil
	}
	return m.Hooks
}
