package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"jcode/agent"
	"jcode/internal/atomicfile"
	"jcode/internal/text"
	"jcode/plugins"
	"jcode/skills"
	"jcode/tools/permission"
	"jcode/tui"
)

// bundles are the plugins of this run.
type bundles struct {
	store plugins.Store
	// all are installed; used are those of them whose copies are as they were accepted.
	all, used []plugins.Plugin
	servers   []string // files of their MCP servers
}

func (a *app) pluginStore() plugins.Store {
	return plugins.Store{Dir: filepath.Join(a.paths.Data, "plugins")}
}

// openPlugins reads the plugins. One that cannot be used is said and costs nothing else.
func (a *app) openPlugins(context.Context) error {
	b := bundles{store: a.pluginStore()}
	all, err := b.store.List()
	if err != nil {
		a.board.say(agent.LevelWarn, "plugins are not used: %v", err)
		return nil
	}
	b.all = all
	for _, p := range all {
		switch {
		case p.Problem != "":
			a.board.say(agent.LevelWarn, "plugin %s is not used: %s", p.Name, p.Problem)
			continue
		case !p.Intact() && !a.trusted(context.Background(), permission.TrustBundle, p.Name, p.Now):
			a.board.say(agent.LevelWarn, "plugin %s is not used: its files have changed since you accepted them (jcode plugins update %s fetches them anew)", p.Name, p.Name)
			continue
		}
		b.used = append(b.used, p)
		for _, problem := range p.Bundle.Problems {
			a.board.say(agent.LevelWarn, "plugin %s: %s", p.Name, problem)
		}
		if file, err := b.writeServers(p.Bundle); err != nil {
			a.board.say(agent.LevelWarn, "plugin %s: its MCP servers are not used: %v", p.Name, err)
		} else if file != "" {
			b.servers = append(b.servers, file)
		}
	}
	a.bundles = b
	return nil
}

// writeServers writes a plugin's MCP servers as a file of the usual form, with the plugin's
// folder put in, and returns its name; "" where there are none.
func (b bundles) writeServers(bundle *plugins.Bundle) (string, error) {
	if len(bundle.Servers) == 0 {
		return "", nil
	}
	raw, err := json.MarshalIndent(map[string]any{"mcpServers": bundle.Servers}, "", "  ")
	if err != nil {
		return "", err
	}
	dir, err := json.Marshal(bundle.Dir)
	if err != nil {
		return "", err
	}
	whole := strings.ReplaceAll(string(raw), "${"+plugins.RootVariable+"}", strings.Trim(string(dir), `"`))
	path := filepath.Join(b.store.Dir, bundle.Name+".mcp.json")
	if old, err := os.ReadFile(path); err == nil && string(old) == whole {
		return path, nil
	}
	return path, atomicfile.Write(path, []byte(whole), atomicfile.Options{Perm: 0o600})
}

func (b bundles) serverFiles() []string { return b.servers }

// skills are the folders of skills and commands.
func (b bundles) skills() []skills.Plugin {
	var out []skills.Plugin
	for _, p := range b.used {
		out = append(out, skills.Plugin{Name: p.Name, Skills: p.Bundle.Skills, Commands: p.Bundle.Commands})
	}
	return out
}

// agents are the folders and files of agents.
func (b bundles) agents() []string {
	var out []string
	for _, p := range b.used {
		out = append(out, p.Bundle.Agents...)
	}
	return out
}

// changed lists plugins whose copies are no longer what was accepted: they ask again.
func (b bundles) changed() []permission.TrustItem {
	var items []permission.TrustItem
	for _, p := range b.all {
		if p.Problem != "" || p.Intact() {
			continue
		}
		item := permission.TrustItem{Kind: permission.TrustBundle, Name: p.Name, Hash: p.Now, File: p.Bundle.Dir}
		for _, row := range p.Bundle.Rows {
			item.Runs = append(item.Runs, row.String())
		}
		items = append(items, item)
	}
	return items
}

// pluginState says what becomes of a plugin.
func pluginState(p plugins.Plugin) string {
	switch {
	case p.Problem != "":
		return "broken"
	case !p.Intact():
		return "changed"
	}
	return "on"
}

// pluginDetail is all that there is to say of a plugin, a line each.
func pluginDetail(p plugins.Plugin) []string {
	from := "from " + p.Address.String()
	if p.Commit != "" {
		from += " at " + p.Commit
	}
	lines := []string{from}
	if p.Bundle == nil {
		return append(lines, p.Problem)
	}
	if p.Bundle.Description != "" {
		lines = append(lines, p.Bundle.Description)
	}
	if !p.Intact() {
		lines = append(lines, "its files have changed since you accepted them: nothing of it is used")
	}
	return append(append(lines, bundleLines(p.Bundle)...), p.Bundle.Problems...)
}

