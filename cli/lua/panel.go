package luacli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"jcode/internal/slicex"
	"jcode/lua"
	"jcode/tools/command"
)

// actions are the actions of a person on Lua scripts: the panel and the words of /lua.
type actions struct {
	room   *lua.Room
	config string // the configuration folder
	allow  func(ctx context.Context, words string) (string, error)
}

// panel shows every tool, plugin and the startup script, and what protects hosts.
func (a actions) panel() command.Panel {
	return command.Panel{
		Name: "lua", Help: "Lua tools and plugins: state, permissions, log", Title: "Lua", Verbs: a.verbs(),
		Empty: "No Lua. `jcode lua new NAME` writes a tool; the agent can write one, too. Places: .jcode/lua and " + filepath.Join(a.config, "lua") + ".",
		Rows: func(context.Context) ([]command.Row, error) {
			p := a.room.Panel()
			layers := "no host has run yet"
			if len(p.Layers) > 0 {
				layers = "hosts run with: " + strings.Join(p.Layers, ", ")
			}
			var rows []command.Row
			for _, it := range p.Items {
				detail := []string{it.Kind + " " + it.Name + " (" + it.Scope + "), " + it.Path}
				detail = append(detail, it.Rights...)
				if len(it.Intents) > 0 {
					detail = append(detail, "intents: "+strings.Join(it.Intents, ", "))
				}
				if it.Detail != "" {
					detail = append(detail, it.Detail)
				}
				if it.LastError != "" {
					detail = append(detail, "last run: "+it.LastError)
				}
				for _, l := range a.room.Log(it.Name) {
					detail = append(detail, fmt.Sprintf("%s %s: %s", l.At.Format("15:04:05"), l.Level, l.Text))
				}
				rows = append(rows, command.Row{
					ID: it.Name, Name: it.Name, Info: it.Kind + ", " + it.Scope, State: it.State,
					Detail: strings.Join(append(detail, layers), "\n"), Bad: it.State != "ok" && it.State != "needs approval",
				})
			}
			return rows, nil
		},
		Actions: []command.Action{{Label: "reload", Run: func(_ context.Context, row command.Row) (string, error) {
			return "reloading " + row.ID, a.room.Reload(row.ID)
		}}},
	}
}

// verbs are the words of /lua.
func (a actions) verbs() command.Verbs {
	return Table().Verbs(a.names, command.Deeds{
		"errors": {Run: a.errors},
		"reload": {Run: func(_ context.Context, name string) (string, error) {
			return strings.TrimSpace("reloading " + name), a.room.Reload(name)
		}},
		"log":   {Run: a.log},
		"allow": {Run: a.allow, Complete: func(context.Context, string) []string { return []string{"network", "outside"} }},
	})
}

// names proposes the scripts.
func (a actions) names(context.Context, string) []string {
	return slicex.Map(a.room.Panel().Items, func(it lua.Item) string { return it.Name })
}

func (a actions) errors(context.Context, string) (string, error) {
	var lines []string
	for _, it := range a.room.Errors() {
		lines = append(lines, it.Name+" ("+it.State+"): "+cmp.Or(it.Detail, it.LastError))
	}
	if lines == nil {
		return "no Lua errors", nil
	}
	return strings.Join(lines, "\n"), nil
}

func (a actions) log(_ context.Context, name string) (string, error) {
	var lines []string
	for _, it := range a.room.Panel().Items {
		if name != "" && it.Name != name {
			continue
		}
		for _, l := range a.room.Log(it.Name) {
			lines = append(lines, fmt.Sprintf("%s %s %s: %s", l.At.Format("15:04:05"), it.Name, l.Level, l.Text))
		}
	}
	if lines == nil {
		return strings.TrimSpace("nothing was logged " + name), nil
	}
	return strings.Join(lines, "\n"), nil
}
