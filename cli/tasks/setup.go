package taskscli

import (
	"context"
	"errors"

	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/tasks"
	"jcode/tasks/queue"
)

// Setup is what the commands of `jcode tasks` are given.
type Setup struct {
	console.Streams
	Given Given
	// Paths finds the folders.
	Paths func() (config.Paths, error)
	// Open opens the repository of a folder, "" for that of this run. The caller closes it.
	Open func(ctx context.Context, folder string) (Checkout, error)
	// Show prints a session. It reports whether the session is kept on this machine.
	Show func(ctx context.Context, std console.Streams, session string, asJSON bool) (here bool, err error)
}

// Given is what the flags of the command line say.
type Given struct {
	Role, Model, Mode string
	MaxSteps          int
	MaxCost           float64
	// Trust is --trust; Session says that flags are set which have no use for tasks: -p, -c, -r, -w, --allow or --deny.
	Trust, Session bool
}

// Command is a command of `jcode tasks`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

// withTasks opens the tasks for a command.
func withTasks(ctx context.Context, std Setup, f func(store *tasks.Store) error) error {
	found, err := std.Paths()
	if err != nil {
		return err
	}
	store, err := Open(ctx, found)
	if err != nil {
		return err
	}
	err = f(store)
	if errors.Is(err, tasks.ErrNone) {
		err = console.Usage("%w", err)
	}
	return errors.Join(err, store.Close())
}

// withQueue opens the tasks with what carries them.
func withQueue(ctx context.Context, std Setup, f func(store *tasks.Store, q *queue.Queue) error) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		q, err := queue.Open(ctx, store)
		if err != nil {
			return err
		}
		return f(store, q)
	})
}
