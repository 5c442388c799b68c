package cli

// Sessions from outside: what other windows, devices and pages of the user see and do.

import (
	"context"

	"jcode/cli/config"
	"jcode/cli/mentions"
	servecli "jcode/cli/serve"
	taskscli "jcode/cli/tasks"
	windowscli "jcode/cli/windows"
	"jcode/internal/slicex"
	"jcode/remote"
)

// pagesOf returns what pages of an app are made of.
func pagesOf(a *app) servecli.Pages {
	return servecli.Pages{Place: remote.In(a.paths.Data), Store: a.store, Term: a.std.Getenv("TERM")}
}

// newRemotePage returns /remote, which ends with the app.
func newRemotePage(a *app) *servecli.RemotePage {
	r := servecli.NewRemotePage(pagesOf(a))
	a.onClose(r.Close)
	return r
}

// newServeSetup returns what the commands of `jcode serve` are given.
func newServeSetup(f *flags, std Streams) servecli.Setup {
	return servecli.Setup{
		Streams: std.Streams,
		Place: func() (remote.Place, error) {
			found, err := findPaths(std)
			return remote.In(found.Data), err
		},
		Open: func(ctx context.Context) (servecli.Opened, error) {
			a, err := openKept(ctx, f, std)
			if err != nil {
				return servecli.Opened{}, err
			}
			return servecli.Opened{Pages: pagesOf(a), Editor: newRemoteEditors(a).Serve, Queue: taskscli.Served{Paths: a.paths}, Close: a.close}, nil
		},
	}
}

// newWindows returns what lets other programs of the user follow the open conversation.
func newWindows(a *app) *windowscli.Windows {
	var behind *remote.Server
	if a.std.held != nil {
		behind = a.std.held.Server()
	}
	w := windowscli.New(windowscli.Options{
		Place: remote.In(a.paths.Data), Jcode: Version(), History: a.store.History(), Say: a.board.Say, Server: behind,
		Own: ownWindow(a), WatchOnly: a.flags.once(), Lasting: a.config.RemoteAnswers == "all", Actions: newWindowActions(a),
	})
	a.onClose(w.Close)
	return w
}

// ownWindow says where the session of an app is shown.
func ownWindow(a *app) remote.Where {
	switch {
	case a.inEditor:
		return remote.InEditor
	case a.flags.once() || a.flags.Print:
		return remote.InRun
	}
	return remote.InTerminal
}

func newWindowActions(a *app) windowscli.Actions {
	return windowscli.Actions{
		Undoing: newUndoing(a), Roles: newRoleActions(a).Rows, Files: mentions.Finder{Dir: a.cwd, Denied: readDenied(a.gate)}.Find,
		Models: func() []string { return slicex.Map(a.config.Models, func(m config.Model) string { return m.ID }) },
	}
}
