package rolescli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/internal/atomicfile"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/session/role"
)

// Cmd works with roles in all their layers.
type Cmd struct {
	List   listCmd   `cmd:"" default:"withargs"`
	Show   showCmd   `cmd:""`
	Edit   editCmd   `cmd:""`
	Import importCmd `cmd:""`
	Export exportCmd `cmd:""`
	Rm     rmCmd     `cmd:""`
}

// Setup is what the commands of `jcode roles` are given.
type Setup struct {
	console.Streams
	// Open opens what is stored. The caller closes it.
	Open func(ctx context.Context) (Opened, error)
}

// Opened are the roles of this folder, and the actions on them.
type Opened struct {
	Files   Files
	Actions Actions
	Close   func()
}

// Command is a command of `jcode roles`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

type listCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Line is one role of `jcode roles list --json`.
type Line struct {
	Name        string   `json:"name"`
	Source      string   `json:"source"`
	Path        string   `json:"path,omitempty"`
	Description string   `json:"description,omitempty"`
	Mode        string   `json:"mode,omitempty"`
	Model       string   `json:"model,omitempty"`
	Shadows     []string `json:"shadows,omitempty"` // layers that have the name too
	Usable      bool     `json:"usable"`
	Waiting     string   `json:"waiting,omitempty"` // a project's file that waits for trust
	Problems    []string `json:"problems,omitempty"`
}

// Run lists roles and, on standard error, what is wrong with them.
func (c *listCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	all, err := a.Files.Layers().List(ctx)
	if err != nil { // what could be read is listed anyway
		fmt.Fprintln(std.Err, "jcode:", err)
	}
	lines := slicex.Map(all, LineOf)
	if c.JSON {
		return console.PrintJSON(std.Out, lines)
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		source := l.Source
		if len(l.Shadows) > 0 {
			source += " over " + strings.Join(l.Shadows, ", ")
		}
		if l.Waiting != "" {
			source = strings.TrimSpace(source + " (project's waits for trust)")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", text.Visible(l.Name), source, cmp.Or(l.Mode, "-"), text.Truncate(text.OneLine(l.Description), 70, "…"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, l := range lines {
		for _, p := range l.Problems {
			fmt.Fprintf(std.Err, "jcode: role %s: %s\n", text.Visible(cmp.Or(l.Path, l.Name)), text.Visible(p))
		}
	}
	return nil
}

func LineOf(l role.Listing) Line {
	r := l.Role
	waiting := ""
	if l.Untrusted != nil {
		waiting = l.Untrusted.Path
		if !l.Counts() {
			r = *l.Untrusted
			r.Source = ""
		}
	}
	return Line{
		Name: r.Name, Source: string(r.Source), Path: r.Path, Description: r.Description, Mode: r.Mode, Model: r.Model,
		Usable: r.Usable() == nil && l.Counts(), Waiting: waiting,
		Problems: slicex.Map(r.Problems, role.Problem.String),
		Shadows:  slicex.Map(l.Shadowed, func(s role.Role) string { return string(s.Source) }),
	}
}

type showCmd struct {
	Name string `arg:"" help:"The role's name."`
	JSON bool   `name:"json" help:"Print its fields as JSON."`
}

// Run prints the role; its source goes to standard error.
func (c *showCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	r, err := a.Files.get(ctx, c.Name)
	if err != nil {
		return err
	}
	if c.JSON {
		r.Text = ""
		return console.PrintJSON(std.Out, r)
	}
	where := string(r.Source)
	if r.Path != "" {
		where += " " + r.Path
	}
	fmt.Fprintln(std.Err, "# "+where)
	_, err = fmt.Fprint(std.Out, r.Text)
	return err
}

type exportCmd struct {
	Name string `arg:"" help:"The role's name."`
	File string `arg:"" optional:"" help:"File or folder to write to; standard output by default."`
}

// Run writes the role.
func (c *exportCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	r, err := a.Files.get(ctx, c.Name)
	if err != nil {
		return err
	}
	if c.File == "" || c.File == "-" {
		_, err := fmt.Fprint(std.Out, r.Text)
		return err
	}
	path := c.File
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, r.Name+".md")
	}
	if err := atomicfile.Write(path, []byte(r.Text), atomicfile.Options{}); err != nil {
		return console.Usage("export role %s: %w", r.Name, err)
	}
	fmt.Fprintln(std.Err, "wrote "+path)
	return nil
}

