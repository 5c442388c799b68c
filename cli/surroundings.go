package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/cli/board"
	"jcode/internal/launch"
	"jcode/internal/text"
	"jcode/session"
	"jcode/skills/instructions"
	"jcode/tools/builtin"
	"jcode/tui/front"
)

// surroundings is what the chat shows of its folder.
type surroundings struct {
	git     launch.Git
	dir     string
	roots   []string // folders whose instructions count
	started bool     // a session is resumed: the last one is no news
	recent  func(ctx context.Context) ([]session.Session, error)
	board   *board.Board
}

func newSurroundings(a *app) surroundings {
	resumes := a.flags.Continue || a.flags.Resume != "" || a.config.Prelude.Session == "continue"
	return surroundings{
		git: newOwnGit(a), dir: a.cwd, roots: slices.Compact([]string{a.cwd, a.root}), started: resumes,
		recent: func(ctx context.Context) ([]session.Session, error) {
			return a.store.List(ctx, session.Filter{ProjectID: a.project, Limit: 3})
		},
		board: &a.board,
	}
}

// project returns what the start shows of the folder.
func (s surroundings) project(ctx context.Context) (out front.Project) {
	if !s.started {
		here := ""
		if conv := s.board.Open(); conv != nil {
			here = conv.State().Session
		}
		all, err := s.recent(ctx)
		if i := slices.IndexFunc(all, func(row session.Session) bool { return row.Messages > 0 && row.ID != here && !row.Private }); err == nil && i >= 0 {
			out.Last, out.LastAt = cmp.Or(all[i].Title, session.ShortTitle(all[i].FirstPrompt)), all[i].Updated
		}
	}
	for _, dir := range s.roots {
		for _, name := range instructions.Names() {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil && out.Instructions == "" {
				out.Instructions = name
			}
		}
	}
	out.Branch = s.branch(ctx)
	return out
}

// gitLimit is how long git may take to say which files differ.
const gitLimit = 2 * time.Second

// branch returns the branch of the folder's repository, with a * if tracked files differ from it; "" without one.
func (s surroundings) branch(ctx context.Context) string {
	if s.git.Vouched(s.dir) != nil {
		return ""
	}
	ctx, stop := context.WithTimeout(ctx, gitLimit)
	defer stop()
	cmd, err := s.git.Command(ctx, s.dir, "--no-optional-locks", "status", "--porcelain=v1", "--branch", "--untracked-files=no", "--ignore-submodules")
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

// statusCommand returns what runs the person's command for the status line, nil without one.
func statusCommand(a *app) func(ctx context.Context, state []byte) (string, error) {
	line, shell, dir := a.config.StatusLine.Command, a.shell, a.cwd
	if line == "" {
		return nil
	}
	return func(ctx context.Context, state []byte) (string, error) {
		end, err := shell.RunHook(ctx, builtin.HookRun{Command: line, Dir: dir, Stdin: state, Limit: time.Second, Free: true})
		switch {
		case err != nil:
			return "", err
		case end.Code != 0:
			return "", fmt.Errorf("the command ended with exit code %d: %s", end.Code, text.OneLine(text.Clean(text.CutTail(end.Stderr, 200))))
		}
		return end.Stdout, nil
	}
}
