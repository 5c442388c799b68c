package sessionscli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"jcode/agent/event"
	"jcode/cli/console"
	"jcode/cli/live"
	"jcode/cli/outputs"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/session"
	"jcode/session/export"
)

// Cmd works with stored sessions, without a model and without the terminal UI.
type Cmd struct {
	List   listCmd   `cmd:"" default:"withargs"`
	Show   showCmd   `cmd:""`
	Search searchCmd `cmd:""`
	Rename renameCmd `cmd:""`
	Rm     rmCmd     `cmd:""`
	Undo   undoCmd   `cmd:""`
	Redo   redoCmd   `cmd:""`
	Export exportCmd `cmd:""`
	Import importCmd `cmd:""`
	Ps     psCmd     `cmd:""`
	Watch  watchCmd  `cmd:""`
	Answer answerCmd `cmd:""`
	Send   sendCmd   `cmd:""`
	Stop   stopCmd   `cmd:""`
}

// Setup is what the commands of `jcode sessions` are given.
type Setup struct {
	console.Streams
	// Open opens what is stored. The caller closes it.
	Open func(ctx context.Context) (Opened, error)
	// Live finds the sessions that are open.
	Live func() (live.Sessions, error)
}

// Opened is what is stored, as the folder of this run sees it.
type Opened struct {
	Store         *session.Store
	Project, Root string
	Saved         *outputs.Outputs
	Importer      Importer
	// Say tells the user something at the end.
	Say   func(level event.Level, format string, args ...any)
	Close func()
}

// Command is a command of `jcode sessions`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

// Named finds a session of a project by its ID or title; an empty name means the last one.
func Named(ctx context.Context, store *session.Store, project, name string) (session.Session, error) {
	var found session.Session
	var err error
	if name == "" {
		found, err = store.Latest(ctx, project)
	} else {
		found, err = store.Find(ctx, project, name)
	}
	switch {
	case errors.Is(err, session.ErrNotFound) && name == "":
		return found, console.Usage("there is no session in this folder")
	case errors.Is(err, session.ErrNotFound):
		return found, console.Usage("there is no session %q: jcode sessions list --all shows them", name)
	}
	return found, console.AsUsage(err)
}

type listCmd struct {
	All   bool `help:"Sessions of all folders."`
	Tasks bool `help:"Sessions in which a worker worked on tasks, instead of yours."`
	Limit int  `short:"n" help:"At most N sessions." placeholder:"N"`
	JSON  bool `name:"json" help:"Print a JSON array."`
}

// Run lists sessions.
func (c *listCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	filter := session.Filter{ProjectID: a.Project, All: c.All, Limit: c.Limit}
	if c.Tasks {
		filter.Kind = session.KindAttempt
	}
	all, err := a.Store.List(ctx, filter)
	if err != nil {
		return console.Usage("%w", err)
	}
	if c.JSON {
		return console.PrintJSON(std.Out, slicex.Map(all, export.SessionJSON))
	}
	if len(all) == 0 {
		fmt.Fprintln(std.Err, "no sessions here"+map[bool]string{false: " (--all lists those of other folders)"}[c.All])
		return nil
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tUSED\tMESSAGES\tMODEL\tCOST\tTITLE")
	for _, v := range all {
		title := cmp.Or(v.Title, "(no title)")
		if c.All {
			title += "  " + text.Visible(v.Cwd)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", session.ShortID(v.ID), text.Ago(time.Since(v.Updated)), v.Messages, text.Visible(v.Model), money(v.Cost, v.Estimated), title)
	}
	return w.Flush()
}

func money(usd float64, estimated bool) string {
	if usd == 0 {
		return "-"
	}
	return text.Spent(usd, estimated)
}

type searchCmd struct {
	Words []string `arg:"" help:"Words that must all occur in a message; the last may be begun only."`
	All   bool     `help:"In the sessions of all folders."`
	Limit int      `short:"n" default:"50" help:"At most N places." placeholder:"N"`
	JSON  bool     `name:"json" help:"Print a JSON array."`
}

// hitLine is one place of `jcode sessions search --json`.
type hitLine struct {
	SessionID string `json:"session_id"`
	Title     string `json:"title"`
	Seq       int64  `json:"seq"` // 0 = the title
	Role      string `json:"role,omitempty"`
	Snippet   string `json:"snippet"`
}

// Run prints the places where the words occur.
func (c *searchCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	project := a.Project
	if c.All {
		project = ""
	}
	hits, err := a.Store.Search(ctx, strings.Join(c.Words, " "), project, c.Limit)
	if err != nil {
		return console.Usage("%w", err)
	}
	if c.JSON {
		return console.PrintJSON(std.Out, slicex.Map(hits, func(h session.Hit) hitLine {
			return hitLine{SessionID: h.Session.ID, Title: h.Session.Title, Seq: h.Seq, Role: h.Role, Snippet: h.Snippet}
		}))
	}
	if len(hits) == 0 {
		fmt.Fprintln(std.Err, "nothing found")
		return nil
	}
	last := ""
	for _, h := range hits {
		if h.Session.ID != last {
			last = h.Session.ID
			fmt.Fprintf(std.Out, "%s  %s\n", session.ShortID(last), cmp.Or(h.Session.Title, "(no title)"))
		}
		if h.Seq > 0 {
			fmt.Fprintf(std.Out, "  %s: %s\n", h.Role, h.Snippet)
		}
	}
	return nil
}

type renameCmd struct {
	Session string   `arg:"" help:"ID, its end, or title."`
	Title   []string `arg:"" help:"The new title."`
}

// Run sets the title.
func (c *renameCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	found, err := Named(ctx, a.Store, a.Project, c.Session)
	if err != nil {
		return err
	}
	return console.AsUsage(a.Store.Rename(ctx, found.ID, strings.Join(c.Title, " ")))
}

type rmCmd struct {
	Sessions []string `arg:"" help:"IDs, their ends, or titles."`
}

// Run deletes all named sessions, or none if one is unknown or open elsewhere.
func (c *rmCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	var ids []string
	var holds []*session.Hold
	defer func() {
		for _, h := range holds {
			if err := h.Release(); err != nil {
				fmt.Fprintln(std.Err, "jcode:", err)
			}
		}
	}()
	for _, name := range c.Sessions {
		found, err := Named(ctx, a.Store, a.Project, name)
		if err != nil {
			return err
		}
		hold, err := a.Store.Hold(found.ID)
		if _, held := errors.AsType[*session.HeldError](err); held {
			return console.Usage("%w: close it first", err)
		}
		if err != nil {
			return console.Usage("%w", err)
		}
		holds, ids = append(holds, hold), append(ids, found.ID)
	}
	saved := a.Saved
	for _, id := range ids {
		if err := saved.Forget(ctx, id); err != nil {
			return console.Usage("%w", err)
		}
		fmt.Fprintln(std.Err, "deleted "+id)
	}
	return nil
}
