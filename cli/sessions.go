package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"jcode/cli/console"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/session"
	"jcode/session/export"
)

// sessionsCmd works with stored sessions, without a model and without the terminal UI.
type sessionsCmd struct {
	List   sessionsListCmd   `cmd:"" default:"withargs" help:"List this folder's sessions, the one used last first."`
	Show   sessionsShowCmd   `cmd:"" help:"Print a session's transcript."`
	Search sessionsSearchCmd `cmd:"" help:"Find words in titles and messages."`
	Rename sessionsRenameCmd `cmd:"" help:"Give a session a title."`
	Rm     sessionsRmCmd     `cmd:"" help:"Delete sessions with all that belongs to them."`
	Undo   sessionsUndoCmd   `cmd:"" help:"Undo what the last turn that changed files did to them."`
	Redo   sessionsRedoCmd   `cmd:"" help:"Redo what the last undo reverted."`
	Export sessionsExportCmd `cmd:"" help:"Write a session as Markdown, JSON or one HTML page."`
	Import sessionsImportCmd `cmd:"" help:"Import sessions of other agents; again, only what is new."`
	Ps     sessionsPsCmd     `cmd:"" help:"List the sessions that are open in other terminals, those that need you first."`
	Watch  sessionsWatchCmd  `cmd:"" help:"Print what happens in an open session."`
	Answer sessionsAnswerCmd `cmd:"" help:"Answer the question that an open session waits with."`
	Send   sessionsSendCmd   `cmd:"" help:"Send a prompt to an open session."`
	Stop   sessionsStopCmd   `cmd:"" help:"Stop the running turn of an open session."`
}

// openKept finds the folders and opens the store: all that commands over stored data need.
func openKept(ctx context.Context, f *flags, std Streams) (*app, error) {
	a := &app{flags: f, std: std}
	openStore := func(ctx context.Context) error { return openStoreToRead(ctx, a) }
	if _, err := a.after(ctx, a.findPlaces, openStore, a.openTrust, a.openPlugins); err != nil {
		return nil, err
	}
	for _, n := range a.store.Notices() {
		fmt.Fprintln(std.Err, "jcode: "+n.Text)
	}
	return a, nil
}

// named finds a session by its ID or title; an empty name means the last one.
func (a *app) named(ctx context.Context, name string) (session.Session, error) {
	var found session.Session
	var err error
	if name == "" {
		found, err = a.store.Latest(ctx, a.project)
	} else {
		found, err = a.store.Find(ctx, a.project, name)
	}
	switch {
	case errors.Is(err, session.ErrNotFound) && name == "":
		return found, console.Usage("there is no session in this folder")
	case errors.Is(err, session.ErrNotFound):
		return found, console.Usage("there is no session %q: jcode sessions list --all shows them", name)
	}
	return found, console.AsUsage(err)
}

type sessionsListCmd struct {
	All   bool `help:"Sessions of all folders."`
	Tasks bool `help:"Sessions in which a worker worked on tasks, instead of yours."`
	Limit int  `short:"n" help:"At most N sessions." placeholder:"N"`
	JSON  bool `name:"json" help:"Print a JSON array."`
}

// Run lists sessions.
func (c *sessionsListCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, err := openKept(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	filter := session.Filter{ProjectID: a.project, All: c.All, Limit: c.Limit}
	if c.Tasks {
		filter.Kind = session.KindAttempt
	}
	all, err := a.store.List(ctx, filter)
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

type sessionsShowCmd struct {
	Session string `arg:"" optional:"" help:"ID, its end, or title; the last session of this folder by default."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// Run prints the transcript.
func (c *sessionsShowCmd) Run(ctx context.Context, f *flags, std Streams) error {
	form := export.Markdown
	if c.JSON {
		form = export.JSON
	}
	return exportTo(ctx, f, std, c.Session, form, "")
}

type sessionsExportCmd struct {
	Session string `arg:"" help:"ID, its end, or title."`
	File    string `arg:"" optional:"" help:"File to write: .md, .json or .html; standard output by default."`
	Format  string `enum:"md,json,html," default:"" help:"md, json or html, whatever the file's name."`
}

// Run writes the session.
func (c *sessionsExportCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return exportTo(ctx, f, std, c.Session, export.Format(c.Format), c.File)
}

// exportTo writes a session to a file, or to standard output without one.
func exportTo(ctx context.Context, f *flags, std Streams, name string, form export.Format, file string) error {
	var err error
	if form == "" {
		if form, err = export.FormatOf(file); err != nil {
			return console.Usage("%w", err)
		}
	}
	a, err := openKept(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	found, err := a.named(ctx, name)
	if err != nil {
		return err
	}
	doc, err := export.Load(ctx, a.store, found.ID)
	if err != nil {
		return console.Usage("%w", err)
	}
	if file == "" || file == "-" {
		page, err := export.Render(form, doc)
		if err != nil {
			return console.Usage("%w", err)
		}
		_, err = io.WriteString(std.Out, page)
		return err
	}
	if err := export.WriteFile(file, form, doc); err != nil {
		return console.Usage("%w", err)
	}
	fmt.Fprintln(std.Err, "wrote "+file)
	return nil
}

type sessionsSearchCmd struct {
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
func (c *sessionsSearchCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, err := openKept(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	project := a.project
	if c.All {
		project = ""
	}
	hits, err := a.store.Search(ctx, strings.Join(c.Words, " "), project, c.Limit)
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

type sessionsRenameCmd struct {
	Session string   `arg:"" help:"ID, its end, or title."`
	Title   []string `arg:"" help:"The new title."`
}

// Run sets the title.
func (c *sessionsRenameCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, err := openKept(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	found, err := a.named(ctx, c.Session)
	if err != nil {
		return err
	}
	return console.AsUsage(a.store.Rename(ctx, found.ID, strings.Join(c.Title, " ")))
}

type sessionsRmCmd struct {
	Sessions []string `arg:"" help:"IDs, their ends, or titles."`
}

// Run deletes all named sessions, or none if one is unknown or open elsewhere.
func (c *sessionsRmCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, err := openKept(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
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
		found, err := a.named(ctx, name)
		if err != nil {
			return err
		}
		hold, err := a.store.Hold(found.ID)
		if _, held := errors.AsType[*session.HeldError](err); held {
			return console.Usage("%w: close it first", err)
		}
		if err != nil {
			return console.Usage("%w", err)
		}
		holds, ids = append(holds, hold), append(ids, found.ID)
	}
	saved := outputsOf(a)
	for _, id := range ids {
		if err := saved.Forget(ctx, id); err != nil {
			return console.Usage("%w", err)
		}
		fmt.Fprintln(std.Err, "deleted "+id)
	}
	return nil
}
