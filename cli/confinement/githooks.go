package confinementcli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"jcode/internal/launch"
	"jcode/internal/paths"
)

// hookAge is how long git's answer is cached: the files that could change it are protected too.
const hookAge = 2 * time.Second

// GitHooks knows where git looks for hooks besides its own folder (core.hooksPath), according to git
// itself. It is safe for concurrent use.
type GitHooks struct {
	Git launch.Git

	mu    sync.Mutex
	asked time.Time
	known []string
}

// In returns the resolved folders from which git runs hooks in the roots.
func (h *GitHooks) In(roots []string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.asked) < hookAge {
		return h.known
	}
	h.known = nil
	for _, root := range roots {
		h.known = append(h.known, h.hooksOf(root)...)
	}
	h.asked = time.Now()
	return h.known
}

// hooksOf asks git. Without git, or outside a repository, there are none.
func (h *GitHooks) hooksOf(root string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	cmd, err := h.Git.Command(ctx, root, "config", "--type=path", "--null", "--get-all", "core.hooksPath")
	if err != nil {
		return nil
	}
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	var list []string
	for dir := range strings.SplitSeq(string(out), "\x00") {
		if dir == "" || dir == os.DevNull { // the second is our own
			continue
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		if real, err := paths.Resolve(dir); err == nil && real != root {
			list = append(list, real)
		}
	}
	return list
}
