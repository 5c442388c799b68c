package taskscli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/internal/paths"
	"jcode/tasks"
)

// file is the file of tasks in the data folder.
const file = "tasks.db"

// Where returns the file of tasks, or the address of the Postgres that the person's own settings name.
func Where(found config.Paths) string {
	return cmp.Or(config.Load(config.Options{Paths: found}).Config.Tasks.Queue, filepath.Join(found.Data, file))
}

func Open(ctx context.Context, found config.Paths) (*tasks.Store, error) {
	where := Where(found)
	if strings.Contains(where, "://") && !tasks.Shared(where) {
		return nil, console.Usage("tasks.queue in %s: an address begins with postgres://", found.File())
	}
	store, err := tasks.Open(ctx, where)
	if err != nil {
		return nil, console.AsUsage(err)
	}
	if store.Shared() {
		place, err := placeOf(found.Data)
		if err != nil {
			return nil, errors.Join(console.Usage("tasks: %w", err), store.Close())
		}
		store.At(place)
	}
	return store, nil
}

// placeOf returns a name for a data folder that no other one has, on whichever machine.
func placeOf(data string) (string, error) {
	placeName := regexp.MustCompile("^[0-9a-f]{32}$")
	path := filepath.Join(data, "tasks.place") // not among the locks, which are swept
	for range 2 {
		if b, err := paths.ReadFile(path, 100); err == nil && placeName.Match(b) {
			return string(b), nil
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		made, err := os.CreateTemp(filepath.Dir(path), "tasks.place-*")
		if err != nil {
			return "", err
		}
		id := uuid.New()
		_, err = fmt.Fprintf(made, "%x", id[:])
		err = errors.Join(err, made.Close())
		if err == nil {
			err = os.Link(made.Name(), path) // whoever is first
		}
		_ = os.Remove(made.Name()) // it has its name now, or none
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("%s is no name of a data folder: remove it", path)
}
