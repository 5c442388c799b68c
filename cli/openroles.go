package cli

import (
	"context"

	rolescli "jcode/cli/roles"
	"jcode/tools"
	"jcode/tools/permission"
)

// newRoleFiles returns the roles that this folder sees.
func newRoleFiles(a *app) rolescli.Files {
	root := a.root
	if a.originals != nil {
		root = a.originals[0]
	}
	return rolescli.Files{Store: a.store, Say: a.board.Say, Paths: a.paths, Root: root, Denied: readDenied(a.gate), Plugins: a.bundles.Agents, Trusted: a.trusted}
}

// readDenied returns whether the person's rules forbid reading a file, by its resolved path.
func readDenied(gate *permission.Gate) func(path string) bool {
	return func(path string) bool { return gate != nil && gate.Denied(tools.AccessRead, path) != "" }
}

// newRoleWatch returns what follows the files of roles.
func newRoleWatch(a *app) rolescli.Watch {
	return rolescli.Watch{Board: &a.board, Layers: newRoleFiles(a).Layers, Again: a.rolesAgain, Agents: a.bundles.Agents, OnClose: a.onClose}
}

// newRoleActions returns the actions of a person on roles.
func newRoleActions(a *app) rolescli.Actions {
	return rolescli.Actions{Layers: newRoleFiles(a).Layers, Store: a.store, Board: &a.board, Std: a.std.Streams, Paths: a.paths, Editor: a.programs(), Reenter: newRoleWatch(a).Reenter}
}

// newRoleSetup returns what the commands of `jcode roles` are given.
func newRoleSetup(f *flags, std Streams) rolescli.Setup {
	return rolescli.Setup{Streams: std.Streams, Open: func(ctx context.Context) (rolescli.Opened, error) {
		a, err := openKept(ctx, f, std)
		if err != nil {
			return rolescli.Opened{}, err
		}
		return rolescli.Opened{Files: newRoleFiles(a), Actions: newRoleActions(a), Close: a.close}, nil
	}}
}
