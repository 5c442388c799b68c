// Package agentscli is sub-agents as a user sees them: the list of /agents and what is done there (Actions in panel.go, the
// first to read), what each works on (work.go), the roles in which agents start (Definitions), and what keeps an agent in a
// worktree out of the checkouts that it is a copy of (CheckoutGuard). Agents at work are in package agent/crew, their
// worktrees in cli/worktrees.
package agentscli
