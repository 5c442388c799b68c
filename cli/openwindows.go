package cli

import (
	"jcode/cli/config"
	"jcode/cli/mentions"
	windowscli "jcode/cli/windows"
	"jcode/internal/slicex"
	"jcode/remote"
)

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
