package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"jcode/agent"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/session/role"
	"jcode/tools"
)

// roleItem is a project's role as a person decides on it.
func roleItem(r role.Role) tools.TrustItem {
	sum := sha256.Sum256([]byte(r.Text))
	item := tools.TrustItem{Kind: tools.TrustRole, Name: r.Name, Hash: hex.EncodeToString(sum[:]), File: r.Path}
	if r.Model != "" {
		item.Runs = append(item.Runs, "model: "+text.Visible(r.Model))
	}
	if len(r.Servers) > 0 {
		item.Runs = append(item.Runs, "mcp_servers: "+text.Visible(strings.Join(r.Servers, ", ")))
	}
	if out := slices.DeleteFunc(slices.Clone(r.Documents), func(s string) bool { return !paths.LeadsOut(s) }); len(out) > 0 {
		item.Runs = append(item.Runs, "reads documents outside of this project: "+text.Visible(strings.Join(out, ", ")))
	}
	if len(r.Variables) > 0 {
		names := make([]string, len(r.Variables))
		for i, v := range r.Variables {
			names[i] = v.Name
		}
		item.Runs = append(item.Runs, "asks for values: "+strings.Join(names, ", "))
	}
	return item
}

// replacesRole says whose name a project's role takes.
func replacesRole(own role.Role) string {
	switch own.Source {
	case role.Builtin:
		return "replaces the builtin role " + own.Name
	case role.Plugin:
		return "replaces the role of a plugin " + text.Visible(own.Name)
	}
	return "replaces your own role " + text.Visible(own.Name)
}

// replacedRoles says which trusted roles of the project have taken over a name.
func (a *app) replacedRoles() []string {
	layers := a.roles()
	if !hasProjectRoles(layers) {
		return nil
	}
	all, _ := layers.List(context.Background()) // reachingRoles says what can't be read
	var out []string
	for _, l := range all {
		if l.Source.FromProject() && len(l.Shadowed) > 0 {
			out = append(out, fmt.Sprintf("role %s is this project's (%s): it %s", l.Name, l.Path, replacesRole(l.Shadowed[0])))
		}
	}
	return out
}

// readDenied reports whether the person's rules forbid to read a file, by its resolved path.
func (a *app) readDenied(path string) bool {
	return a.gate != nil && a.gate.Denied(tools.AccessRead, path) != ""
}

// reachingRoles are the project's roles that do more than narrow, and those that take over
// a name.
func (a *app) reachingRoles() []tools.TrustItem {
	layers := a.roles()
	if !hasProjectRoles(layers) {
		return nil
	}
	layers.Trusted = nil // as if all were trusted: what they would replace
	all, err := layers.List(context.Background())
	if err != nil {
		a.board.say(agent.LevelWarn, "roles: %v", err)
	}
	var items []tools.TrustItem
	for _, l := range all {
		if !l.Source.FromProject() || !l.WantsTrust() && len(l.Shadowed) == 0 {
			continue
		}
		item := roleItem(l.Role)
		if len(l.Shadowed) > 0 {
			item.Runs = append(item.Runs, replacesRole(l.Shadowed[0]))
		}
		items = append(items, item)
	}
	return items
}
