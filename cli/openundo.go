package cli

import (
	"path/filepath"

	"jcode/cli/config"
	"jcode/cli/undo"
	"jcode/internal/paths"
	"jcode/tools"
)

// newFollower prepares what follows commands; nil where they are not followed: in an agent's worktree, which is merged
// or discarded as a whole, and where the settings say so.
func newFollower(a *app) *undo.Follower {
	if a.ofAgent || config.IsOff(a.config.Undo.Commands) {
		return nil
	}
	return undo.New(undo.Options{
		Store: a.store, Contents: a.contents, Dir: filepath.Join(a.paths.Data, "snapshots", "trees"), Home: a.paths.Home, LeaveOut: a.config.Undo.LeaveOut,
		Secrets: config.IsOn(a.config.Undo.Secrets), Say: a.board.Say, Roots: a.workRoots, Current: a.board.Session, Private: a.privateNow,
		Denied: func(dir string) func(string) bool { return unseen(a, dir) },
	})
}

// unseen returns what tells which names of a folder are not looked at: what must not be read, and jcode's own.
func unseen(a *app, dir string) func(name string) bool {
	if paths.Within(a.paths.Data, dir) && !paths.Within(a.root, dir) { // a worktree lies in the data folder
		return func(string) bool { return true }
	}
	denied := a.gate.DeniedIn(tools.AccessRead, dir)
	if own := filepath.Base(a.paths.Data); filepath.Dir(a.paths.Data) == dir {
		return func(name string) bool { return name == own || denied != nil && denied(name) }
	}
	return denied
}

// recorderOf returns what records the changes of the file tools.
func recorderOf(a *app) undo.Recorder {
	return undo.Recorder{Store: a.store, Seen: a.seen, Worktree: a.ofAgent}
}

// newUndoing returns what takes back what a session's turns did.
func newUndoing(a *app) undo.Turns {
	return undo.Turns{Store: a.store, Board: &a.board, Seen: a.seen, Shown: a.workspace.Shown, Unsaved: a.changes.Unsaved}
}
