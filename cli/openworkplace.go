package cli

// Where a session works: its folder, or a worktree.

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"jcode/agent"
	"jcode/agent/event"
	agentscli "jcode/cli/agents"
	"jcode/cli/console"
	"jcode/cli/core"
	workplacecli "jcode/cli/workplace"
	worktreescli "jcode/cli/worktrees"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/session"
	"jcode/tools"
)

// newWorkFolder returns what a session's model is told of the folder.
func newWorkFolder(a *app) *workplacecli.Folder {
	return &workplacecli.Folder{
		Folder: a.cwd, Top: a.root, Home: a.paths.Home, Plain: a.plain, Git: a.git,
		Denied: func(path string) bool {
			return a.gate.Denied(tools.AccessRead, path) != "" || a.gate.Denied(tools.AccessRead, filepath.Join(path, "x")) != ""
		},
	}
}

// newShownFolder returns what the chat shows of its folder.
func newShownFolder(a *app) workplacecli.Shown {
	resumes := a.flags.Continue || a.flags.Resume != "" || a.config.Prelude.Session == "continue"
	return workplacecli.Shown{
		Git: newOwnGit(a), Dir: a.cwd, Roots: slices.Compact([]string{a.cwd, a.root}), Resumed: resumes,
		Recent: func(ctx context.Context) ([]session.Session, error) {
			return a.store.List(ctx, session.Filter{ProjectID: a.project, Limit: 3})
		},
		Session: a.board.Session,
	}
}

// newAgentTrees returns what creates and reopens the worktrees of this project's sub-agents.
func newAgentTrees(a *app) worktreescli.AgentTrees {
	return worktreescli.AgentTrees{
		Git: a.git, Root: a.root, Cwd: a.cwd, Folder: agentFolder(a), Copy: func() []string { return a.config.Worktree.Copy }, Shared: a.flags.AddDir, Private: a.privateNow,
		Runs: func() bool {
			if len(a.config.AfterEdit) > 0 || a.userHooks.Any() || len(a.servers.States()) > 0 {
				return true
			}
			return !a.flags.NoLua && len(a.lua.Room().Panel().Items) > 0
		},
		Open: func(ctx context.Context, name string, tree worktree.Tree) (*worktreescli.Site, error) {
			return openAgentTree(ctx, a, name, tree)
		},
	}
}

// agentFolder returns the folder of the worktrees of this project's agents, sessionFolder that of its own sessions.
func agentFolder(a *app) string { return filepath.Join(a.paths.Data, "worktrees", a.project) }

func sessionFolder(a *app) string { return worktreescli.SessionFolder(a.paths.Data, a.project) }

// newWorktreeCommand returns /worktree.
func newWorktreeCommand(a *app, leave context.CancelCauseFunc) worktreescli.Command {
	return worktreescli.Command{Here: a.place, Trees: sessionFolder(a), Store: a.store, Board: &a.board, Leave: leave}
}

// openAgentTree wires jcode for an agent's worktree. Store, models and trust are the project's.
func openAgentTree(ctx context.Context, a *app, name string, tree worktree.Tree) (*worktreescli.Site, error) {
	f := *a.flags
	f.Print, f.InputFormat = true, "" // its files are not watched; its questions are routed elsewhere
	if a.memory.on() {
		f.Memory = "read" // what an agent keeps goes through the person's own conversation
	}
	f.Continue, f.Resume, f.Fork, f.Role, f.Debug = false, "", false, "", false
	site, _, err := openTree(ctx, a, name, tree, &f, true)
	return site, err
}

// openTree wires jcode for a worktree and a command line. What an agent does is merged or discarded as a whole, so nothing of it is
// kept for an undo.
func openTree(ctx context.Context, a *app, name string, tree worktree.Tree, f *flags, forAgent bool) (*worktreescli.Site, *app, error) {
	f.AddDir = append(slices.Clone(f.AddDir), tree.Linked()...)
	start := worktreescli.StartIn(tree.Dir, a.root, a.cwd)
	if err := worktreescli.AwaitImports(ctx, tree, start); err != nil {
		return nil, nil, err
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
		return nil, nil, fmt.Errorf("worktree %s: %w", tree.Dir, err)
	}
	b.flags.Model, b.modelNamed = a.flags.Model, a.modelNamed
	b.userHooks.HearRolesOf(a.userHooks) // the main conversation's hooks hear of its agents' ends
	site := worktreescli.New(ctx, worktreescli.Checkout{Root: a.root, Cwd: a.cwd, Recorder: recorderOf(a)}, name, tree, worktreescli.Wired{
		Equip: func(opt *agent.Options) { equip(opt, a, b) }, Close: b.close,
		Begin: func(child *agent.Conversation) {
			b.board.Attach(child)
			b.startExtensions()
		},
	})
	e := agentscli.CheckoutGuard{Originals: b.originals, Own: b.root, Home: b.paths.Home, Shared: tree.Linked()}
	b.dispatcher.Hooks = append([]tools.Hook{worktreescli.Whole{Site: site}, e}, b.dispatcher.Hooks...)
	b.dispatcher.Gate = agentscli.CheckoutGate{Behind: b.gate, Guard: e}
	return site, b, nil
}

