package memory

import (
	"context"
	"fmt"
	"strings"

	"jcode/cli/console"
)

// Cmd works with the notes from earlier sessions, without a model.
type Cmd struct {
	List   listCmd   `cmd:"" default:"withargs"`
	Show   showCmd   `cmd:""`
	Search searchCmd `cmd:""`
	Forget forgetCmd `cmd:""`
	Export exportCmd `cmd:""`
	Import importCmd `cmd:""`
}

// Setup is what the commands of `jcode memory` are given.
type Setup struct {
	console.Streams
	// Open opens the notes. The caller closes them.
	Open func(ctx context.Context) (actions Actions, done func(), err error)
}

// Command is a command of `jcode memory`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

// run runs an action on notes and prints what it says.
func run(ctx context.Context, std Setup, do func(Actions) (string, error)) error {
	actions, done, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer done()
	said, err := do(actions)
	if said != "" {
		fmt.Fprintln(std.Out, strings.TrimRight(said, "\n"))
	}
	return console.AsUsage(err)
}

type listCmd struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run lists notes.
func (c *listCmd) Run(ctx context.Context, std Setup) error {
	return run(ctx, std, func(a Actions) (string, error) {
		if c.JSON {
			out, err := a.JSON()
			return string(out), err
		}
		return a.List(), nil
	})
}

type showCmd struct {
	Note string `arg:"" name:"id|topic" help:"ID of a note, or a topic."`
}

// Run prints notes with where they are from.
func (c *showCmd) Run(ctx context.Context, std Setup) error {
	return run(ctx, std, func(a Actions) (string, error) { return a.Show(c.Note) })
}

type searchCmd struct {
	Words []string `arg:"" help:"What to look for."`
}

// Run prints what recall would return.
func (c *searchCmd) Run(ctx context.Context, std Setup) error {
	return run(ctx, std, func(a Actions) (string, error) { return a.Recall(ctx, strings.Join(c.Words, " ")) })
}

type forgetCmd struct {
	Notes []string `arg:"" name:"id" help:"IDs of notes or drafts."`
}

// Run removes notes.
func (c *forgetCmd) Run(ctx context.Context, std Setup) error {
	return run(ctx, std, func(a Actions) (string, error) { return a.Forget(ctx, c.Notes...) })
}

type exportCmd struct {
	File string `arg:"" optional:"" help:"File to write: .json or .md; standard output by default."`
}

// Run writes all notes.
func (c *exportCmd) Run(ctx context.Context, std Setup) error {
	return run(ctx, std, func(a Actions) (string, error) { return a.Export(c.File) })
}

type importCmd struct {
	File string `arg:"" optional:"" help:"File that export has written, or Markdown; without one, the memories of other agents."`
}

// Run reads notes as drafts.
func (c *importCmd) Run(ctx context.Context, std Setup) error {
	return run(ctx, std, func(a Actions) (string, error) {
		if c.File == "" {
			return a.ImportOthers(ctx)
		}
		return a.Import(ctx, c.File)
	})
}
