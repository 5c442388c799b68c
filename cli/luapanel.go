package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"jcode/tui"
)

// luaPanel shows every tool, plugin and the startup script, and what protects hosts.
func (a *app) luaPanel() tui.Panel {
	return tui.Panel{
		Name: "lua", Help: "Lua tools and plugins: state, permissions, log", Title: "Lua",
		Empty: "No Lua. `jcode lua new NAME` writes a tool; the agent can write one, too. Places: .jcode/lua and " + filepath.Join(a.paths.Config, "lua") + ".",
		Rows: func(context.Context) ([]tui.Row, error) {
			p := a.lua.room.Panel()
			layers := "no host has run yet"
			if len(p.Layers) > 0 {
				layers = "hosts run with: " + strings.Join(p.Layers, ", ")
			}
			var rows []tui.Row
			for _, it := range p.Items {
				detail := []string{it.Kind + " " + it.Name + " (" + it.Scope + "), " + it.Path, "permissions: " + it.Permissions}
				if len(it.Intents) > 0 {
					detail = append(detail, "intents: "+strings.Join(it.Intents, ", "))
				}
				if it.Detail != "" {
					detail = append(detail, it.Detail)
				}
				if it.LastError != "" {
					detail = append(detail, "last run: "+it.LastError)
				}
				for _, l := range a.lua.room.Log(it.Name) {
					detail = append(detail, fmt.Sprintf("%s %s: %s", l.At.Format("15:04:05"), l.Level, l.Text))
				}
				rows = append(rows, tui.Row{
					ID: it.Name, Name: it.Name, Info: it.Kind + ", " + it.Scope, State: it.State,
					Detail: strings.Join(append(detail, layers), "\n"), Bad: it.State != "ok" && it.State != "needs approval",
				})
			}
			return rows, nil
		},
		Actions: []tui.Action{{Label: "reload", Run: func(_ context.Context, row tui.Row) (string, error) {
			return "reloading " + row.ID, a.lua.room.Reload(row.ID)
		}}},
	}
}
