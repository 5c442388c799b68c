package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"jcode/agent"
	agentscli "jcode/cli/agents"
	"jcode/cli/core"
	"jcode/internal/worktree"
	"jcode/session"
	"jcode/tools"
)

// agentSite is the worktree of a sub-agent, with an app of its own: its workspace, shell, gate,
// registry, skills, Lua and MCP servers have the worktree as their root.
type agentSite struct {
	main *app // of the conversation that the agent works for
	app  *app
	tree worktree.Tree
	name string
	// missing says in the system prompt what is not there though it is in the checkout.
	missing string

	child atomic.Pointer[agent.Conversation] // works in the worktree
	work  sync.WaitGroup
}

// agentSites creates and reopens the worktrees in which sub-agents work.
type agentSites struct{ *app }

// worktrees returns the folder of this project's worktrees.
func (a agentSites) worktrees() string { return filepath.Join(a.paths.Data, "worktrees", a.project) }

// The branches of worktrees begin with one of these; the second where a branch has the name of the first.
const (
	branchPrefix = "jcode/"
	otherPrefix  = "jcode-agents/"
)

// isolate creates a worktree for a sub-agent.
func (a agentSites) isolate(ctx context.Context, name string, carry bool) (agent.Site, error) {
	if a.privateNow() {
		return nil, fmt.Errorf("%w, worktrees included: leave isolation out", core.ErrPrivate)
	}
	dir, branch := freePlace(ctx, a.app, a.worktrees(), name)
	tree, err := worktree.Add(ctx, worktree.Options{Git: a.git, Root: a.root, Dir: dir, Branch: branch, Uncommitted: carry, Copy: a.config.Worktree.Copy, Shared: a.flags.AddDir, First: a.opensWith()})
	if err != nil {
		return nil, err
	}
	site, err := a.openSite(ctx, name, tree)
	if err != nil {
		return nil, errors.Join(err, tree.Remove(context.WithoutCancel(ctx)))
	}
	return site, nil
}

// freePlace returns a folder below another one and a branch for a worktree, with a number if the name is taken.
func freePlace(ctx context.Context, a *app, below, name string) (dir, branch string) {
	prefix := branchPrefix
	if worktree.HasBranch(ctx, a.git, a.root, strings.TrimSuffix(prefix, "/")) { // no branch can be below another one
		prefix = otherPrefix
	}
	dir, branch = filepath.Join(below, name), prefix+name
	for n := 2; ; n++ { // an earlier session may have left one
		if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) && !worktree.HasBranch(ctx, a.git, a.root, branch) {
			return dir, branch
		}
		dir, branch = filepath.Join(below, fmt.Sprintf("%s-%d", name, n)), fmt.Sprintf("%s%s-%d", prefix, name, n)
	}
}

// reopen opens the worktree of an agent that an earlier run left.
func (a agentSites) reopen(ctx context.Context, row session.Agent) (agent.Site, error) {
	tree := worktree.Tree{Git: a.git, Root: a.root, Dir: row.Dir, Branch: row.Branch, Base: row.Base, Copied: a.config.Worktree.Copy, Shared: a.flags.AddDir}
	err := checkTree(ctx, tree, row.Name)
	if err == nil {
		tree, err = worktree.Reopen(ctx, tree)
	}
	var site *agentSite // every file that it opens with is there: the agent was recorded after that
	if err == nil {
		site, err = a.openSite(ctx, row.Name, tree)
	}
	if err != nil {
		tree.Stop()
		return nil, err
	}
	return site, nil
}

// forget removes what is left of a worktree that can't be opened. If something other than a worktree of this
// repository is in its place, it is not touched.
func (a agentSites) forget(ctx context.Context, row session.Agent) error {
	return removeTree(ctx, worktree.Tree{Git: a.git, Root: a.root, Dir: row.Dir, Branch: row.Branch}, row.Name)
}

func removeTree(ctx context.Context, tree worktree.Tree, name string) error {
	if err := tree.Check(ctx); err != nil && !errors.Is(err, worktree.ErrGone) {
		return checkTree(ctx, tree, name)
	}
	return tree.Remove(ctx)
}

// openSite wires jcode for a worktree. Store, models and trust are the project's.
func (a agentSites) openSite(ctx context.Context, name string, tree worktree.Tree) (*agentSite, error) {
	f := *a.flags
	f.Print, f.InputFormat = true, "" // its files are not watched; its questions are routed elsewhere
	if a.memory.on() {
		f.Memory = "read" // what an agent keeps goes through the person's own conversation
	}
	f.Continue, f.Resume, f.Fork, f.Role, f.Debug = false, "", false, "", false
	return openTree(ctx, a.app, name, tree, &f, true)
}

