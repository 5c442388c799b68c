package pluginscli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"jcode/cli/console"
	"jcode/cli/health"
	"jcode/internal/slicex"
	"jcode/internal/text"
	mcpconfig "jcode/mcp/config"
	"jcode/plugins"
	"jcode/session/role"
	"jcode/skills"
	"jcode/tools/command"
)

// state describes the state of a plugin.
func state(p plugins.Plugin) string {
	switch {
	case p.Problem != "":
		return "broken"
	case p.Off:
		return "off"
	case !p.Intact():
		return "changed"
	}
	return "on"
}

// describe returns what there is to say of a plugin, one line per fact.
func describe(p plugins.Plugin) []string {
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
	lines = append(lines, bundleLines(p.Bundle)...)
	for _, fault := range faultsOf(p.Bundle) {
		lines = append(lines, "broken: "+fault)
	}
	return lines
}

// bundleLines lists what a plugin brings, and what that costs.
func bundleLines(b *plugins.Bundle) []string {
	lines := slicex.Map(b.Rows, plugins.Row.String)
	if len(b.Rows) == 0 {
		lines = append(lines, "it contains nothing")
	}
	return append(lines, fmt.Sprintf("about %d tokens in each request, in addition to those of its MCP servers' tools", b.Tokens))
}

// faultsOf lists the parts of a plugin that cannot be used, with the reasons.
func faultsOf(b *plugins.Bundle) []string {
	out := append([]string{}, b.Problems...)
	add := func(file, line string) {
		if rel, err := filepath.Rel(b.Dir, file); err == nil && filepath.IsLocal(rel) {
			line = strings.Replace(line, file, rel, 1)
		}
		out = append(out, text.OneLine(line))
	}
	list := skills.NewCommandFiles(skills.Places{Plugins: func() []skills.Plugin {
		return []skills.Plugin{{Name: b.Name, Commands: b.Commands}}
	}}, nil, nil).Diagnostics()
	for _, dir := range b.Skills {
		list = append(list, skills.Check(dir)...)
	}
	for _, d := range list {
		if d.Level == skills.Fault {
			add(d.File, d.String())
		}
	}
	agents := role.Layers{PluginAgents: []role.PluginAgents{{Plugin: b.Name, Paths: b.Agents}}}
	all, err := agents.List(context.Background())
	if err != nil {
		out = append(out, err.Error())
	}
	for _, l := range all {
		if err := l.Usable(); err != nil && l.Source == role.Plugin {
			add(l.Path, err.Error())
		}
	}
	for _, l := range b.Languages {
		if _, err := exec.LookPath(l.Command[0]); err != nil {
			out = append(out, fmt.Sprintf("language server %s: %s is not installed", l.Name, l.Command[0]))
		}
	}
	return out
}

// Home is where plugins are kept, and what of others they touch.
type Home struct {
	Store   plugins.Store
	Logs    string                              // of MCP servers
	Servers func() mcpconfig.Paths              // where servers are configured
	Permit  func(name, from, hash string) error // returns why a plugin may not be used; nil permits all
}

// actions are the actions of a person on plugins.
type actions struct {
	Home
	std     console.Streams
	changed func() // puts changes into force
}

// panel shows the plugins.
func (a actions) panel() command.Panel {
	act := func(done string, f func(name string) error) func(context.Context, command.Row) (string, error) {
		return func(_ context.Context, row command.Row) (string, error) {
			if err := f(row.ID); err != nil {
				return "", err
			}
			a.changed()
			return done + " " + row.ID, nil
		}
	}
	return command.Panel{
		Name: "plugins", Help: "plugins: what each contains, its state and cost; on and off, accept, remove", Title: "Plugins",
		Empty: "No plugins. jcode plugins add FOLDER-OR-GIT-ADDRESS adds one.",
		Rows: func(context.Context) ([]command.Row, error) {
			list, err := a.Store.List()
			var rows []command.Row
			for _, p := range list {
				row := command.Row{ID: p.Name, Name: p.Name, State: state(p), Info: p.Version, Detail: text.Visible(strings.Join(describe(p), "\n")), Bad: !p.Intact()}
				row.Keys = []string{"look at it", "on or off", "remove"}
				if p.Problem == "" && !p.Intact() {
					row.Keys = append(row.Keys, "accept it as it is")
				}
				if p.Bundle != nil {
					row.Info = strings.TrimSpace(p.Version + " " + p.Bundle.Description)
					row.Bad = row.Bad || len(faultsOf(p.Bundle)) > 0
				}
				rows = append(rows, row)
			}
			return rows, err
		},
		Actions: []command.Action{
			{Label: "look at it", Run: func(_ context.Context, row command.Row) (string, error) { return row.Detail, nil }},
			{Key: "ctrl+e", Label: "on or off", Run: act("switched", a.toggle)},
			{Key: "ctrl+t", Label: "accept it as it is", Confirm: true, Run: act("accepted", a.accept)},
			{Key: "ctrl+d", Label: "remove", Confirm: true, Run: act("removed", a.remove)},
		},
	}
}

