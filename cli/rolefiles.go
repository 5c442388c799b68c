package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/session"
	"jcode/session/role"
	"jcode/tools"
	"jcode/tools/permission"
)

// roleFiles are the roles that this folder sees.
type roleFiles struct {
	store   *session.Store
	board   *board.Board
	paths   config.Paths
	root    string           // the project whose roles count
	gate    *permission.Gate // nil where nothing is called
	plugins func() []role.PluginAgents
	trusted func(ctx context.Context, kind tools.TrustKind, name, hash string) bool
}

func newRoleFiles(a *app) roleFiles {
	root := a.root
	if a.originals != nil {
		root = a.originals[0]
	}
	return roleFiles{a.store, &a.board, a.paths, root, a.gate, a.bundles.Agents, a.trusted}
}

// layers looks roles up.
func (a roleFiles) layers() *role.Layers {
	layers := &role.Layers{
		Rows:          a.store.Roles(),
		Project:       a.root,
		ProjectDir:    filepath.Join(a.root, ".jcode", "roles"),
		ProjectAgents: filepath.Join(a.root, ".claude", "agents"),
		Denied:        readDenied(a.gate),
		UserDir:       filepath.Join(a.paths.Config, "roles"),
		PluginAgents:  a.plugins(),
		Trusted: func(r role.Role) bool {
			item := roleItem(a.root, r)
			return a.trusted(context.Background(), item.Kind, item.Name, item.Hash)
		},
	}
	if a.paths.Home != "" {
		layers.UserAgents = filepath.Join(a.paths.Home, ".claude", "agents")
	}
	return layers
}

// readDenied returns whether the person's rules forbid reading a file, by its resolved path.
func readDenied(gate *permission.Gate) func(path string) bool {
	return func(path string) bool { return gate != nil && gate.Denied(tools.AccessRead, path) != "" }
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
func (a roleFiles) get(ctx context.Context, name string) (role.Role, error) {
	r, err := a.layers().Get(ctx, name)
	return r, console.AsUsage(err)
}

// replaced says which trusted roles of the project have taken over a name.
func (a roleFiles) replaced() []string {
	layers := a.layers()
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

// reaching are the project's roles that do more than narrow, and those that take over
// a name.
func (a roleFiles) reaching() []tools.TrustItem {
	layers := a.layers()
	if !hasProjectRoles(layers) {
		return nil
	}
	layers.Trusted = nil // as if all were trusted: what they would replace
	all, err := layers.List(context.Background())
	if err != nil {
		a.board.Say(event.LevelWarn, "roles: %v", err)
	}
	var items []tools.TrustItem
	for _, l := range all {
		if !l.Source.FromProject() && (l.Source != role.UserAgents || l.Hooks == nil) || !l.WantsTrust() && len(l.Shadowed) == 0 {
			continue
		}
		item := roleItem(a.root, l.Role)
		if len(l.Shadowed) > 0 {
			item.Runs = append(item.Runs, replacesRole(l.Shadowed[0]))
		}
		items = append(items, item)
	}
	return items
}
