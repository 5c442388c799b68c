package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"jcode/agent/event"
	"jcode/cli/config"
	"jcode/internal/filelock"
	"jcode/session"
)

// unwritable reports whether a folder of jcode's own can't be created, written or locked: no such user, no home,
// a read-only file system, a network file system without locks.
func unwritable(err error) bool {
	return errors.Is(err, filelock.ErrNone) || errors.Is(err, fs.ErrPermission) || errors.Is(err, session.ErrReadOnly) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOTDIR)
}

// elsewhere says what to do about a data folder that can't be written.
func elsewhere(err error) string {
	if errors.Is(err, filelock.ErrNone) {
		return "; or set JCODE_HOME to a folder on a disk of this machine"
	}
	if unwritable(err) {
		return "; or set JCODE_HOME to a folder that can be written"
	}
	return ""
}

// temporaryPaths replaces folders that can't be used, in a run that prints one answer: its data goes into a
// private folder that is deleted at the end. A container often has no home. In any other run, and if the
// person named the folder, the error is returned.
func (a *app) temporaryPaths(paths config.Paths, fault error) (config.Paths, error) {
	if !a.flags.Print || a.std.Getenv("JCODE_HOME") != "" {
		return paths, fault
	}
	dir, err := os.MkdirTemp("", "jcode-")
	if err != nil {
		return paths, errors.Join(fault, err)
	}
	a.onClose(func() {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(a.std.Err, "jcode:", err)
		}
	})
	paths.Data, paths.Config = dir, cmp.Or(paths.Config, dir)
	a.board.Say(event.LevelWarn, "%v: this run keeps its session in %s, which is deleted at its end; JCODE_HOME names a folder to keep it in", fault, dir)
	return paths, nil
}
