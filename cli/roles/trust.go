package rolescli

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	hookscli "jcode/cli/hooks"
	"jcode/internal/paths"
	"jcode/internal/slicex"
	"jcode/internal/startfiles"
	"jcode/internal/text"
	"jcode/session/role"
	"jcode/tools"
)

// Item presents a role of the project in root for a person's decision.
func Item(root string, r role.Role) tools.TrustItem {
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
		names := slicex.Map(r.Variables, func(v role.Variable) string { return v.Name })
		item.Runs = append(item.Runs, "asks for values: "+strings.Join(names, ", "))
	}
	list, _ := hookscli.OfRole(r)
	for _, hook := range list {
		item.Runs = append(item.Runs, "hook  "+text.Visible(hook.Line()))
		item.Hash = startfiles.Pin(item.Hash, root, hook.Shown())
	}
	return item
}

// replacesRole says whose name a project's role takes over.
func replacesRole(own role.Role) string {
	switch own.Source {
	case role.Builtin:
		return "replaces the builtin role " + own.Name
	case role.Plugin:
		return "replaces the role of a plugin " + text.Visible(own.Name)
	}
	return "replaces your own role " + text.Visible(own.Name)
}
