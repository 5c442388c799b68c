package skillscli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/skills"
)

// Cmd shows the available skills and command files, without a model.
type Cmd struct {
	List  listCmd  `cmd:"" default:"withargs"`
	Check checkCmd `cmd:""`
	New   newCmd   `cmd:""`
}

// Setup is what the commands of `jcode skills` are given.
type Setup struct {
	console.Streams
	// Taken lists the commands of jcode's own, which take precedence over skills of their name.
	Taken func() []string
	// Open finds the skills of this folder with the database for trust and the configuration. The caller calls done.
	Open func(ctx context.Context) (opts skills.Options, done func(), err error)
	// Places finds where skills are written to, and the working folder; nothing is opened.
	Places func(ctx context.Context) (places skills.Places, cwd string, err error)
}

// Command is a command of `jcode skills`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

type listCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// skillLine is one skill of `jcode skills list --json`.
type skillLine struct {
	Name        string              `json:"name"`
	State       skills.State        `json:"state"`
	Description string              `json:"description"`
	Source      string              `json:"source"`
	File        string              `json:"file"`
	ShadowedBy  string              `json:"shadowed_by,omitempty"`
	Rules       []string            `json:"allowed_tools,omitempty"`
	Approved    *bool               `json:"allowed_tools_approved,omitempty"`
	Diagnostics []skills.Diagnostic `json:"diagnostics,omitempty"`
}

// Run lists every skill that was found, including broken, shadowed and disabled ones.
func (c *listCmd) Run(ctx context.Context, std Setup) error {
	opts, done, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer done()
	lines := []skillLine{}
	for _, e := range skills.New(opts).Entries() {
		line := skillLine{
			Name: e.Name, State: e.State, Description: e.Description, Source: e.Source.Label, File: e.File,
			ShadowedBy: e.By, Rules: e.Rules, Diagnostics: e.Diagnostics,
		}
		if len(e.Rules) > 0 {
			ok, err := opts.Trust.Trusted(ctx, e.Pin().Item())
			if err != nil {
				return console.Usage("approvals: %w", err)
			}
			line.Approved = &ok
		}
		lines = append(lines, line)
	}
	if c.JSON {
		return console.PrintJSON(std.Out, lines)
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.Name, l.state(), l.Source, text.Truncate(text.OneLine(l.Description), 70, "…"))
	}
	return w.Flush()
}

// state describes a skill's state in a few words.
func (l skillLine) state() string {
	switch {
	case l.State == skills.Active && l.Approved != nil && !*l.Approved:
		return "active, allowed-tools not approved"
	case l.State == skills.Active && len(l.Diagnostics) > 0:
		return "active, with warnings"
	}
	return string(l.State)
}

type checkCmd struct {
	Path []string `arg:"" optional:"" help:"Folders of skills, or SKILL.md files; without any, all that this folder uses." type:"path"`
	JSON bool     `name:"json" help:"Print a JSON array."`
}

// errSkills says that a check found errors; they were printed.
var errSkills = errors.New("some skills or commands cannot be used")

// Run prints what is wrong. The exit code is 1 if something cannot be used, 0 if there are only
// warnings.
func (c *checkCmd) Run(ctx context.Context, std Setup) error {
	list := []skills.Diagnostic{}
	if len(c.Path) > 0 {
		for _, p := range c.Path {
			list = append(list, skills.Check(p)...)
		}
	} else {
		opts, done, err := std.Open(ctx)
		if err != nil {
			return err
		}
		defer done()
		found := skills.New(opts)
		list = append(list, found.Diagnostics()...)
		list = append(list, shadowedSkills(found.Entries(), std.Taken())...)
		list = append(list, skills.NewCommandFiles(opts.Places, opts.Trust, nil).Diagnostics()...)
	}
	faults := 0
	for _, d := range list {
		if d.Level == skills.Fault {
			faults++
		}
	}
	if c.JSON {
		if err := console.PrintJSON(std.Out, list); err != nil {
			return err
		}
	} else {
		for _, d := range list {
			fmt.Fprintln(std.Out, d)
		}
		fmt.Fprintf(std.Err, "jcode: %s, %s\n", text.Count(faults, "error"), text.Count(len(list)-faults, "warning"))
	}
	if faults > 0 {
		return &console.Exit{Code: console.ExitModel, Silent: true, Err: errSkills}
	}
	return nil
}

// shadowedSkills warns of skills whose name is a command of jcode's own, which takes precedence.
func shadowedSkills(entries []skills.Entry, own []string) []skills.Diagnostic {
	var out []skills.Diagnostic
	for _, e := range entries {
		if slices.Contains(own, e.Name) {
			out = append(out, skills.Diagnostic{
				File: e.File, Level: skills.Warning,
				Text: fmt.Sprintf("/%s is a command of jcode's own: only the model can use this skill", e.Name), Cure: "give it another name",
			})
		}
	}
	return out
}

type newCmd struct {
	Name string `arg:"" help:"Name of the skill."`
	User bool   `help:"For yourself in all projects, not for this one."`
}

// Run writes the template and says where.
func (c *newCmd) Run(ctx context.Context, std Setup) error {
	places, cwd, err := std.Places(ctx)
	if err != nil {
		return err
	}
	file, err := places.Create(c.Name, !c.User)
	if err != nil {
		return console.Usage("%w", err)
	}
	shown := file
	if rel, err := filepath.Rel(cwd, file); err == nil && filepath.IsLocal(rel) {
		shown = rel
	}
	fmt.Fprintln(std.Out, shown)
	return nil
}
