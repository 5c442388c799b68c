package worktreescli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"jcode/agent"
	"jcode/cli/core"
	"jcode/cli/undo"
	"jcode/internal/launch"
	"jcode/internal/worktree"
	"jcode/session"
	"jcode/tools"
)

// Site is a worktree in which a sub-agent or a session works, with jcode wired for it: its workspace, shell, gate,
// registry, skills, Lua and MCP servers have the worktree as their root.
type Site struct {
	Tree worktree.Tree
	Name string

	checkout Checkout
	wired    Wired
	// missing says in the system prompt what is not there though it is in the checkout.
	missing string

	child atomic.Pointer[agent.Conversation] // works in the worktree
	work  sync.WaitGroup
}

// Checkout is what a worktree is a copy of.
type Checkout struct {
	Root, Cwd string
	Recorder  undo.Recorder // of what a merge does to its files
}

// Wired is jcode wired for a worktree.
type Wired struct {
	// Equip sets what a conversation uses of it.
	Equip func(opt *agent.Options)
	// Begin starts what runs beside a conversation.
	Begin func(child *agent.Conversation)
	Close func()
}

// New returns the site of a worktree.
func New(ctx context.Context, of Checkout, name string, tree worktree.Tree, w Wired) *Site {
	s := &Site{Tree: tree, Name: name, checkout: of, wired: w}
	if empty := tree.EmptySubmodules(ctx); len(empty) > 0 {
		s.missing = fmt.Sprintf("\n\nYou work in a git worktree, in which the folders of submodules are empty: %s. If the work needs one: git submodule update --init PATH. What is changed inside it is not merged.", strings.Join(empty, ", "))
	}
	return s
}

// AgentTrees creates and reopens the worktrees in which sub-agents work.
type AgentTrees struct {
	Git       launch.Git
	Root, Cwd string          // of the checkout
	Folder    string          // of this project's worktrees
	Copy      func() []string // the setting worktree.copy
	Shared    []string        // folders beside the checkout that are open to jcode
	// Runs reports whether the person uses something that may run files of the project, or pin them, when it starts.
	Runs    func() bool
	Private func() bool // nothing may be written to the disk
	// Open wires jcode for a worktree.
	Open func(ctx context.Context, name string, tree worktree.Tree) (*Site, error)
}

// The branches of worktrees begin with one of these; the second where a branch has the name of the first.
const (
	branchPrefix = "jcode/"
	otherPrefix  = "jcode-agents/"
)

// Isolate creates a worktree for a sub-agent.
func (a AgentTrees) Isolate(ctx context.Context, name string, carry bool) (agent.Site, error) {
	if a.Private() {
		return nil, fmt.Errorf("%w, worktrees included: leave isolation out", core.ErrPrivate)
	}
	dir, branch := Free(ctx, a.Git, a.Root, a.Folder, name)
	tree, err := worktree.Add(ctx, worktree.Options{Git: a.Git, Root: a.Root, Dir: dir, Branch: branch, Uncommitted: carry, Copy: a.Copy(), Shared: a.Shared, First: a.opensWith()})
	if err != nil {
		return nil, err
	}
	site, err := a.Open(ctx, name, tree)
	if err != nil {
		return nil, errors.Join(err, tree.Remove(context.WithoutCancel(ctx)))
	}
	return site, nil
}

// Branches are how the names of branches of worktrees begin.
func Branches() []string { return []string{branchPrefix, otherPrefix} }

// Free returns a folder below another one and a branch for a worktree, with a number if the name is taken.
func Free(ctx context.Context, git launch.Git, root, below, name string) (dir, branch string) {
	prefix := branchPrefix
	if worktree.HasBranch(ctx, git, root, strings.TrimSuffix(prefix, "/")) { // no branch can be below another one
		prefix = otherPrefix
	}
	dir, branch = filepath.Join(below, name), prefix+name
	for n := 2; ; n++ { // an earlier session may have left one
		if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) && !worktree.HasBranch(ctx, git, root, branch) {
			return dir, branch
		}
		dir, branch = filepath.Join(below, fmt.Sprintf("%s-%d", name, n)), fmt.Sprintf("%s%s-%d", prefix, name, n)
	}
}

// Reopen opens the worktree of an agent that an earlier run left.
func (a AgentTrees) Reopen(ctx context.Context, row session.Agent) (agent.Site, error) {
	tree := worktree.Tree{Git: a.Git, Root: a.Root, Dir: row.Dir, Branch: row.Branch, Base: row.Base, Copied: a.Copy(), Shared: a.Shared}
	err := explain(ctx, tree, row.Name)
	if err == nil {
		tree, err = worktree.Reopen(ctx, tree)
	}
	var site *Site // every file that it opens with is there: the agent was recorded after that
	if err == nil {
		site, err = a.Open(ctx, row.Name, tree)
	}
	if err != nil {
		tree.Stop()
		return nil, err
	}
	return site, nil
}

// Forget removes what is left of a worktree that can't be opened. If something other than a worktree of this
// repository is in its place, it is not touched.
func (a AgentTrees) Forget(ctx context.Context, row session.Agent) error {
	return Remove(ctx, worktree.Tree{Git: a.Git, Root: a.Root, Dir: row.Dir, Branch: row.Branch}, row.Name)
}

// Remove removes a worktree, or what is left of it. Something else in its place is not touched.
func Remove(ctx context.Context, tree worktree.Tree, name string) error {
	if err := tree.Check(ctx); err != nil && !errors.Is(err, worktree.ErrGone) {
		return explain(ctx, tree, name)
	}
	return tree.Remove(ctx)
}

// Equip implements agent.Site.
func (s *Site) Equip(opt *agent.Options) {
	s.wired.Equip(opt)
	system := opt.System
	opt.System = func(sessionID string, role agent.Role, scope *tools.Scope) string {
		return system(sessionID, role, scope) + s.missing
	}
}

// Begin implements agent.Site.
func (s *Site) Begin(child *agent.Conversation) {
	s.wired.Begin(child)
	s.child.Store(child)
	s.watchTree()
}

// Dir implements agent.Site.
func (s *Site) Dir() string { return s.Tree.Dir }

// Row implements agent.Site.
func (s *Site) Row() (dir, branch, base string) { return s.Tree.Dir, s.Tree.Branch, s.Tree.Base }

// check returns an error that says what is wrong with the worktree, and what can be done.
func (s *Site) check(ctx context.Context) error { return explain(ctx, s.Tree, s.Name) }

func explain(ctx context.Context, tree worktree.Tree, name string) error {
	switch err := tree.Check(ctx); {
	case err == nil:
		return nil
	case errors.Is(err, worktree.ErrGone):
		return fmt.Errorf("%w, and what was not committed there with it (commits are on the branch %s): discard %s to end it", err, tree.Branch, name)
	default:
		return fmt.Errorf("%w: move away what is there, then discard %s", err, name)
	}
}

// Diff implements agent.Site.
func (s *Site) Diff(ctx context.Context) (diff string, left []string, err error) {
	if err := s.check(ctx); err != nil {
		return "", nil, err
	}
	work, err := s.Tree.Work(ctx)
	if err == nil {
		diff, err = s.Tree.Diff(ctx, work.Changes)
	}
	return diff, work.Left, err
}

// Close implements agent.Site.
func (s *Site) Close() {
	s.Tree.Stop()
	s.work.Wait()
	s.wired.Close()
}

// Remove implements agent.Site.
func (s *Site) Remove(ctx context.Context) error { return Remove(ctx, s.Tree, s.Name) }
