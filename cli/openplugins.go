package cli

// Plugins, and hooks, which plugins bring as well.

import (
	"context"
	"path/filepath"

	"jcode/agent/event"
	"jcode/cli/config"
	hookscli "jcode/cli/hooks"
	pluginscli "jcode/cli/plugins"
	"jcode/internal/launch"
	"jcode/internal/paths"
	"jcode/plugins"
	"jcode/tools"
)

// pluginsHome returns where plugins are kept.
func pluginsHome(a *app) pluginscli.Home {
	return pluginscli.Home{
		Store: plugins.Store{Dir: filepath.Join(a.paths.Data, "plugins"), Git: launch.Git{Programs: a.programs()}},
		Logs:  filepath.Join(a.paths.Data, "logs", "mcp"), Servers: a.serverPaths, Permit: a.std.managed.Plugin,
	}
}

// openPlugins reads the plugins.
func (a *app) openPlugins(context.Context) error {
	a.bundles.Open(pluginsHome(a), func(format string, args ...any) { a.board.Say(event.LevelWarn, format, args...) })
	return nil
}

// newPluginLife returns what keeps the plugins in force up to date.
func newPluginLife(a *app) pluginscli.Life {
	return pluginscli.Life{Bundles: &a.bundles, Refresh: func() { a.list.Refresh() }, Say: a.board.Say, OnClose: a.onClose}
}

// newPluginSetup returns what the commands of `jcode plugins` are given.
func newPluginSetup(std Streams) pluginscli.Setup {
	return pluginscli.Setup{Streams: std.Streams, Home: func(ctx context.Context) (pluginscli.Home, error) {
		a := &app{flags: &flags{}, std: std}
		if err := a.findPlaces(ctx); err != nil {
			return pluginscli.Home{}, err
		}
		return pluginsHome(a), nil
	}}
}

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