type importCmd struct {
	Files []string `arg:"" help:"Role files; their names without .md become the roles' names."`
}

// Run imports every valid file and names the others.
func (c *importCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	var errs []error
	for _, path := range c.Files {
		r, err := a.Files.Layers().Import(ctx, path)
		for _, p := range r.Problems {
			if !p.Fatal {
				fmt.Fprintf(std.Err, "jcode: %s: %s\n", path, text.Visible(p.String()))
			}
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintln(std.Err, "imported "+r.Name)
	}
	return console.AsUsage(errors.Join(errs...))
}

type rmCmd struct {
	Names []string `arg:"" help:"Names of roles of your own, in the database or the configuration folder."`
}

// Run deletes the person's own roles; for others it says what to do instead.
func (c *rmCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	for _, name := range c.Names {
		said, err := a.Actions.removeRole(ctx, name)
		if err != nil {
			return console.Usage("%w", err)
		}
		fmt.Fprintln(std.Err, said)
	}
	return nil
}

type editCmd struct {
	Name string `arg:"" help:"The role's name; created if it does not exist."`
}

// newRole is what the editor shows for a role that does not exist yet.
const newRole = `---
description: 
# model: provider/model        a missing key keeps what is set
# temperature: 0.2
# tools: [read, grep, glob, ls]
# mcp_servers: [name]
# documents: [docs/**/*.md]
# skills: [name]
# mode: plan
# capabilities: [READ]
---
You …
`

// Run edits a file in place. A row, a builtin or a new role is edited as a copy, which becomes a row.
func (c *editCmd) Run(ctx context.Context, std Setup) error {
	if err := role.CheckName(c.Name); err != nil {
		return console.Usage("%w", err)
	}
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	r, err := a.Files.Layers().Get(ctx, c.Name)
	switch {
	case errors.Is(err, role.ErrUnknown):
		r = role.Role{Name: c.Name, Text: newRole}
	case err != nil:
		return console.Usage("%w", err)
	}
	path, err := a.Actions.roleFile(r)
	if err != nil {
		return console.Usage("%w", err)
	}
	if err := a.Actions.edit(ctx, path); err != nil {
		return err
	}
	changed, err := a.Actions.takeRole(ctx, r, path)
	switch {
	case err != nil:
		return console.Usage("%w", err)
	case !changed:
		fmt.Fprintln(std.Err, "unchanged")
		return nil
	}
	return a.Actions.sayRole(ctx, c.Name)
}

// sayRole reports what is wrong with an edited role.
func (a Actions) sayRole(ctx context.Context, name string) error {
	r, err := a.Layers().Get(ctx, name)
	if err != nil {
		return console.Usage("%w", err)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(a.Std.Err, "jcode: role %s: %s\n", name, text.Visible(p.String()))
	}
	return console.AsUsage(r.Usable())
}

// edit opens a file in the person's editor and waits for it to end.
func (a Actions) edit(ctx context.Context, path string) error {
	words := strings.Fields(cmp.Or(config.Load(config.Options{Paths: a.Paths}).Config.Editor, a.Std.Getenv("VISUAL"), a.Std.Getenv("EDITOR")))
	if len(words) == 0 {
		return console.Usage("no editor: set EDITOR, or change %s yourself", path)
	}
	cmd, err := a.Editor.Own(ctx, words[0], append(words[1:], path)...)
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Std.In, console.Behind(a.Std.Out), console.Behind(a.Std.Err)
		err = cmd.Run()
	}
	if err != nil {
		return console.Usage("editor %s: %w", words[0], err)
	}
	return nil
}
