package workercli

import (
	"context"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/config"
	"jcode/cli/console"
	taskscli "jcode/cli/tasks"
	"jcode/internal/worktree"
	"jcode/session"
	"jcode/tasks"
	"jcode/tools"
	"jcode/tools/permission"
)

// Setup is what `jcode worker` is given.
type Setup struct {
	console.Streams
	Given   taskscli.Given
	BaseURL string // of a model, for the tasks
	// Open opens what is stored. The caller closes it.
	Open func(ctx context.Context) (Opened, error)
	// Paths finds the folders.
	Paths func() (config.Paths, error)
	// Repository opens a folder to ask what of its repository may run. The caller closes it.
	Repository func(ctx context.Context, folder string) (Repository, error)
}

// Opened is where tasks are, and what those of a day may cost, 0 for any cost.
type Opened struct {
	Paths  config.Paths
	PerDay float64
	// Trees returns the folder of the worktrees of a project's own sessions.
	Trees func(project string) string
	Close func()
}

// Repository is one of which is asked what may run.
type Repository struct {
	taskscli.Checkout
	Trust *permission.Trust
	// Inert lists what a worktree of it would run if that were trusted.
	Inert func(ctx context.Context, tree worktree.Tree) ([]tools.TrustItem, error)
}

// AttemptSetup is what an attempt at a task is given.
type AttemptSetup struct {
	Paths func() (config.Paths, error)
	// Home opens the repository of a task's folder, with what the task says of role, model, mode and limits. The caller
	// closes it.
	Home func(ctx context.Context, folder string, t tasks.Task) (Home, error)
}

// Home is the repository that a task is worked on in.
type Home struct {
	taskscli.Checkout
	Wait time.Duration // how long a question waits in the task's slot, 0 for the usual time
	// Enter opens a worktree of it, to work there. The caller closes it.
	Enter func(ctx context.Context, tree worktree.Tree) (Place, error)
}

// Place is a worktree in which a conversation works.
type Place struct {
	Tree  worktree.Tree
	Store *session.Store
	// Options returns those of a conversation there; Begin begins it, Resume continues one, Attach lets it hear what
	// happens there, Prompt reads what is typed.
	Options func() (agent.Options, error)
	Begin   func(ctx context.Context, opt agent.Options) (*agent.Conversation, error)
	Resume  func(ctx context.Context, opt agent.Options, id string) (*agent.Conversation, error)
	Attach  func(ctx context.Context, conv *agent.Conversation)
	Prompt  func(ctx context.Context, words string) (prompt event.Prompt, notice string, err error)
	Close   func()
}
