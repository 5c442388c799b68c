package cli

// Sessions: those stored, those open in other processes, those of other agents.

import (
	"context"
	"fmt"

	backgroundcli "jcode/cli/background"
	"jcode/cli/live"
	sessionscli "jcode/cli/sessions"
	"jcode/cli/switching"
	"jcode/remote"
	"jcode/session"
	"jcode/tui/front"
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

// newLive finds the sessions that are open in other processes.
func newLive(std Streams) (live.Sessions, error) {
	found, err := findPaths(std)
	if err != nil {
		return live.Sessions{}, err
	}
	return live.In(found.Data, std.Getenv), nil
}

// newBackgroundSetup returns what is given to what shows sessions in the background.
func newBackgroundSetup(f *flags, std Streams) backgroundcli.Setup {
	return backgroundcli.Setup{
		Streams: std.Streams, Live: func() (live.Sessions, error) { return newLive(std) },
		Find: func(ctx context.Context, name string) (session.Session, error) {
			a, err := openKept(ctx, f, std)
			if err != nil {
				return session.Session{}, err
			}
			defer a.close()
			return a.store.Find(ctx, a.project, name)
		},
	}
}

// chatHere is what the terminal in the background needs to know of a chat.
func chatHere(a *app) backgroundcli.Chat {
	return backgroundcli.Chat{Open: a.board.Open, Jobs: a.shell.Jobs}
}

// newLiveSessions returns the sessions in the background that the terminal of a chat names and shows; nil for none.
func newLiveSessions(a *app, leave context.CancelCauseFunc) front.Live {
	l, err := newLive(a.std)
	if err != nil || a.models.Plays() || a.flags.Plain { // nothing of a tour is kept
		return nil
	}
	return backgroundcli.Beside(a.std.held, chatHere(a), l, a.cwd, leave)
}

// inBackground runs an ordinary command line on the terminal that this process inherited.
func inBackground(args []string, std Streams) int {
	found, err := findPaths(std)
	if err != nil {
		return report(err, std.Err)
	}
	if std.held, err = backgroundcli.NewTerminal(remote.In(found.Data), Version()); err != nil {
		return report(err, std.Err)
	}
	code := begin(args, std)
	std.held.Close(code)
	return code
}