// openTree wires jcode for a worktree and a command line. What an agent does is merged or discarded as a whole, so nothing of it is
// kept for an undo.
func openTree(ctx context.Context, a *app, name string, tree worktree.Tree, f *flags, forAgent bool) (*agentSite, error) {
	f.AddDir = append(slices.Clone(f.AddDir), tree.Linked()...)
	start := tree.Dir
	if rel, err := filepath.Rel(a.root, a.cwd); err == nil && filepath.IsLocal(rel) {
		if _, err := os.Stat(filepath.Join(tree.Dir, rel)); err == nil {
			start = filepath.Join(tree.Dir, rel)
		}
	}
	if err := awaitImports(ctx, tree, start); err != nil {
		return nil, err
	}
	b := &app{flags: f, std: a.std, cwd: start, env: a.env, registry: tools.NewRegistry(), originals: append(slices.Clone(a.originals), a.root), ofAgent: forAgent}
	b.started, b.settled, b.rolesAgain = make(chan struct{}), make(chan struct{}), make(chan struct{}, 1)
	if forAgent {
		close(b.settled)
	}
	share := func(context.Context) error {
		b.project, b.store, b.trust, b.models, b.contents, b.tracer = a.project, a.store, a.trust, a.models, a.contents, a.tracer
		return nil
	}
	if _, err := b.after(ctx, b.findPlaces, share, b.loadConfig, b.openGate, b.addTools, b.openExtensions); err != nil {
		return nil, fmt.Errorf("worktree %s: %w", tree.Dir, err)
	}
	b.flags.Model, b.modelNamed = a.flags.Model, a.modelNamed
	b.userHooks.HearRolesOf(a.userHooks) // the main conversation's hooks hear of its agents' ends
	site := &agentSite{main: a, app: b, tree: tree, name: name}
	if empty := tree.EmptySubmodules(ctx); len(empty) > 0 {
		site.missing = fmt.Sprintf("\n\nYou work in a git worktree, in which the folders of submodules are empty: %s. If the work needs one: git submodule update --init PATH. What is changed inside it is not merged.", strings.Join(empty, ", "))
	}
	e := agentscli.CheckoutGuard{Originals: b.originals, Own: b.root, Home: b.paths.Home, Shared: tree.Linked()}
	b.dispatcher.Hooks = append([]tools.Hook{wholeTree{site}, e}, b.dispatcher.Hooks...)
	b.dispatcher.Gate = agentscli.CheckoutGate{Behind: b.gate, Guard: e}
	return site, nil
}

// Equip implements agent.Site.
func (s *agentSite) Equip(opt *agent.Options) {
	b := s.app
	opt.Registry, opt.Dispatcher, opt.Gate, opt.Cwd = b.registry, b.dispatcher, b.dispatcher.Gate, b.cwd
	opt.System = func(sessionID string, role agent.Role, scope *tools.Scope) string {
		return b.system(sessionID, role, scope) + s.missing
	}
	opt.Allow, opt.Roles = b.allow, newRoleScopes(b).agentRole
	sites := agentSites{b} // worktrees of this worktree
	opt.Isolate, opt.Reopen, opt.Forget = sites.isolate, sites.reopen, sites.forget
	opt.AgentExtensions = agent.Extensions{{Stopping: s.main.userHooks.Stopping}, b.guidance.Agents()}
	opt.Extensions = append(agent.Extensions{{Ready: b.list.Ready}}, opt.AgentExtensions...)
	_, opt.Leases = b.servers.Leases()
}

// Begin implements agent.Site.
func (s *agentSite) Begin(child *agent.Conversation) {
	s.app.board.Attach(child)
	s.app.startExtensions()
	s.child.Store(child)
	s.watchTree()
}

// Dir implements agent.Site.
func (s *agentSite) Dir() string { return s.tree.Dir }

// Row implements agent.Site.
func (s *agentSite) Row() (dir, branch, base string) { return s.tree.Dir, s.tree.Branch, s.tree.Base }

// check returns an error that says what is wrong with the worktree, and what can be done.
func (s *agentSite) check(ctx context.Context) error { return checkTree(ctx, s.tree, s.name) }

func checkTree(ctx context.Context, tree worktree.Tree, name string) error {
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
func (s *agentSite) Diff(ctx context.Context) (diff string, left []string, err error) {
	if err := s.check(ctx); err != nil {
		return "", nil, err
	}
	work, err := s.tree.Work(ctx)
	if err == nil {
		diff, err = s.tree.Diff(ctx, work.Changes)
	}
	return diff, work.Left, err
}

// Close implements agent.Site.
func (s *agentSite) Close() {
	s.tree.Stop()
	s.work.Wait()
	s.app.close()
}

// Remove implements agent.Site.
func (s *agentSite) Remove(ctx context.Context) error { return removeTree(ctx, s.tree, s.name) }
