package cli

import (
	"context"

	"jcode/cli/config"
	"jcode/cli/memory"
	updatecli "jcode/cli/update"
	"jcode/cli/usage"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
)

// newUsageSetup returns what `jcode usage` is given.
func newUsageSetup(f *flags, std Streams) usage.Setup {
	return usage.Setup{Streams: std.Streams, Open: func(ctx context.Context) (*session.Store, func(), error) {
		a, err := openKept(ctx, f, std)
		if err != nil {
			return nil, nil, err
		}
		return a.store, a.close, nil
	}}
}

// usage is /usage.
func (p personCommands) usage(ctx context.Context, args string) (command.Outcome, error) {
	return usage.Page(ctx, p.store, args)
}

// newNotesSetup returns what the commands of `jcode memory` are given.
func newNotesSetup(f *flags, std Streams) memory.Setup {
	return memory.Setup{Streams: std.Streams, Open: func(ctx context.Context) (memory.Actions, func(), error) {
		a, err := openKept(ctx, f, std)
		if err != nil {
			return memory.Actions{}, nil, err
		}
		return notesActions(a), a.close, nil
	}}
}

// newUpdateSetup returns what `jcode update` is given.
func newUpdateSetup(f *flags, std Streams) updatecli.Setup {
	return updatecli.Setup{Streams: std.Streams, Release: version, Agent: "jcode/" + Version(), Address: func(ctx context.Context) (string, error) {
		a, err := openConfigured(ctx, f, std)
		if err != nil {
			return "", err
		}
		defer a.close()
		return a.config.Update.URL, nil
	}}
}

// newConfigSetup returns what the commands of `jcode config` are given.
func newConfigSetup(f *flags, std Streams) config.Setup {
	return config.Setup{
		Streams: std.Streams, Managed: std.managed,
		Find: func(ctx context.Context) (config.Paths, string, error) {
			a := &app{flags: f, std: std}
			err := a.findPlaces(ctx)
			return a.paths, a.root, err
		},
		Load: func(ctx context.Context) (*config.Loaded, error) {
			a, err := openKept(ctx, f, std)
			if err != nil {
				return nil, err
			}
			defer a.close()
			return config.Load(config.Options{Paths: a.paths, Project: a.root, Managed: std.managed, Trusted: func(key, hash string) bool {
				return a.trusted(ctx, tools.TrustConfig, key, hash)
			}}), nil
		},
	}
}