// equip sets what an agent's conversation uses of the app of its worktree (b), and of that of the conversation that it works
// for.
func equip(opt *agent.Options, a, b *app) {
	opt.Registry, opt.Dispatcher, opt.Gate, opt.Cwd = b.registry, b.dispatcher, b.dispatcher.Gate, b.cwd
	opt.System, opt.Allow, opt.Roles = b.system, b.allow, newRoleScopes(b).Role
	trees := newAgentTrees(b) // worktrees of this worktree
	opt.Isolate, opt.Reopen, opt.Forget = trees.Isolate, trees.Reopen, trees.Forget
	opt.AgentExtensions = agent.Extensions{{Stopping: a.userHooks.Stopping}, b.guidance.Agents()}
	opt.Extensions = append(agent.Extensions{{Ready: b.list.Ready}}, opt.AgentExtensions...)
	_, opt.Leases = b.servers.Leases()
}

// enterTree wires jcode for the worktree of a session, and returns the app that works there. The caller closes the tree.
func enterTree(ctx context.Context, a *app, tree worktree.Tree) (*worktreescli.SessionTree, *app, error) {
	f := *a.flags
	site, b, err := openTree(ctx, a, filepath.Base(tree.Dir), tree, &f, false)
	if err != nil {
		return nil, nil, err
	}
	begin := func(ctx context.Context, session, what string) (int, error) {
		return a.store.Checkpoints().Begin(ctx, session, what)
	}
	t := &worktreescli.SessionTree{Site: site, Begin: begin, Out: a.std.Err}
	b.place = t.Place()
	return t, b, nil
}

// openSessionTree opens the worktree with a name, which is made if there is none, and returns the app that works there.
func openSessionTree(ctx context.Context, a *app, name string, reopen, carry bool) (*worktreescli.SessionTree, *app, error) {
	trees := worktreescli.SessionTrees{Git: a.git, Root: a.root, Folder: sessionFolder(a), Copy: a.config.Worktree.Copy, Shared: a.flags.AddDir, Say: a.board.Say}
	tree, err := trees.Find(ctx, name, reopen, carry)
	if err != nil {
		return nil, nil, err
	}
	t, b, err := enterTree(ctx, a, tree)
	if err == nil {
		b.board.Say(event.LevelInfo, "this session works in the worktree %s (branch %s): /worktree merge takes its changes to %s, /worktree leave goes back there", t.Name, tree.Branch, text.Visible(a.root))
	}
	return t, b, err
}

// enterPlace returns the app in which the session of the command line works: this one or, with --worktree and for a
// session that was in one, that of a worktree. The caller calls done when the session has ended.
func enterPlace(ctx context.Context, a *app, words []string) (at *app, done func(), err error) {
	id, err := continued(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	if a.flags.Worktree == "" {
		return a, func() {}, nil
	}
	if a.privateNow() {
		return nil, nil, console.Usage("%w, worktrees included: leave --worktree out", core.ErrPrivate)
	}
	given, fresh := strings.CutPrefix(a.flags.Worktree, worktreescli.AnyName)
	name, err := worktreescli.NameFor(given, strings.Join(words, " "))
	if err != nil {
		return nil, nil, err
	}
	tree, b, err := openSessionTree(ctx, a, name, !fresh, a.flags.Carry)
	if err != nil {
		return nil, nil, console.Usage("%w", err)
	}
	if id != "" && !a.flags.Fork {
		if err := a.store.Update(ctx, id, session.Change{Cwd: &b.cwd}); err != nil {
			return nil, nil, console.Usage("%w", errors.Join(err, tree.End(ctx)))
		}
		b.board.Tell("The session works in the git worktree " + tree.Tree.Dir + " now, a copy of " + a.root + ": paths that were read before mean the files there.")
	}
	return b, func() {
		if err := tree.End(context.WithoutCancel(ctx)); err != nil {
			fmt.Fprintln(a.std.Err, "jcode: worktree:", err)
		}
	}, nil
}

// goElsewhere leaves the chat for a session that works in another folder of the project than this app.
func goElsewhere(a *app, row session.Session, leave context.CancelCauseFunc) error {
	tree := worktreescli.NameIn(sessionFolder(a), row.Cwd)
	if a.place.Name == tree || a.models.Plays() {
		return nil
	}
	to := &worktreescli.Move{Session: row.ID, Tree: tree, Mode: string(a.mode)}
	if conv := a.board.Open(); conv != nil {
		to.Mode, to.Model = string(conv.Mode()), conv.OwnModel()
	}
	leave(to)
	return to
}

// continued returns the ID of the session that the command line continues, and takes over the worktree that it was in.
func continued(ctx context.Context, a *app) (id string, err error) {
	var row session.Session
	switch {
	case a.flags.Resume != "" && a.flags.Resume != pickSession:
		row, err = a.store.Find(ctx, a.project, a.flags.Resume)
	case a.flags.Continue, a.config.Prelude.Session == "continue" && !a.flags.Print && a.flags.Resume == "":
		row, err = a.store.Latest(ctx, a.project)
	}
	if err != nil {
		return "", nil //nolint:nilerr // whoever resumes it says what is wrong
	}
	if tree := worktreescli.NameIn(sessionFolder(a), row.Cwd); tree != "" && a.flags.Worktree == "" {
		a.flags.Worktree = tree
	}
	return row.ID, nil
}
