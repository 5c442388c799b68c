package cli

import agentscli "jcode/cli/agents"

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
