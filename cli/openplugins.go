package cli

import (
	"context"
	"path/filepath"

	"jcode/agent/event"
	pluginscli "jcode/cli/plugins"
	"jcode/internal/launch"
	"jcode/plugins"
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
