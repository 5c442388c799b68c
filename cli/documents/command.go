package documentscli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"jcode/cli/console"
	"jcode/internal/slicex"
	"jcode/tools/retrieval"
)

// Cmd works with the documents of a session or, with --role, of a role.
type Cmd struct {
	List    listCmd    `cmd:"" default:"withargs"`
	Add     addCmd     `cmd:""`
	Remove  removeCmd  `cmd:""`
	Rebuild rebuildCmd `cmd:""`
	Search  searchCmd  `cmd:""`
}

// Said implements commandline.Tabled.
func (*Cmd) Said() func(verb string) (help string, names bool) { return retrieval.Table().OnLine }

// Setup is what the commands of `jcode docs` are given.
type Setup struct {
	console.Streams
	Role string // whose documents are meant; "" for a session's
	// Open opens the documents of that role, or of a session. The caller closes them.
	Open func(ctx context.Context, session string) (room *retrieval.Room, done func(), err error)
}

// Command is a command of `jcode docs`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

// docsOf selects the session whose documents are meant.
type docsOf struct {
	Session string `name:"session" placeholder:"ID" help:"The session; without it, and without --role, the last one of this folder."`
}

// change changes the documents of a session, and prints the result.
func (o docsOf) change(ctx context.Context, std Setup, do func(*retrieval.Room) error) error {
	if std.Role != "" {
		return console.Usage("a role's documents are listed in its file: jcode roles edit %s", std.Role)
	}
	room, done, err := std.Open(ctx, o.Session)
	if err != nil {
		return err
	}
	defer done()
	if err := do(room); err != nil {
		return console.Usage("%w", err)
	}
	return settle(ctx, room, std)
}

// settle waits for the index and prints the list.
func settle(ctx context.Context, room *retrieval.Room, std Setup) error {
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

type listCmd struct{ docsOf }

// Run lists what is indexed, after checking whether it is up to date.
func (c *listCmd) Run(ctx context.Context, std Setup) error {
	room, done, err := std.Open(ctx, c.Session)
	if err != nil {
		return err
	}
	defer done()
	return settle(ctx, room, std)
}

type addCmd struct {
	docsOf
	Sources []string `arg:"" name:"path|glob|address" help:"Files, folders, globs or addresses."`
}

// Run adds documents to a session.
func (c *addCmd) Run(ctx context.Context, std Setup) error {
	return c.change(ctx, std, func(room *retrieval.Room) error { return room.Add(ctx, c.Sources...) })
}

type removeCmd struct {
	docsOf
	Sources []string `arg:"" name:"path|glob|address" help:"What was added."`
}

// Run removes documents from a session.
func (c *removeCmd) Run(ctx context.Context, std Setup) error {
	return c.change(ctx, std, func(room *retrieval.Room) error {
		for _, source := range c.Sources {
			if err := room.Remove(ctx, source); err != nil {
				return err
			}
		}
		return nil
	})
}

type rebuildCmd struct{ docsOf }

// Run rereads all documents.
func (c *rebuildCmd) Run(ctx context.Context, std Setup) error {
	room, done, err := std.Open(ctx, c.Session)
	if err != nil {
		return err
	}
	defer done()
	room.Rebuild()
	return settle(ctx, room, std)
}

type searchCmd struct {
	docsOf
	Words []string `arg:"" help:"What to look for."`
	Top   int      `short:"n" placeholder:"N" help:"At most N passages (20)." default:"6"`
	JSON  bool     `name:"json" help:"Print a JSON array."`
}

// Run prints what docs_search would return.
func (c *searchCmd) Run(ctx context.Context, std Setup) error {
	room, done, err := std.Open(ctx, c.Session)
	if err != nil {
		return err
	}
	defer done()
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
