package worktreescli

import (
	"context"
	"path/filepath"
	"strings"

	"jcode/cli/health"
	"jcode/internal/launch"
	"jcode/internal/worktree"
)

// Check names the worktrees below a folder that sub-agents left with changes, and those at which git fails.
func Check(ctx context.Context, git launch.Git, folder, root string, r *health.Report) {
	left, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	var agents, own []string
	for _, dir := range left {
		if strings.HasSuffix(filepath.Dir(dir), sessionSuffix) {
			own = append(own, dir)
		} else {
			agents = append(agents, dir)
		}
	}
	if err == nil && len(agents) > 0 {
		r.Warn("worktrees", "/agents in their session merges or discards them; /agents prune removes those without changes",
			"%d left by agents: %s", len(agents), strings.Join(agents, ", "))
	}
	if err == nil && len(own) > 0 {
		r.OK("worktrees", "%d of sessions, with what is not merged (jcode -w=NAME works in one): %s", len(own), strings.Join(own, ", "))
	}
	for _, dir := range worktree.Incomplete(ctx, git, root) {
		r.Warn("worktrees", "/agents prune removes it if it is an agent's; otherwise remove that folder, unless a git that creates a worktree is running",
			"git fails in this repository, because the entry %s of a worktree is incomplete", dir)
	}
}
