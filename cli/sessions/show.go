package sessionscli

import (
	"context"
	"fmt"
	"io"

	"jcode/cli/console"
	"jcode/session/export"
)

type showCmd struct {
	Session string `arg:"" optional:"" help:"ID, its end, or title; the last session of this folder by default."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// Run prints the transcript.
func (c *showCmd) Run(ctx context.Context, std Setup) error {
	return Show(ctx, std, c.Session, c.JSON)
}

// Show prints the transcript of a session, the last one of this folder without a name.
func Show(ctx context.Context, std Setup, name string, asJSON bool) error {
	form := export.Markdown
	if asJSON {
		form = export.JSON
	}
	return exportTo(ctx, std, name, form, "")
}

type exportCmd struct {
	Session string `arg:"" help:"ID, its end, or title."`
	File    string `arg:"" optional:"" help:"File to write: .md, .json or .html; standard output by default."`
	Format  string `enum:"md,json,html," default:"" help:"md, json or html, whatever the file's name."`
}

// Run writes the session.
func (c *exportCmd) Run(ctx context.Context, std Setup) error {
	return exportTo(ctx, std, c.Session, export.Format(c.Format), c.File)
}

// exportTo writes a session to a file, or to standard output without one.
func exportTo(ctx context.Context, std Setup, name string, form export.Format, file string) error {
	var err error
	if form == "" {
		if form, err = export.FormatOf(file); err != nil {
			return console.Usage("%w", err)
		}
	}
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	found, err := Named(ctx, a.Store, a.Project, name)
	if err != nil {
		return err
	}
	doc, err := export.Load(ctx, a.Store, found.ID)
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
