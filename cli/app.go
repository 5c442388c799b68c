package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/cli/changes"
	"jcode/cli/config"
	confinementcli "jcode/cli/confinement"
	"jcode/cli/console"
	"jcode/cli/demo"
	hookscli "jcode/cli/hooks"
	mcpcli "jcode/cli/mcp"
	modelscli "jcode/cli/models"
	"jcode/cli/outputs"
	permissionscli "jcode/cli/permissions"
	"jcode/cli/prompt"
	"jcode/cli/review"
	rolescli "jcode/cli/roles"
	"jcode/cli/telemetry"
	"jcode/cli/typed"
	"jcode/cli/undo"
	webcli "jcode/cli/web"
	worktreescli "jcode/cli/worktrees"
	"jcode/internal/launch"
	"jcode/internal/paths"
	"jcode/internal/startfiles"
	"jcode/internal/text"
	"jcode/mcp"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/builtin/desk"
	"jcode/tools/builtin/web"
	"jcode/tools/permission"
)

// app is jcode wired for one folder: what all commands that work with a conversation share. Nothing in it is
// global.
type app struct {
	flags   *flags
	std     Streams
	paths   config.Paths
	cwd     string // working folder, resolved; "" until findPlaces sets the process's own
	project string // project ID
	root    string // project root
	plain   bool   // the root is no git repository
	// originals are the roots of the checkouts that this one is a copy of, for an agent in a worktree; the first
	// is the person's, whose roles apply.
	originals []string
	ofAgent   bool               // it is an agent's: its worktree is merged or discarded as a whole
	place     worktreescli.Place // where the person's session works
	drafted   typed.Key          // where the input was last saved
	reading   sync.RWMutex       // guards the replacement of config
	config    config.Config
	held      []config.Held // settings of the project that are not trusted yet
	// origin returns where an element of a list of settings comes from, as file:line.
	origin     func(key string, element int) string
	theirEdits int // entries of after_edit, the last ones, that the project added
	// theirHooks are the trusted hooks of the project's config.
	theirHooks config.Hooks
	theirPins  map[string]string // the versions in which they are trusted
	mode       tools.Mode
	hooks      confinementcli.GitHooks // folders besides git's own from which git runs hooks
	git        launch.Git              // handles the worktrees of agents
	// modelNamed says that the command line or the environment names the model. Such a name takes
	// precedence over the model of a resumed session; the one in config.json does not.
	modelNamed bool
	// env is set for commands, in addition to the environment.
	env map[string]string

	editor      builtin.Editor // nil outside an editor
	inEditor    bool           // an editor shows the session
	reviews     *review.Chat   // of /review
	store       *session.Store
	workspace   *builtin.Workspace
	registry    *tools.Registry
	dispatcher  *tools.Dispatcher
	gate        *permission.Gate
	outputs     *outputs.Outputs
	changes     *builtin.ChangeSet
	trust       *permission.Trust
	seen        *builtin.Seen  // what conversations know of files
	contents    undo.Contents  // of files, for undo
	follower    *undo.Follower // nil where commands are not followed
	shell       *builtin.Shell
	confinement *confinementcli.Confinement // where commands run
	// hookVariables are what hooks set for commands.
	hookVariables hookscli.Variables
	// tracer tells a collector what happens; nil without one.
	tracer *telemetry.Tracer
	// agentChanges are the files that this session's agents changed.
	agentChanges *changes.Agents
	models       *modelscli.Clients

	extensions
	board board.Board
	// asker answers a script's questions instead of the person of the open conversation; nil
	// outside the tour and commands.
	asker tools.Asker
	tour  *demo.Play // nil outside the tour
	// private says that new conversations are kept in memory only.
	private   atomic.Bool
	firstRole rolescli.First
	closers   []func()
}

// newApp wires jcode. It does only what a first frame or a first request needs; everything slower starts
// later, in the background. The caller closes it, also after an error.
func newApp(ctx context.Context, f *flags, std Streams) (*app, error) {
	return newAppIn(ctx, f, std, "")
}

// newAppIn is newApp for a folder other than the process's working folder, and with an editor
// that has files open; nil for none.
func newAppIn(ctx context.Context, f *flags, std Streams, dir string) (*app, error) {
	return (&app{flags: f, std: std, cwd: dir}).open(ctx)
}

// open wires up an app that knows its command line and streams.
func (a *app) open(ctx context.Context) (*app, error) {
	a.registry = tools.NewRegistry()
	a.started, a.settled, a.rolesAgain = make(chan struct{}), make(chan struct{}), make(chan struct{}, 1)
	if err := a.flags.checkPrivate(); err != nil {
		return nil, err
	}
	a.private.Store(a.flags.Private)
	telemetry := func(context.Context) error { return openTelemetry(a) }
	return a.after(ctx, a.findPlaces, a.openStore, a.openTrust, a.loadConfig, telemetry, a.openModels, a.openGate, a.addTools, a.openExtensions, a.openDebugLog)
}

