package cli

import (
	"context"
	"slices"

	"jcode/cli/config"
	luacli "jcode/cli/lua"
	webcli "jcode/cli/web"
	"jcode/lua"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui"
)

// openLua creates the scripting. Nothing runs and no file is read yet.
func (a *app) openLua() error {
	scripts, err := luacli.New(luacli.Options{
		Room: lua.Options{
			Registry: a.registry, Dispatcher: a.dispatcher, Root: a.root, Start: a.cwd, ProjectID: a.project, Config: a.paths.Config, Plugins: a.bundles.Scripts,
			State:     &luacli.State{Stored: a.store.LuaState(), Private: a.privateNow},
			SecretEnv: a.isKeyVariable, CommandTaken: a.isCommand,
			Denied: func(address string) string { return a.gate.DeniedAddress(address) },
			Eval:   config.IsOn(a.config.Lua.Eval),
		},
		Board: &a.board, Trust: a.trust, Everywhere: a.everywhere(), Servers: a.servers,
		Plugin: func(name string) tools.TrustItem {
			rights, _ := a.bundles.Plugin(name)
			return rights.Item
		},
		Once: a.flags.once(), Mode: func() tools.Mode { return a.mode }, Asker: func() tools.Asker { return a.asker },
		Started: a.started, Settled: a.settled,
	})
	if err != nil {
		return err
	}
	a.lua = scripts
	a.onClose(scripts.Close)
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, scripts.Room().Hook())
	a.commands.Sources = append(a.commands.Sources, scripts.Room())
	return nil
}

// newLuaSetup returns what the commands of `jcode lua` are given.
func newLuaSetup(f *flags, std Streams) luacli.Setup {
	return luacli.Setup{
		Streams: std.Streams, Off: f.NoLua,
		Places: func(ctx context.Context) (root, config string, err error) {
			a := &app{flags: &flags{}, std: std}
			err = a.findPlaces(ctx)
			return a.root, a.paths.Config, err
		},
		Around: func(ctx context.Context) (lua.Around, func(), error) {
			quiet := *f
			quiet.Print, quiet.NoLua = true, true
			a, err := newApp(ctx, &quiet, std)
			if err != nil {
				return lua.Around{}, func() {}, err
			}
			return lua.Around{Project: a.root, Secret: a.isKeyVariable, Builtin: func(name string) bool {
				_, taken, _ := a.registry.Snapshot(nil).Lookup(name)
				return taken
			}}, a.close, nil
		},
		Open: func(ctx context.Context, asker tools.Asker) (luacli.Opened, error) {
			quiet := *f
			quiet.Print = true
			a, err := newApp(ctx, &quiet, std)
			if err != nil {
				return luacli.Opened{}, err
			}
			if asker != nil {
				a.asker = asker
			}
			out := luacli.Opened{Scripts: a.lua, Close: a.close}
			if !f.NoMCP {
				out.Connect = func(ctx context.Context, names []string) (func(), error) {
					lease, err := a.mcp.Acquire(ctx, names)
					if err != nil {
						return func() {}, err
					}
					return lease.Release, nil
				}
			}
			return out, nil
		},
	}
}

// isCommand reports whether a slash command of that name exists outside Lua.
func (a *app) isCommand(name string) bool {
	if slices.Contains(tui.OwnCommands(), name) || slices.Contains(panelNames(), name) {
		return true
	}
	for _, src := range a.commands.Sources {
		if src == command.Source(a.lua.Room()) {
			continue
		}
		if slices.ContainsFunc(src.List(), func(c command.Command) bool { return c.Name == name }) {
			return true
		}
	}
	return false
}

// isKeyVariable reports whether a variable contains the key of a configured provider or search service.
func (a *app) isKeyVariable(name string) bool {
	if name == webcli.KeyEnv(a.config.WebSearch) {
		return true
	}
	for _, p := range a.models.Settings().Providers {
		if p.KeyEnv == name {
			return true
		}
	}
	return false
}
