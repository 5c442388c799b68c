// Package worktreescli is the worktrees of git in which agents and sessions work: how one is made and found again
// (AgentTrees, SessionTrees), what works in it (Site, the first to read, in site.go), when its files are there (start.go),
// how its changes come back (merge.go), and /worktree (Command). Jcode itself is wired for a worktree by cli/openworkplace.go,
// which hands in what a Site uses of it. What git does is package internal/worktree.
package worktreescli
