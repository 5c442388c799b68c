package cli

import (
	"context"
	"fmt"

	"jcode/cli/live"
	sessionscli "jcode/cli/sessions"
	"jcode/cli/switching"
)

// openKept finds the folders and opens the store: all that commands over stored data need.
func openKept(ctx context.Context, f *flags, std Streams) (*app, error) {
	a := &app{flags: f, std: std}
	openStore := func(ctx context.Context) error { return openStoreToRead(ctx, a) }
	if _, err := a.after(ctx, a.findPlaces, openStore, a.openTrust, a.openPlugins); err != nil {
		return nil, err
	}
	for _, n := range a.store.Notices() {
		fmt.Fprintln(std.Err, "jcode: "+n.Text)
	}
	return a, nil
}

// newSessionSetup returns what the commands of `jcode sessions` are given.
func newSessionSetup(f *flags, std Streams) sessionscli.Setup {
	return sessionscli.Setup{
		Streams: std.Streams, Live: func() (live.Sessions, error) { return newLive(std) },
		Open: func(ctx context.Context) (sessionscli.Opened, error) {
			a, err := openKept(ctx, f, std)
			if err != nil {
				return sessionscli.Opened{}, err
			}
			return storedOf(a), nil
		},
	}
}

// storedOf returns what is stored, as the folder of an app sees it.
func storedOf(a *app) sessionscli.Opened {
	return sessionscli.Opened{Store: a.store, Project: a.project, Root: a.root, Saved: outputsOf(a), Importer: newImporter(a), Say: a.board.Say, Close: a.close}
}

// newImporter returns what turns histories of other agents into sessions.
func newImporter(a *app) sessionscli.Importer {
	return sessionscli.Importer{Store: a.store, Home: a.paths.Home, Cwd: a.cwd, Root: a.root, Project: a.project, Std: a.std.Streams}
}

// newSwitchSetup returns what `jcode import` is given.
func newSwitchSetup(f *flags, std Streams) switching.Setup {
	return switching.Setup{Streams: std.Streams, Open: func(ctx context.Context) (switching.Options, func(), error) {
		a, err := openKept(ctx, f, std)
		if err != nil {
			return switching.Options{}, nil, err
		}
		return switchingOptions(a), a.close, nil
	}}
}

func switchingOptions(a *app) switching.Options {
	notes := notesActions(a)
	return switching.Options{
		Home: a.paths.Home, Root: a.root, Env: a.std.Getenv, Paths: a.paths, Servers: a.serverPaths(),
		Memory: notes.Fresh,
		TakeMemory: func(ctx context.Context) error {
			_, err := notes.ImportOthers(ctx)
			return err
		},
	}
}
