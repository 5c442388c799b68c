package cli

import (
	"context"
	"path/filepath"
	"slices"

	workplacecli "jcode/cli/workplace"
	"jcode/session"
	"jcode/tools"
)

// newWorkFolder returns what a session's model is told of the folder.
func newWorkFolder(a *app) *workplacecli.Folder {
	return &workplacecli.Folder{
		Folder: a.cwd, Top: a.root, Home: a.paths.Home, Plain: a.plain, Git: a.git,
		Denied: func(path string) bool {
			return a.gate.Denied(tools.AccessRead, path) != "" || a.gate.Denied(tools.AccessRead, filepath.Join(path, "x")) != ""
		},
	}
}

// newShownFolder returns what the chat shows of its folder.
func newShownFolder(a *app) workplacecli.Shown {
	resumes := a.flags.Continue || a.flags.Resume != "" || a.config.Prelude.Session == "continue"
	return workplacecli.Shown{
		Git: newOwnGit(a), Dir: a.cwd, Roots: slices.Compact([]string{a.cwd, a.root}), Resumed: resumes,
		Recent: func(ctx context.Context) ([]session.Session, error) {
			return a.store.List(ctx, session.Filter{ProjectID: a.project, Limit: 3})
		},
		Session: a.board.Session,
	}
}