// after returns the app after some steps; if one fails, it closes the app.
func (a *app) after(ctx context.Context, steps ...func(context.Context) error) (*app, error) {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			a.close()
			return nil, err
		}
	}
	return a, nil
}

// findPlaces determines the folders.
func (a *app) findPlaces(context.Context) (err error) {
	if a.paths, err = findPaths(a.std); err != nil {
		if a.paths, err = a.temporaryPaths(a.paths, err); err != nil {
			return err
		}
	}
	if a.cwd == "" {
		if a.cwd, err = os.Getwd(); err != nil {
			return console.Usage("working folder: %w", err)
		}
	}
	if a.cwd, err = paths.Resolve(a.cwd); err != nil {
		return console.Usage("working folder: %w", err)
	}
	found, err := session.FindProject(a.cwd)
	if err != nil {
		return console.Usage("%w", err)
	}
	a.project, a.root, a.plain = found.ID, found.Root, !found.Repository
	if found.Foreign != "" {
		a.board.Say(event.LevelWarn, "%s and is not used, nor are instructions that other users wrote: this folder alone is the project. If you trust them, add that folder to safe.directory: git config --global --add safe.directory FOLDER", text.Visible(found.Foreign))
	}
	if f := a.flags.MCPConfig; f != "" {
		if _, err := os.Stat(f); err != nil {
			return console.Usage("--mcp-config: %w", err)
		}
	}
	return nil
}

// openGate builds the approval gate from rules, grants and places.
func (a *app) openGate(context.Context) error {
	rules, err := rulesOf(a)
	if err != nil {
		return err
	}
	a.confinement = newConfinement(a)
	a.git = newOwnGit(a)
	a.hooks.Git = a.git
	a.outputs = outputsOf(a)
	a.gate, err = permission.New(permission.Options{
		Places: permission.Places{
			Roots: append([]string{a.root}, a.flags.AddDir...), Start: a.cwd, Home: a.paths.Home,
			Config: a.paths.Config, Data: a.paths.Data, Protected: a.config.Sandbox.Protect,
			Hooks: func() []string { return a.hooks.In(a.workRoots()) },
		},
		Rules: rules, Fixed: permissionscli.Fixed(a.std.managed), MaxMode: maxMode(a.std.managed),
		Grants: permissionscli.Grants{Stored: a.store.Grants(), Project: a.project, Private: a.privateNow}, Confined: a.confinement.Confined, ForeignShell: builtin.ForeignShell(), Bash: builtin.Bash() != nil,
		Notify: a.board.Ran, Offered: func(id, path string) bool { return a.outputs.Named(id, path) || a.memory.holds(path) }, Brought: a.bundles.Holds, Programs: a.programs(),
	})
	if err != nil {
		return console.Usage("permissions: %w", err)
	}
	return nil
}

// addTools opens the workspace and registers the builtin tools.
func (a *app) addTools(context.Context) error {
	ws, err := builtin.OpenWorkspace(a.root, a.flags.AddDir...)
	if err != nil {
		return console.Usage("%w", err)
	}
	ws.LockIn(a.store.LockFolder())
	a.workspace = ws
	if err := ws.StartIn(a.cwd); err != nil {
		return console.Usage("%w", err)
	}
	a.onClose(func() {
		if err := ws.Close(); err != nil {
			fmt.Fprintln(a.std.Err, "jcode:", err)
		}
	})
	a.seen = builtin.NewSeen(changes.ViewsIn(a.store.Seen(), a.board.Say))
	a.agentChanges = changes.OfAgents(a.root)
	a.follower = newFollower(a)
	a.hookVariables.Current = a.board.Session
	beside := changes.OfCommands{
		Store: a.store, Agents: a.agentChanges, Follower: a.follower, Say: a.board.Say, Tell: a.board.Tell, Session: a.board.Session,
		Shown: func(path string) string { return a.workspace.Shown(path) },
	}
	a.shell = builtin.NewShell(builtin.ShellOptions{
		Dir: a.cwd, Roots: append([]string{a.root}, a.flags.AddDir...), Logs: filepath.Join(a.paths.Data, "logs", "exec"), Bash: builtin.Bash(), Env: a.confinement.CommandEnv, Keep: a.config.Environment.Keep,
		Confiner: a.confinement.Confiner(), Outside: a.gate.CheckUnconfined, Confines: a.confinement.ConfinesOwn, Rights: a.bundles.Readable, Watch: a.confinement.WatchProtected(), Remember: a.confinement.KeepProtected, Told: a.confinement.TellProtected, JobEnded: a.board.JobEnded, Secret: a.board.AskSecret, Private: a.privateNow,
		Variables: commandVariables(a), Seen: a.seen, Changed: beside.Note, Overwritten: beside.Overwritten, Around: a.follower.Around,
	})
	a.onClose(a.follower.Close) // after the commands have ended
	a.onClose(func() {
		if err := a.shell.Close(); err != nil {
			fmt.Fprintln(a.std.Err, "jcode: end background commands:", err)
		}
	})
	a.dispatcher = &tools.Dispatcher{Registry: a.registry, Gate: a.gate, Spill: spillsOf(a).Keep}
	a.follower.Follow(a.dispatcher)
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, undo.Irreversible{Checkpoints: a.store.Checkpoints(), Say: a.board.Say, Followed: a.follower != nil}, changes.Others{Edits: a.store.Edits()}, a.outputs, a.agentChanges,
		&mcpcli.ProtectedWatch{Board: &a.board, Watch: a.confinement.WatchProtected, Remember: a.confinement.KeepProtected})
	var errs []error
	for _, t := range a.builtins() {
		errs = append(errs, a.registry.Register(tools.OwnerBuiltin, tools.RankBuiltin, t))
	}
	return errors.Join(errs...)
}

