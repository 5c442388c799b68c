package rolescli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"jcode/agent/event"
	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/session"
	"jcode/session/role"
	"jcode/tools"
)

// Files are the roles that this folder sees.
type Files struct {
	Store   *session.Store
	Say     func(level event.Level, format string, args ...any)
	Paths   config.Paths
	Root    string                 // the project whose roles count
	Denied  func(path string) bool // whether the person's rules forbid reading a file, by its resolved path
	Plugins func() []role.PluginAgents
	Trusted func(ctx context.Context, kind tools.TrustKind, name, hash string) bool
}

// Layers looks roles up.
func (a Files) Layers() *role.Layers {
	layers := &role.Layers{
		Rows:          a.Store.Roles(),
		Project:       a.Root,
		ProjectDir:    filepath.Join(a.Root, ".jcode", "roles"),
		ProjectAgents: filepath.Join(a.Root, ".claude", "agents"),
		Denied:        a.Denied,
		UserDir:       filepath.Join(a.Paths.Config, "roles"),
		PluginAgents:  a.Plugins(),
		Trusted: func(r role.Role) bool {
			item := Item(a.Root, r)
			return a.Trusted(context.Background(), item.Kind, item.Name, item.Hash)
		},
	}
	if a.Paths.Home != "" {
		layers.UserAgents = filepath.Join(a.Paths.Home, ".claude", "agents")
	}
	return layers
}

// hasProjectRoles reports whether the project has roles: most have none, and then nothing else needs to be read.
func hasProjectRoles(layers *role.Layers) bool {
	for _, dir := range []string{layers.ProjectDir, layers.ProjectAgents} {
		if _, err := os.Stat(dir); err == nil {
			return true
		}
	}
	return false
}

// get returns the role of a name that takes precedence.
func (a Files) get(ctx context.Context, name string) (role.Role, error) {
	r, err := a.Layers().Get(ctx, name)
	return r, console.AsUsage(err)
}

// Replaced says which trusted roles of the project have taken over a name.
func (a Files) Replaced() []string {
	layers := a.Layers()
	if !hasProjectRoles(layers) {
		return nil
	}
	all, _ := layers.List(context.Background()) // reaching says what can't be read
	var out []string
	for _, l := range all {
		if l.Source.FromProject() && len(l.Shadowed) > 0 {
			out = append(out, fmt.Sprintf("role %s is this project's (%s): it %s", l.Name, l.Path, replacesRole(l.Shadowed[0])))
		}
	}
	return out
}

// Reaching are the project's roles that do more than narrow, and those that take over
// a name.
func (a Files) Reaching() []tools.TrustItem {
	layers := a.Layers()
	if !hasProjectRoles(layers) {
		return nil
	}
	layers.Trusted = nil // as if all were trusted: what they would replace
	all, err := layers.List(context.Background())
	if err != nil {
		a.Say(event.LevelWarn, "roles: %v", err)
	}
	var items []tools.TrustItem
	for _, l := range all {
		if !l.Source.FromProject() && (l.Source != role.UserAgents || l.Hooks == nil) || !l.WantsTrust() && len(l.Shadowed) == 0 {
			continue
		}
		item := Item(a.Root, l.Role)
		if len(l.Shadowed) > 0 {
			item.Runs = append(item.Runs, replacesRole(l.Shadowed[0]))
		}
		items = append(items, item)
	}
	return items
}