// bundleLines are what a plugin brings, and what that costs.
func bundleLines(b *plugins.Bundle) []string {
	var lines []string
	for _, row := range b.Rows {
		line := row.String()
		switch row.Kind {
		case "agent", "language server":
			line += " (not used by this jcode)"
		}
		lines = append(lines, line)
	}
	if len(b.Rows) == 0 {
		lines = append(lines, "it brings nothing")
	}
	return append(lines, fmt.Sprintf("about %d tokens in each request, beside those of its MCP servers' tools", b.Tokens))
}

// pluginActions is what a person can do with plugins.
type pluginActions struct{ *app }

// panel shows the plugins.
func (a pluginActions) panel() tui.Panel {
	return tui.Panel{
		Name: "plugins", Help: "plugins: what each brings, its state and cost", Title: "Plugins",
		Empty: "No plugins. jcode plugins add FOLDER-OR-GIT-ADDRESS adds one.",
		Rows: func(context.Context) ([]tui.Row, error) {
			list, err := a.pluginStore().List()
			var rows []tui.Row
			for _, p := range list {
				row := tui.Row{ID: p.Name, Name: p.Name, State: pluginState(p), Info: p.Version, Detail: text.Visible(strings.Join(pluginDetail(p), "\n")), Bad: !p.Intact()}
				if p.Bundle != nil {
					row.Info = strings.TrimSpace(p.Version + " " + p.Bundle.Description)
				}
				rows = append(rows, row)
			}
			return rows, err
		},
		Actions: []tui.Action{
			{Label: "look at it", Run: func(_ context.Context, row tui.Row) (string, error) { return row.Detail, nil }},
			{Key: "ctrl+d", Label: "remove", Confirm: true, Run: func(_ context.Context, row tui.Row) (string, error) {
				return "removed " + row.ID + "; what runs of it ends with this jcode", a.removePlugin(row.ID)
			}},
		},
	}
}

