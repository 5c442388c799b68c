package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"jcode/agent/event"
	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/cli/core"
	"jcode/cli/outputs"
	shellcli "jcode/cli/shell"
	"jcode/cli/typed"
	"jcode/cli/undo"
	"jcode/internal/filelock"
	"jcode/session"
)

// openStore opens the database, and tells the person what was wrong with it.
func (a *app) openStore(ctx context.Context) error {
	a.contents = undo.NewContents(a.paths.Data)
	store, err := openData(ctx, a.paths.Data, a.contents)
	if err != nil && unwritable(err) {
		if a.paths, err = a.temporaryPaths(a.paths, err); err == nil {
			a.contents = undo.NewContents(a.paths.Data)
			store, err = openData(ctx, a.paths.Data, a.contents)
		}
	}
	if err != nil {
		return console.Usage("%w%s", err, elsewhere(err))
	}
	useStore(a, store)
	return nil
}

// openStoreToRead is openStore for commands over stored data: what can't be written, as on a read-only file
// system, can still be listed and shown.
func openStoreToRead(ctx context.Context, a *app) error {
	err := a.openStore(ctx)
	file := filepath.Join(a.paths.Data, databaseFile)
	if !unwritable(err) {
		return err
	}
	if _, statErr := os.Stat(file); statErr != nil {
		return err
	}
	store, readErr := session.OpenReading(ctx, file)
	if readErr != nil {
		return console.Usage("%w; nor can it be read there: %w", err, readErr)
	}
	useStore(a, store)
	return nil
}

func useStore(a *app, store *session.Store) {
	a.store = store
	a.onClose(func() {
		if err := store.Leave(); err != nil {
			fmt.Fprintln(a.std.Err, "jcode: close database:", err)
		}
	})
	for _, n := range store.Notices() {
		a.board.Say(event.LevelWarn, "%s", n.Text)
	}
}

// databaseFile is the name of the database in the data folder.
const databaseFile = "jcode.db"

// openData opens the database of a data folder, which it creates.
func openData(ctx context.Context, dir string, contents undo.Contents) (*session.Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	return session.Open(ctx, filepath.Join(dir, databaseFile), session.Options{Contents: contents.Read})
}

// outputsOf returns what results of calls have left in the data folder.
func outputsOf(a *app) *outputs.Outputs {
	return outputs.New(a.store, a.paths.Data, pursuits(a.paths.Data))
}

// spillsOf returns what keeps results that were cut.
func spillsOf(a *app) outputs.Spills {
	return outputs.NewSpills(a.paths.Data, func() error {
		if a.privateNow() {
			return core.ErrPrivate
		}
		return nil
	})
}

// newPersonShell returns what runs the lines that the user types.
func newPersonShell(a *app) shellcli.Lines {
	return shellcli.Lines{Registry: a.registry, Gate: a.gate, Spills: spillsOf(a), Shell: a.shell}
}

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

// newHistory returns what keeps the prompts and the input of this project.
func newHistory(a *app) typed.History {
	return typed.History{Store: a.store, Project: a.project, Cwd: a.cwd, Session: a.board.Session, Private: a.privateNow, Saved: &a.drafted}
}
