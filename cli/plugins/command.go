package pluginscli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"jcode/cli/console"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/plugins"
)

// Cmd works with plugins, without a model.
type Cmd struct {
	List    listCmd    `cmd:"" default:"withargs" help:"List the plugins and what they contain."`
	Add     addCmd     `cmd:"" help:"Show what a plugin contains, and add it after your yes."`
	Update  updateCmd  `cmd:"" help:"Fetch plugins again, show what changes, and apply it if you agree."`
	Enable  enableCmd  `cmd:"" help:"Switch plugins on."`
	Disable disableCmd `cmd:"" help:"Switch plugins off; they stay as they are."`
	Remove  removeCmd  `cmd:"" help:"Remove plugins."`
}

type listCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// pluginLine is one plugin of `jcode plugins list --json`.
type pluginLine struct {
	Name    string   `json:"name"`
	State   string   `json:"state"`
	Version string   `json:"version,omitempty"`
	From    string   `json:"from"`
	Commit  string   `json:"commit,omitempty"`
	Hash    string   `json:"hash"`
	Brings  []string `json:"brings"`
	Tokens  int      `json:"tokens"`
}

// Setup is what the commands of `jcode plugins` are given.
type Setup struct {
	console.Streams
	// Home finds where plugins are kept; nothing else is opened.
	Home func(ctx context.Context) (Home, error)
}

// Command is a command of `jcode plugins`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

// actions returns the actions on plugins outside of a running jcode, which looks at the disk itself.
func (s Setup) actions(ctx context.Context) (actions, error) {
	home, err := s.Home(ctx)
	return actions{home, s.Streams, func() {}}, err
}

// list returns all plugins, and the actions on them.
func (s Setup) list(ctx context.Context) (actions, []plugins.Plugin, error) {
	a, err := s.actions(ctx)
	if err != nil {
		return a, nil, err
	}
	list, err := a.Store.List()
	if err != nil {
		return a, nil, console.Usage("%w", err)
	}
	return a, list, nil
}

// Run lists the plugins.
func (c *listCmd) Run(ctx context.Context, std Setup) error {
	_, list, err := std.list(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(std.Out, slicex.Map(list, func(p plugins.Plugin) pluginLine {
			line := pluginLine{Name: p.Name, State: state(p), Version: p.Version, From: p.Address.String(), Commit: p.Commit, Hash: p.Hash, Brings: []string{}}
			if p.Bundle != nil {
				line.Tokens, line.Brings = p.Bundle.Tokens, slicex.Map(p.Bundle.Rows, plugins.Row.String)
			}
			return line
		}))
	}
	if len(list) == 0 {
		fmt.Fprintln(std.Err, "There are no plugins: jcode plugins add FROM adds one, from a folder or a git address.")
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	for _, p := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.Name, state(p), text.Clean(p.Version))
		for _, line := range describe(p) {
			fmt.Fprintf(w, "  %s\n", text.Visible(line))
		}
	}
	return w.Flush()
}

type addCmd struct {
	From   string `arg:"" help:"A folder, or a git address; #REF after it names a branch, tag or commit."`
	Plugin string `arg:"" optional:"" help:"Which plugin, where that is a marketplace."`
	Yes    bool   `help:"Add it without a question."`
}

// Run fetches the plugin, shows what it brings, and asks.
func (c *addCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.actions(ctx)
	if err != nil {
		return err
	}
	address, err := plugins.ParseAddress(c.From, c.Plugin)
	if err != nil {
		return console.Usage("%w", err)
	}
	return a.take(ctx, address, "", c.Yes)
}