// removePlugin takes a plugin away without a trace.
func (a pluginActions) removePlugin(name string) error {
	s := a.pluginStore()
	if err := s.Remove(name); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(s.Dir, name+".mcp.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// plugins reports the plugins that are there.
func (d *doctor) plugins() {
	paths, err := findPaths(d.std)
	if err != nil {
		return // said elsewhere
	}
	list, err := plugins.Store{Dir: filepath.Join(paths.Data, "plugins")}.List()
	if err != nil {
		d.warn("plugins", "mend or remove that file", "%v", err)
	}
	for _, p := range list {
		switch {
		case p.Problem != "":
			d.warn("plugins", "jcode plugins update "+p.Name+" fetches it anew", "%s cannot be used: %s", p.Name, p.Problem)
		case !p.Intact():
			d.warn("plugins", "jcode plugins update "+p.Name+" fetches it anew", "%s is off: its files have changed since you accepted them", p.Name)
		case len(p.Bundle.Problems) > 0:
			d.warn("plugins", "", "%s: %s", p.Name, strings.Join(p.Bundle.Problems, "; "))
		default:
			d.ok("plugins", "%s: %d parts, about %d tokens in each request", p.Name, len(p.Bundle.Rows), p.Bundle.Tokens)
		}
	}
}

// pluginsCmd works with plugins, without a model.
type pluginsCmd struct {
	List   pluginsListCmd   `cmd:"" default:"withargs" help:"List the plugins with what they bring."`
	Add    pluginsAddCmd    `cmd:"" help:"Show what a plugin brings, and add it after your yes."`
	Update pluginsUpdateCmd `cmd:"" help:"Fetch plugins anew, show what changes, and take it over after your yes."`
	Remove pluginsRemoveCmd `cmd:"" help:"Remove plugins."`
}

type pluginsListCmd struct {
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

// Run lists the plugins.
func (c *pluginsListCmd) Run(ctx context.Context, std Streams) error {
	a := &app{flags: &flags{}, std: std}
	if err := a.findPlaces(ctx); err != nil {
		return err
	}
	list, err := a.pluginStore().List()
	if err != nil {
		return usageError("%w", err)
	}
	if c.JSON {
		lines := []pluginLine{}
		for _, p := range list {
			line := pluginLine{Name: p.Name, State: pluginState(p), Version: p.Version, From: p.Address.String(), Commit: p.Commit, Hash: p.Hash, Brings: []string{}}
			if p.Bundle != nil {
				line.Tokens = p.Bundle.Tokens
				for _, row := range p.Bundle.Rows {
					line.Brings = append(line.Brings, row.String())
				}
			}
			lines = append(lines, line)
		}
		return printJSON(std.Out, lines)
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	for _, p := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.Name, pluginState(p), text.Clean(p.Version))
		for _, line := range pluginDetail(p) {
			fmt.Fprintf(w, "  %s\n", text.Visible(line))
		}
	}
	return w.Flush()
}

type pluginsAddCmd struct {
	From   string `arg:"" help:"A folder, or a git address; #REF behind it names a branch, tag or commit."`
	Plugin string `arg:"" optional:"" help:"Which plugin, where that is a marketplace."`
	Yes    bool   `help:"Add it without a question."`
}

// Run fetches the plugin, shows what it brings, and asks.
func (c *pluginsAddCmd) Run(ctx context.Context, std Streams) error {
	a := &app{flags: &flags{}, std: std}
	if err := a.findPlaces(ctx); err != nil {
		return err
	}
	address, err := plugins.ParseAddress(c.From, c.Plugin)
	if err != nil {
		return usageError("%w", err)
	}
	return pluginActions{a}.takePlugin(ctx, address, "", c.Yes)
}

// takePlugin fetches a plugin, shows it whole, and keeps it after a yes. name is what an
// update expects, "" for a new one.
func (a pluginActions) takePlugin(ctx context.Context, address plugins.Address, name string, yes bool) error {
	s, w := a.pluginStore(), a.std.Err
	st, err := s.Stage(ctx, address)
	if err != nil {
		return usageError("%w", err)
	}
	defer st.Drop()
	if st.Offers != nil {
		fmt.Fprintln(a.std.Out, "This is a marketplace. Add one of its plugins by name:")
		for _, o := range st.Offers {
			fmt.Fprintln(a.std.Out, text.Visible(strings.TrimSpace("  "+o.Name+"  "+o.Description)))
		}
		return nil
	}
	switch before := st.Before; {
	case name != "" && st.Name != name:
		return usageError("%s is called %s now: remove %s and add it again", address, st.Name, name)
	case before != nil && (before.Address.From != address.From || before.Address.Plugin != address.Plugin):
		return usageError("a plugin named %s is there already, from %s: remove it first (jcode plugins remove %s)", st.Name, before.Address, st.Name)
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
		for _, line := range append(bundleLines(st.Bundle), st.Bundle.Problems...) {
			fmt.Fprintln(w, "  "+text.Visible(line))
		}
	}
	if !yes {
		if !a.std.InIsTerminal {
			return usageError("plugins: nobody can be asked here; --yes accepts what is shown above")
		}
		fmt.Fprint(w, "Use it? It runs with your rights. [y/N] ")
		var word string
		if _, err := fmt.Fscanln(a.std.In, &word); err != nil && word == "" || !slices.Contains([]string{"y", "yes"}, strings.ToLower(word)) {
			fmt.Fprintln(w, "nothing was changed")
			return nil
		}
	}
	if err := s.Keep(st); err != nil {
		return usageError("%w", err)
	}
	fmt.Fprintf(w, "%s is in use from the next start of jcode on\n", st.Name)
	return nil
}

// orNone is a version, else the beginning of a commit, else a word for neither.
func orNone(version, commit string) string {
	switch {
	case version != "":
		return text.Visible(version)
	case commit != "":
		return commit[:min(len(commit), 12)]
	}
	return "without a version"
}

type pluginsUpdateCmd struct {
	Names []string `arg:"" optional:"" help:"Which; all without a name."`
	Yes   bool     `help:"Take over what changed without a question."`
}

// Run updates the plugins one after another.
func (c *pluginsUpdateCmd) Run(ctx context.Context, std Streams) error {
	a := &app{flags: &flags{}, std: std}
	if err := a.findPlaces(ctx); err != nil {
		return err
	}
	list, err := a.pluginStore().List()
	if err != nil {
		return usageError("%w", err)
	}
	for _, name := range c.Names {
		if !slices.ContainsFunc(list, func(p plugins.Plugin) bool { return p.Name == name }) {
			return usageError("there is no plugin %s; jcode plugins list shows those that are", name)
		}
	}
	var errs []error
	for _, p := range list {
		if len(c.Names) == 0 || slices.Contains(c.Names, p.Name) {
			errs = append(errs, pluginActions{a}.takePlugin(ctx, p.Address, p.Name, c.Yes))
		}
	}
	return errors.Join(errs...)
}

type pluginsRemoveCmd struct {
	Names []string `arg:"" help:"Which."`
}

// Run removes the plugins.
func (c *pluginsRemoveCmd) Run(ctx context.Context, std Streams) error {
	a := &app{flags: &flags{}, std: std}
	if err := a.findPlaces(ctx); err != nil {
		return err
	}
	for _, name := range c.Names {
		if err := (pluginActions{a}).removePlugin(name); err != nil {
			return usageError("%w", err)
		}
		fmt.Fprintln(std.Err, "removed "+name)
	}
	return nil
}
