package cli

import (
	"context"

	servecli "jcode/cli/serve"
	taskscli "jcode/cli/tasks"
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