// take fetches a plugin, shows it whole, and keeps it if the answer is yes. name is what an update
// expects, "" for a new one.
func (a actions) take(ctx context.Context, address plugins.Address, name string, yes bool) error {
	s, w := a.Store, a.std.Err
	st, err := s.Stage(ctx, address)
	if err != nil {
		return console.Usage("%w", err)
	}
	defer st.Drop()
	if st.Offers != nil {
		fmt.Fprintln(a.std.Out, "This is a marketplace. Add one of its plugins by name:")
		for _, o := range st.Offers {
			fmt.Fprintln(a.std.Out, text.Visible(strings.TrimSpace("  "+o.Name+"  "+o.Description)))
		}
		return nil
	}
	if a.Permit != nil {
		if err := a.Permit(st.Name, address.String(), st.Hash); err != nil {
			return console.Usage("%w", err)
		}
	}
	switch before := st.Before; {
	case name != "" && st.Name != name:
		return console.Usage("%s is called %s now: remove %s and add it again", address, st.Name, name)
	case before != nil && (before.Address.From != address.From || before.Address.Plugin != address.Plugin):
		return console.Usage("a plugin named %s already exists, from %s: remove it first (jcode plugins remove %s)", st.Name, before.Address, st.Name)
	case before != nil && before.Hash == st.Hash && before.Intact():
		fmt.Fprintf(w, "%s is up to date\n", st.Name)
		return nil
	case before != nil:
		rows, files := st.Changes()
		fmt.Fprintf(w, "%s %s → %s\n", st.Name, orNone(before.Version, before.Commit), orNone(st.Version, st.Commit))
		for _, row := range rows {
			fmt.Fprintln(w, "  "+row)
		}
		fmt.Fprintln(w, text.Visible(files))
	default:
		fmt.Fprintf(w, "%s %s, from %s\n", st.Name, orNone(st.Version, st.Commit), text.Visible(address.String()))
		for _, line := range append(bundleLines(st.Bundle), faultsOf(st.Bundle)...) {
			fmt.Fprintln(w, "  "+text.Visible(line))
		}
	}
	if !yes {
		if !a.std.InIsTerminal {
			return console.Usage("plugins: nobody can be asked here; --yes accepts what is shown above")
		}
		if !console.Confirm(a.std.In, w, "Use it? It runs with your rights.") {
			fmt.Fprintln(w, "nothing was changed")
			return nil
		}
	}
	if err := s.Keep(st); err != nil {
		return console.Usage("%w", err)
	}
	fmt.Fprintf(w, "%s is in use, also in a jcode that runs\n", st.Name)
	return nil
}

// orNone returns a version, otherwise the beginning of a commit, otherwise a word for neither.
func orNone(version, commit string) string {
	switch {
	case version != "":
		return text.Visible(version)
	case commit != "":
		return commit[:min(len(commit), 12)]
	}
	return "without a version"
}

type updateCmd struct {
	Names []string `arg:"" optional:"" help:"Which; all without a name."`
	Yes   bool     `help:"Take over what changed without a question."`
}

// Run updates the plugins one after another.
func (c *updateCmd) Run(ctx context.Context, std Setup) error {
	a, list, err := std.list(ctx)
	if err != nil {
		return err
	}
	for _, name := range c.Names {
		if !slices.ContainsFunc(list, func(p plugins.Plugin) bool { return p.Name == name }) {
			return console.Usage("there is no plugin %s; jcode plugins list shows the installed ones", name)
		}
	}
	var errs []error
	for _, p := range list {
		if len(c.Names) == 0 || slices.Contains(c.Names, p.Name) {
			errs = append(errs, a.take(ctx, p.Address, p.Name, c.Yes))
		}
	}
	return errors.Join(errs...)
}

type enableCmd struct {
	Names []string `arg:"" help:"Which."`
}

// Run switches the plugins on.
func (c *enableCmd) Run(ctx context.Context, std Setup) error {
	return switchPlugins(ctx, std, c.Names, true)
}

type disableCmd struct {
	Names []string `arg:"" help:"Which."`
}

// Run switches the plugins off.
func (c *disableCmd) Run(ctx context.Context, std Setup) error {
	return switchPlugins(ctx, std, c.Names, false)
}

func switchPlugins(ctx context.Context, std Setup, names []string, on bool) error {
	a, err := std.actions(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := a.Store.Enable(name, on); err != nil {
			return console.Usage("%w", err)
		}
		fmt.Fprintf(std.Err, "%s is %s\n", name, map[bool]string{true: "on", false: "off"}[on])
	}
	return nil
}

type removeCmd struct {
	Names []string `arg:"" help:"Which."`
}

// Run removes the plugins.
func (c *removeCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.actions(ctx)
	if err != nil {
		return err
	}
	for _, name := range c.Names {
		if err := a.remove(name); err != nil {
			return console.Usage("%w", err)
		}
		fmt.Fprintln(std.Err, "removed "+name)
	}
	return nil
}
