package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"jcode/cli/board"
	"jcode/cli/console"
	sessionscli "jcode/cli/sessions"
	"jcode/internal/slicex"
	"jcode/tools/retrieval"
)

// docsCmd works with the documents of a session or, with --role, of a role.
type docsCmd struct {
	List    docsListCmd    `cmd:"" default:"withargs" help:"List the documents of a session or role with what is wrong with them."`
	Add     docsAddCmd     `cmd:"" help:"Index files, folders, globs or addresses for a session."`
	Remove  docsRemoveCmd  `cmd:"" help:"Take away what was added to a session."`
	Rebuild docsRebuildCmd `cmd:"" help:"Read and index the documents again."`
	Search  docsSearchCmd  `cmd:"" help:"Print the passages that the model would find."`
}

// docsOf selects the session whose documents are meant.
type docsOf struct {
	Session string `name:"session" placeholder:"ID" help:"The session; without it, and without --role, the last one of this folder."`
}

// open opens the room with the documents that are meant.
func (o docsOf) open(ctx context.Context, f *flags, std Streams) (*app, *retrieval.Room, error) {
	a, err := newApp(ctx, f, std)
	if err != nil {
		return nil, nil, err
	}
	a.board.Aside(func(n board.Notice) { fmt.Fprintln(std.Err, "jcode: "+n.Text) })
	if err := o.use(ctx, a); err != nil {
		a.close()
		return nil, nil, err
	}
	return a, a.documents.room, nil
}

func (o docsOf) use(ctx context.Context, a *app) error {
	if name := a.flags.Role; name != "" {
		r, err := newRoleFiles(a).Layers().Get(ctx, name)
		if err == nil {
			err = r.Usable()
		}
		if err != nil {
			return console.Usage("%w", err)
		}
		if len(r.Documents) == 0 {
			return console.Usage("role %s has no documents: name them in its file, as documents: [docs/**/*.md]", name)
		}
		a.documents.room.UseRole(a.documents.ofRole(r))
		return nil
	}
	found, err := sessionscli.Named(ctx, a.store, a.project, o.Session)
	if err != nil {
		return err
	}
	return a.documents.room.UseSession(ctx, found.ID)
}

// change changes the documents of a session, and prints the result.
func (o docsOf) change(ctx context.Context, f *flags, std Streams, do func(*retrieval.Room) error) error {
	if f.Role != "" {
		return console.Usage("a role's documents are listed in its file: jcode roles edit %s", f.Role)
	}
	a, room, err := o.open(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	if err := do(room); err != nil {
		return console.Usage("%w", err)
	}
	return settle(ctx, room, std)
}

// settle waits for the index and prints the list.
func settle(ctx context.Context, room *retrieval.Room, std Streams) error {
	told := time.Now()
	err := room.Wait(ctx, func(line string) {
		if line != "" && time.Since(told) > time.Second {
			told = time.Now()
			fmt.Fprintln(std.Err, "jcode: "+line)
		}
	})
	if err != nil {
		return err
	}
	out, err := room.Describe(ctx)
	if err == nil {
		fmt.Fprintln(std.Out, out)
	}
	return err
}

type docsListCmd struct{ docsOf }

// Run lists what is indexed, after checking whether it is up to date.
func (c *docsListCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, room, err := c.open(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	return settle(ctx, room, std)
}

type docsAddCmd struct {
	docsOf
	Sources []string `arg:"" help:"Files, folders, globs or addresses."`
}

// Run adds documents to a session.
func (c *docsAddCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return c.change(ctx, f, std, func(room *retrieval.Room) error { return room.Add(ctx, c.Sources...) })
}

type docsRemoveCmd struct {
	docsOf
	Sources []string `arg:"" help:"What was added."`
}

// Run removes documents from a session.
func (c *docsRemoveCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return c.change(ctx, f, std, func(room *retrieval.Room) error {
		for _, source := range c.Sources {
			if err := room.Remove(ctx, source); err != nil {
				return err
			}
		}
		return nil
	})
}

type docsRebuildCmd struct{ docsOf }

// Run rereads all documents.
func (c *docsRebuildCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, room, err := c.open(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	room.Rebuild()
	return settle(ctx, room, std)
}

type docsSearchCmd struct {
	docsOf
	Words []string `arg:"" help:"What to look for."`
	Top   int      `short:"n" placeholder:"N" help:"At most N passages (20)." default:"6"`
	JSON  bool     `name:"json" help:"Print a JSON array."`
}

// Run prints what docs_search would return.
func (c *docsSearchCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, room, err := c.open(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	hits, note, err := room.Search(ctx, strings.Join(c.Words, " "), c.Top)
	if err != nil {
		return console.Usage("%w", err)
	}
	if note != "" {
		fmt.Fprintln(std.Err, "jcode: "+note)
	}
	if c.JSON {
		return console.PrintJSON(std.Out, slicex.OrEmpty(hits))
	}
	for _, h := range hits {
		fmt.Fprintf(std.Out, "%s:%d-%d %s\n%s\n\n", h.Path, h.First, h.Last, h.Heading, h.Text)
	}
	return nil
}
