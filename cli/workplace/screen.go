package workplacecli

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/launch"
	"jcode/internal/text"
	"jcode/session"
	"jcode/skills/instructions"
	"jcode/tui/front"
)

// Shown is what the chat shows of its folder.
type Shown struct {
	Git     launch.Git
	Dir     string
	Roots   []string // folders whose instructions count
	Resumed bool     // a session is resumed: the last one is no news
	Recent  func(ctx context.Context) ([]session.Session, error)
	Session func() string // that of the open conversation, "" without one
}

// Project returns what the start shows of the folder.
func (s Shown) Project(ctx context.Context) (out front.Project) {
	if !s.Resumed {
		here := s.Session()
		all, err := s.Recent(ctx)
		if i := slices.IndexFunc(all, func(row session.Session) bool { return row.Messages > 0 && row.ID != here && !row.Private }); err == nil && i >= 0 {
			out.Last, out.LastAt = cmp.Or(all[i].Title, session.ShortTitle(all[i].FirstPrompt)), all[i].Updated
		}
	}
	for _, dir := range s.Roots {
		for _, name := range instructions.Names() {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil && out.Instructions == "" {
				out.Instructions = name
			}
		}
	}
	out.Branch = s.Branch(ctx)
	return out
}

// gitLimit is how long git may take to say which files differ.
const gitLimit = 2 * time.Second

// Branch returns the branch of the folder's repository, with a * if tracked files differ from it; "" without one.
func (s Shown) Branch(ctx context.Context) string {
	if s.Git.Vouched(s.Dir) != nil {
		return ""
	}
	ctx, stop := context.WithTimeout(ctx, gitLimit)
	defer stop()
	cmd, err := s.Git.Command(ctx, s.Dir, "--no-optional-locks", "status", "--porcelain=v1", "--branch", "--untracked-files=no", "--ignore-submodules")
	if err != nil {
		return ""
	}
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	head, rest, _ := bytes.Cut(out, []byte("\n"))
	name := strings.TrimPrefix(string(head), "## ")
	name = strings.TrimPrefix(name, "No commits yet on ")
	name, _, _ = strings.Cut(name, "...")
	if strings.HasPrefix(name, "HEAD (no branch)") {
		name = "no branch"
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		name += "*"
	}
	return text.OneLine(text.Clean(name))
}