// plugin finds an installed plugin.
func (a actions) plugin(name string) (plugins.Plugin, error) {
	list, err := a.Store.List()
	if err != nil {
		return plugins.Plugin{}, err
	}
	for _, p := range list {
		if p.Name == name {
			return p, nil
		}
	}
	return plugins.Plugin{}, fmt.Errorf("there is no plugin %s; jcode plugins list shows the installed ones", name)
}

func (a actions) toggle(name string) error {
	p, err := a.plugin(name)
	if err != nil {
		return err
	}
	return a.Store.Enable(name, p.Off)
}

// accept accepts a plugin whose files have changed in its present form.
func (a actions) accept(name string) error {
	p, err := a.plugin(name)
	switch {
	case err != nil:
		return err
	case p.Problem != "":
		return fmt.Errorf("%s cannot be used: %s", name, p.Problem)
	case p.Intact():
		return fmt.Errorf("%s is as you accepted it", name)
	}
	return a.Store.Accept(name, p.Now)
}

// remove removes a plugin completely: its copy, its servers' file and their logs.
func (a actions) remove(name string) error {
	s := a.Store
	p, err := a.plugin(name)
	if err != nil {
		return err
	}
	if err := s.Remove(name); err != nil {
		return err
	}
	a.changed() // its servers end before their logs are removed
	if err := os.RemoveAll(dataOf(s, name)); err != nil {
		return err
	}
	if err := os.Remove(serversFile(s, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if p.Bundle == nil {
		return nil
	}
	left := mcpconfig.Load(a.Servers()).Choose(func(mcpconfig.Entry) bool { return true })
	for server := range p.Bundle.Servers {
		key := mcpconfig.KeyFor(server)
		if _, used := left[key]; !used {
			_ = os.Remove(filepath.Join(a.Logs, key+".log")) // it exists only after a start
		}
	}
	return nil
}

// Check reports the installed plugins.
func Check(_ context.Context, store plugins.Store, d *health.Report) {
	list, err := store.List()
	if err != nil {
		d.Warn("plugins", "fix or remove that file", "%v", err)
	}
	for _, p := range list {
		var faults []string
		if p.Bundle != nil {
			faults = faultsOf(p.Bundle)
		}
		switch {
		case p.Problem != "":
			d.Warn("plugins", "jcode plugins update "+p.Name+" fetches it again", "%s cannot be used: %s", p.Name, p.Problem)
		case p.Off:
			d.OK("plugins", "%s is switched off", p.Name)
		case !p.Intact():
			d.Warn("plugins", "jcode plugins update "+p.Name+" fetches it again", "%s is off: its files have changed since you accepted them", p.Name)
		case len(faults) > 0:
			d.Warn("plugins", "", "%s: %s", p.Name, strings.Join(faults, "; "))
		default:
			d.OK("plugins", "%s: %s; about %d tokens in each request", p.Name, brings(p.Bundle), p.Bundle.Tokens)
		}
	}
}

// brings counts the parts of a plugin by kind.
func brings(b *plugins.Bundle) string {
	count := map[string]int{}
	var kinds, parts []string
	for _, row := range b.Rows {
		if count[row.Kind]++; count[row.Kind] == 1 {
			kinds = append(kinds, row.Kind)
		}
	}
	for _, kind := range kinds {
		parts = append(parts, text.Count(count[kind], kind))
	}
	if parts == nil {
		return "contains nothing"
	}
	return strings.Join(parts, ", ")
}
