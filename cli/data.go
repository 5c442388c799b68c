package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"jcode/agent/event"
	"jcode/cli/console"
	"jcode/cli/core"
	"jcode/cli/outputs"
	shellcli "jcode/cli/shell"
	"jcode/cli/undo"
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
