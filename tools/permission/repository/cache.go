package repository

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// answers remembers git's answers about folders, so that git is asked once as long as nothing changes that
// the answer depends on.
type answers struct {
	mu    sync.Mutex
	known map[string]answer
}

type answer struct{ state, why string }

// maxAnswers bounds how many folders are remembered.
const maxAnswers = 64

// settled is how old a change must be before the state is trusted: two changes within one tick of the clock
// look alike.
const settled = time.Second

// recall returns the answer for a folder, and asks for it if there is none for this state.
func (a *answers) recall(dir, state string, ask func() string) string {
	a.mu.Lock()
	known, ok := a.known[dir]
	a.mu.Unlock()
	if ok && state != "" && known.state == state {
		return known.why
	}
	why := ask()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil || len(a.known) >= maxAnswers {
		a.known = map[string]answer{}
	}
	a.known[dir] = answer{state, why}
	return why
}

// stateOf describes the files that decide which repository git uses and what is set in it; "" while one of
// them was changed too recently to tell.
func stateOf(found []candidate) string {
	var b strings.Builder
	note := func(path string, times bool) bool {
		info, err := os.Lstat(path)
		if err != nil {
			_, _ = fmt.Fprintf(&b, "%q absent\n", path) // a builder never fails
			return true
		}
		id, changed := identity(info)
		_, _ = fmt.Fprintf(&b, "%q %s %v", path, id, info.Mode())
		if times {
			_, _ = fmt.Fprintf(&b, " %d %d %d", info.Size(), info.ModTime().UnixNano(), changed.UnixNano())
		}
		b.WriteByte('\n')
		return !times || time.Since(changed) > settled
	}
	for _, r := range found {
		for _, file := range []string{
			filepath.Join(r.own, "HEAD"), filepath.Join(r.own, "commondir"), filepath.Join(r.own, "gitdir"), filepath.Join(r.common, "config"), filepath.Join(r.own, "config.worktree"),
		} {
			if !note(file, true) {
				return ""
			}
		}
		for _, dir := range []string{r.top, filepath.Join(r.top, ".git"), r.own, r.common, filepath.Join(r.common, "objects"), filepath.Join(r.common, "refs")} {
			note(dir, false)
		}
		if info, err := os.Lstat(filepath.Join(r.top, ".git")); err == nil && !info.IsDir() && !note(filepath.Join(r.top, ".git"), true) {
			return ""
		}
	}
	return b.String()
}
