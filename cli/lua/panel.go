package luacli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

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
		Name: "lua", Help: "Lua tools and plugins: state, permissions, log", Title: "Lua", Words: a.words, Shows: command.Showing("errors", "log"),
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

// words runs /lua errors, /lua reload [NAME], /lua log [NAME] and /lua allow [PLUGIN] RIGHT.
func (a actions) words(ctx context.Context, words string) (string, error) {
	verb, name, _ := strings.Cut(strings.TrimSpace(words), " ")
	name = strings.TrimSpace(name)
	var lines []string
	switch verb {
	case "errors":
		for _, it := range a.room.Errors() {
			lines = append(lines, it.Name+" ("+it.State+"): "+cmp.Or(it.Detail, it.LastError))
		}
		if lines == nil {
			return "no Lua errors", nil
		}
	case "reload":
		return strings.TrimSpace("reloading " + name), a.room.Reload(name)
	case "allow":
		return a.allow(ctx, name)
	case "log":
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
	default:
		return "", fmt.Errorf("/lua %s: say errors, reload [NAME], log [NAME], or allow network", verb)
	}
	return strings.Join(lines, "\n"), nil
}
