package cli

import (
	"context"

	backgroundcli "jcode/cli/background"
	"jcode/cli/live"
	"jcode/remote"
	"jcode/session"
	"jcode/tui/front"
)

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
