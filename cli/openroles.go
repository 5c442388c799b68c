package cli

// Roles and agents: an agent works in a role, and its definition is one.

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"

	agentscli "jcode/cli/agents"
	rolescli "jcode/cli/roles"
	"jcode/internal/system"
	"jcode/session/role"
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

// newRoleStarts returns what enters the role in which a conversation begins.
func newRoleStarts(a *app) rolescli.Starts {
	return rolescli.Starts{
		Flags: rolescli.Flags{Role: &a.flags.Role, Values: &a.flags.Var, Print: a.flags.Print}, Board: &a.board, Store: a.store, Layers: newRoleFiles(a).Layers,
		Scopes: newRoleScopes(a), First: &a.firstRole, Prelude: func() string { return a.config.Prelude.Role },
	}
}

// newRoleScopes returns what resolves roles for conversations.
func newRoleScopes(a *app) rolescli.Scopes {
	shell := filepath.Base(a.std.Getenv("SHELL"))
	if shell == "." {
		shell = system.ShellName()
	}
	names := rolescli.Names{Load: func(ctx context.Context) { a.list.Load(ctx) }, Registry: a.registry}
	if !a.flags.NoMCP {
		names.Servers = a.mcp.Known
	}
	if !a.flags.NoSkills {
		names.Skills = a.guidance.Registry()
	}
	return rolescli.Scopes{
		Layers: newRoleFiles(a).Layers, Names: names, Vars: role.Vars{Cwd: a.cwd, OS: runtime.GOOS, Shell: shell, Project: a.root},
		Know: func(r role.Role, scope *tools.Scope) {
			a.memory.knowRole(r, scope)
			a.documents.KnowRole(r)
			a.userHooks.Know(r, rolescli.Item)
		},
	}
}

// variableWords completes --var with the variables of the role that --role names before it.
func variableWords(ctx context.Context, words []string, std Streams) []candidate {
	name := ""
	for i, w := range words {
		if value, ok := strings.CutPrefix(w, "--role="); ok {
			name = value
		} else if w == "--role" && i+1 < len(words) {
			name = words[i+1]
		}
	}
	return keptNames(ctx, std, func(a nameLists, ctx context.Context) []candidate {
		r, err := a.roles().Get(ctx, name)
		if err != nil {
			return nil
		}
		var out []candidate
		for _, v := range r.Variables {
			for _, c := range v.Choices {
				out = append(out, candidate{v.Name + "=" + c, v.Description})
			}
			if v.Choices == nil {
				out = append(out, candidate{v.Name + "=", v.Description})
			}
		}
		return out
	})
}

// newDefinitions returns the actions of a person on definitions of agents.
func newDefinitions(a *app) agentscli.Definitions {
	return agentscli.Definitions{Roles: newRoleActions(a), Registry: a.registry}
}

// newAgentActions returns the actions of a person on sub-agents.
func newAgentActions(a *app) agentscli.Actions {
	return agentscli.Actions{
		Board: &a.board, Store: a.store, Definitions: newDefinitions(a), Project: a.project, Root: a.root, Git: a.git, Worktrees: agentFolder(a),
		Copied: func() []string { return a.config.Worktree.Copy },
	}
}
