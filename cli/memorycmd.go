package cli

import (
	"context"
	"fmt"
	"strings"

	"jcode/cli/console"
	"jcode/cli/memory"
)

// memoryCmd works with the notes from earlier sessions, without a model.
type memoryCmd struct {
	List   memoryListCmd   `cmd:"" default:"withargs" help:"List the notes of this project and yours, and drafts."`
	Show   memoryShowCmd   `cmd:"" help:"Print a note, or all notes of a topic, with where they are from."`
	Search memorySearchCmd `cmd:"" help:"Search notes and the text of earlier sessions."`
	Forget memoryForgetCmd `cmd:"" help:"Remove notes or drafts."`
	Export memoryExportCmd `cmd:"" help:"Write all notes into one file: JSON, or Markdown."`
	Import memoryImportCmd `cmd:"" help:"Read notes as drafts: from a file, or from the memories of Claude Code, Codex and Gemini."`
}

// withNotes runs an action on notes and prints what it says.
func withNotes(ctx context.Context, f *flags, std Streams, do func(memory.Actions) (string, error)) error {
	a, err := openKept(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	said, err := do(notesActions(a))
	if said != "" {
		fmt.Fprintln(std.Out, strings.TrimRight(said, "\n"))
	}
	return console.AsUsage(err)
}

type memoryListCmd struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run lists notes.
func (c *memoryListCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return withNotes(ctx, f, std, func(a memory.Actions) (string, error) {
		if c.JSON {
			out, err := a.JSON()
			return string(out), err
		}
		return a.List(), nil
	})
}

type memoryShowCmd struct {
	Note string `arg:"" help:"ID of a note, or a topic."`
}

// Run prints notes with where they are from.
func (c *memoryShowCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return withNotes(ctx, f, std, func(a memory.Actions) (string, error) { return a.Show(c.Note) })
}

type memorySearchCmd struct {
	Words []string `arg:"" help:"What to look for."`
}

// Run prints what recall would return.
func (c *memorySearchCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return withNotes(ctx, f, std, func(a memory.Actions) (string, error) { return a.Recall(ctx, strings.Join(c.Words, " ")) })
}

type memoryForgetCmd struct {
	Notes []string `arg:"" help:"IDs of notes or drafts."`
}

// Run removes notes.
func (c *memoryForgetCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return withNotes(ctx, f, std, func(a memory.Actions) (string, error) { return a.Forget(ctx, c.Notes...) })
}

type memoryExportCmd struct {
	File string `arg:"" optional:"" help:"File to write: .json or .md; standard output by default."`
}

// Run writes all notes.
func (c *memoryExportCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return withNotes(ctx, f, std, func(a memory.Actions) (string, error) { return a.Export(c.File) })
}

type memoryImportCmd struct {
	File string `arg:"" optional:"" help:"File that export has written, or Markdown; without one, the memories of other agents."`
}

// Run reads notes as drafts.
func (c *memoryImportCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return withNotes(ctx, f, std, func(a memory.Actions) (string, error) {
		if c.File == "" {
			return a.ImportOthers(ctx)
		}
		return a.Import(ctx, c.File)
	})
}