// builtins returns jcode's own tools in order: the eight core intents first.
func (a *app) builtins() []tools.Tool {
	var after []builtin.AfterEdit
	for i, c := range a.config.AfterEdit {
		theirs := i >= len(a.config.AfterEdit)-a.theirEdits
		after = append(after, builtin.AfterEdit{Glob: c.Glob, Command: c.Cmd, Theirs: theirs || len(startfiles.Files(a.root, c.Cmd)) > 0, Refuse: a.confinement.ChangedSince(a.root, c.Cmd, theirs)})
	}
	var files []tools.Tool
	files, a.changes = builtin.Files(a.workspace, builtin.Options{
		Recorder:  recorderOf(a),
		Seen:      a.seen,
		Others:    changes.Others{Edits: a.store.Edits()},
		AfterEdit: after,
		Around:    a.follower.Around,
		Editor:    a.editor,
		Runner:    a.shell,
	})
	// exec is the last core intent; it comes before the file tools that are not intents.
	shell := a.shell.Tools()
	core := slices.IndexFunc(files, func(t tools.Tool) bool { return t.Spec().Group != tools.GroupCore })
	list := slices.Concat(files[:core], shell[:1], files[core:], shell[1:])
	online, err := webcli.Tools(a.config.WebSearch, a.std.Getenv, web.FetchOptions{Judge: a.dispatcher.JudgeCall, Agent: "jcode/" + Version()})
	if err != nil {
		a.board.Say(event.LevelWarn, "web_search is not offered: %v", err)
	}
	return slices.Concat(list, online, desk.Tools())
}

// options returns the options of a conversation in this app.
func (a *app) options() (agent.Options, error) {
	trees := newAgentTrees(a)
	opt := agent.Options{
		Private: a.private.Load(),
		Store:   a.store, Registry: a.registry, Dispatcher: a.dispatcher, Gate: a.gate,
		Resolve: a.models.Resolve, System: a.system,
		Cwd: a.cwd, Project: a.project, Model: a.flags.Model, Mode: a.mode, MaxMode: maxMode(a.std.managed),
		MaxSteps: int(a.flags.MaxSteps), MaxTools: cmp.Or(a.maxTools(), mcp.DefaultMaxTools), MaxCost: float64(a.flags.MaxCost), Headless: a.flags.once(),
		Roles: newRoleScopes(a).Role, Allow: a.allow,
		MaxAgents: a.config.Agents.Max, Isolate: trees.Isolate, Reopen: trees.Reopen, Forget: trees.Forget,
		LoopRepeats: a.config.Loop.Repeats, LoopAlerts: a.config.Loop.Alerts,
		CompactAt: float64(a.config.Compaction.Threshold),
	}
	opt.Extensions, opt.AgentExtensions = a.list.Conversations()
	opt.Leases, opt.ChildLeases = a.servers.Leases()
	return opt, nil
}

// system builds the system prompt of a session in a role.
func (a *app) system(sessionID string, role agent.Role, scope *tools.Scope) string {
	return prompt.Parts{
		Sections: a.list.Sections(sessionID, scope),
		Cwd:      a.cwd, Project: a.root, AddDirs: a.flags.AddDir, Extra: a.flags.AppendPrompt, Headless: a.flags.once(),
	}.Build(role)
}

// allow puts approved rules in force for a session.
func (a *app) allow(sessionID string, texts []string) (func(), error) {
	rules := make([]permission.Rule, 0, len(texts))
	for _, text := range texts {
		r, err := permission.ParseRule(text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return a.gate.AllowFor(sessionID, rules), nil
}

func (a *app) onClose(f func()) { a.closers = append(a.closers, f) }

// close ends everything that was started, in reverse order.
func (a *app) close() {
	for _, f := range slices.Backward(a.closers) {
		f()
	}
	a.closers = nil
}
