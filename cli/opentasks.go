package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jcode/agent"
	"jcode/cli/config"
	"jcode/cli/console"
	sessionscli "jcode/cli/sessions"
	taskscli "jcode/cli/tasks"
	workercli "jcode/cli/worker"
	worktreescli "jcode/cli/worktrees"
	"jcode/internal/worktree"
	"jcode/tasks"
	"jcode/tools"
)

// newTaskSetup returns what the commands of `jcode tasks` are given.
func newTaskSetup(f *flags, std Streams) taskscli.Setup {
	return taskscli.Setup{
		Streams: std.Streams, Given: givenTask(f), Paths: func() (config.Paths, error) { return findPaths(std) },
		Open: func(ctx context.Context, folder string) (taskscli.Checkout, error) {
			a, err := openTaskFolder(ctx, f, std, folder)
			if err != nil {
				return taskscli.Checkout{}, err
			}
			return checkoutOf(a), nil
		},
		Show: func(ctx context.Context, streams console.Streams, id string, asJSON bool) (here bool, err error) {
			a, err := openKept(ctx, f, std)
			if err != nil {
				return true, err
			}
			_, missing := a.store.Get(ctx, id)
			a.close()
			std := std
			std.Streams = streams
			return missing == nil, sessionscli.Show(ctx, newSessionSetup(f, std), id, asJSON)
		},
	}
}

// givenTask returns what a command line says of tasks.
func givenTask(f *flags) taskscli.Given {
	return taskscli.Given{
		Role: f.Role, Model: f.Model, Mode: f.Mode, MaxSteps: int(f.MaxSteps), MaxCost: float64(f.MaxCost), Trust: f.Trust,
		Session: f.Print || f.Continue || f.Resume != "" || f.Worktree != "" || len(f.Allow)+len(f.Deny) > 0,
	}
}

// openTaskFolder wires jcode for a folder in which tasks work.
func openTaskFolder(ctx context.Context, f *flags, std Streams, folder string) (*app, error) {
	own := *f
	own.Print, own.Mode, own.Worktree, own.Continue, own.Resume = true, "", "", false, "" // nothing of it is watched
	return newAppIn(ctx, &own, std, folder)
}

// checkoutOf returns the repository of an app's folder, for worktrees of it.
func checkoutOf(a *app) taskscli.Checkout {
	return taskscli.Checkout{
		Root: a.root, Git: a.git, Trees: sessionFolder(a), Copy: a.config.Worktree.Copy, Confined: a.confinement.Confined(), Close: a.close,
		Free: func(ctx context.Context, name string) (dir, branch string) {
			return worktreescli.Free(ctx, a.git, a.root, sessionFolder(a), name)
		},
		Remove: func(ctx context.Context, tree worktree.Tree) error {
			return worktreescli.Remove(ctx, tree, filepath.Base(tree.Dir))
		},
		Merge: func(ctx context.Context, tree worktree.Tree) (said string, left []string, err error) {
			t, _, err := enterTree(ctx, a, tree)
			if err != nil {
				return "", nil, err
			}
			defer t.Close()
			return t.Merge(ctx, tools.Call{Name: "worktree", Caller: tools.Caller{Origin: tools.OriginPerson}})
		},
	}
}

// newTaskActions returns the list of tasks in a chat.
func newTaskActions(a *app) taskscli.Actions {
	std := newTaskSetup(a.flags, a.std)
	std.Paths = func() (config.Paths, error) { return a.paths, nil }
	return taskscli.Actions{Setup: std, Board: &a.board, Cwd: a.cwd}
}

// newWorkerSetup returns what `jcode worker` is given.
func newWorkerSetup(f *flags, std Streams) workercli.Setup {
	return workercli.Setup{
		Streams: std.Streams, Given: givenTask(f), BaseURL: f.BaseURL, Paths: func() (config.Paths, error) { return findPaths(std) },
		Open: func(ctx context.Context) (workercli.Opened, error) {
			a, err := openKept(ctx, f, std)
			if err != nil {
				return workercli.Opened{}, err
			}
			if err := a.loadConfig(ctx); err != nil {
				a.close()
				return workercli.Opened{}, err
			}
			return workercli.Opened{Paths: a.paths, PerDay: a.config.Tasks.MaxCostPerDay, Trees: func(project string) string { return worktreescli.SessionFolder(a.paths.Data, project) }, Close: a.close}, nil
		},
		Repository: func(ctx context.Context, folder string) (workercli.Repository, error) {
			own := *f
			own.Print, own.Trust = true, false // nothing of it is watched
			a, err := newAppIn(ctx, &own, std, folder)
			if err != nil {
				return workercli.Repository{}, err
			}
			return workercli.Repository{Checkout: checkoutOf(a), Trust: a.trust, Inert: func(ctx context.Context, tree worktree.Tree) ([]tools.TrustItem, error) {
				t, b, err := enterTree(ctx, a, tree)
				if err != nil {
					return nil, err
				}
				defer t.Close()
				b.startExtensions()
				return newUntrusted(b).Items(), nil
			}}, nil
		},
	}
}

// inTask makes an attempt at a task. It ends as soon as its input does: its worker is gone then.
func inTask(args []string, std Streams) int {
	ctx, sig := console.WithSignals(context.Background(), os.Exit)
	defer sig.Stop()
	ctx, cancel := workercli.UntilGone(ctx, std.In)
	defer cancel()
	std.In, std.Out = strings.NewReader(""), io.Discard
	std, err := std.underManaged()
	if err == nil {
		err = workercli.Attempt(ctx, newAttemptSetup(std), args)
	}
	return report(err, std.Err)
}

// newAttemptSetup returns what an attempt at a task is given.
func newAttemptSetup(std Streams) workercli.AttemptSetup {
	return workercli.AttemptSetup{
		Paths: func() (config.Paths, error) { return findPaths(std) },
		Home: func(ctx context.Context, folder string, t tasks.Task) (workercli.Home, error) {
			f := flags{
				Print: true, OutputFormat: "text", Elicit: "decline", Role: t.Role, Model: t.Model, Mode: t.Mode,
				MaxSteps: stepLimit(t.MaxSteps), MaxCost: costLimit(t.MaxCost), BaseURL: std.Getenv("OPENAI_BASE_URL"), AppendPrompt: workercli.Briefing,
			}
			a, err := newAppIn(ctx, &f, std, folder)
			if err != nil {
				return workercli.Home{}, err
			}
			return workercli.Home{Checkout: checkoutOf(a), Wait: time.Duration(a.config.Tasks.Wait), Enter: func(ctx context.Context, tree worktree.Tree) (workercli.Place, error) {
				t, b, err := enterTree(ctx, a, tree)
				if err != nil {
					return workercli.Place{}, err
				}
				return placeOf(t, b), nil
			}}, nil
		},
	}
}

// placeOf returns a worktree in which an attempt works; a is wired for it.
func placeOf(t *worktreescli.SessionTree, a *app) workercli.Place {
	return workercli.Place{
		Tree: t.Tree, Store: a.store, Options: a.options, Begin: newRoleStarts(a).Begin, Resume: a.resume, Prompt: newTypedPrompts(a).prompt, Close: t.Close,
		Attach: func(ctx context.Context, conv *agent.Conversation) {
			a.board.Attach(conv)
			a.startExtensions()
			newUntrusted(a).SayOff(ctx)
		},
	}
}
