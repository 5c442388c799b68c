// Package agentscli is what of sub-agents needs nothing of a running jcode: what keeps an agent in a worktree out of the
// checkouts that the worktree is a copy of.
package agentscli
