package cli

// How jcode looks at itself: the checks of the doctor, and the log of --debug.

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/agent/model/provider"
	"jcode/cli/config"
	confinementcli "jcode/cli/confinement"
	"jcode/cli/console"
	"jcode/cli/debuglog"
	doctorcli "jcode/cli/doctor"
	"jcode/cli/health"
	hookscli "jcode/cli/hooks"
	lspcli "jcode/cli/lsp"
	luacli "jcode/cli/lua"
	mcpcli "jcode/cli/mcp"
	modelscli "jcode/cli/models"
	pluginscli "jcode/cli/plugins"
	taskscli "jcode/cli/tasks"
	"jcode/cli/undo"
	webcli "jcode/cli/web"
	worktreescli "jcode/cli/worktrees"
	"jcode/mcp"
	"jcode/session"
	"jcode/tasks"
	"jcode/tools/command"
)

// newDoctorSetup returns what the doctor is given. live are the servers of an open jcode, which are checked instead of
// starting others; nil without one.
func newDoctorSetup(f *flags, std Streams, live *mcp.Manager) doctorcli.Setup {
	return doctorcli.Setup{Streams: std.Streams, Examine: func(ctx context.Context, w doctorcli.Wanted, r *health.Report) {
		examine(ctx, f, std, live, w, r)
	}}
}

// doctor is /doctor.
func (p personCommands) doctor(ctx context.Context, _ string) (command.Outcome, error) {
	return doctorcli.Page(ctx, newDoctorSetup(p.flags, p.std, p.mcp))
}

// examine has all parts checked: a fault in one does not affect the others.
func examine(ctx context.Context, f *flags, std Streams, live *mcp.Manager, w doctorcli.Wanted, r *health.Report) {
	doctorcli.Program(Version(), r)
	a := &app{flags: f, std: std}
	if err := a.findPlaces(ctx); err != nil {
		r.Fail("folders", "set JCODE_HOME to a folder that can be written", console.ExitUsage, "%v", err)
		return
	}
	hookscli.SweepEnvFiles(hookscli.EnvFiles(a.paths.Data))
	r.OK("folders", "config in %s, data in %s", a.paths.Config, a.paths.Data)
	// Nothing of the project is treated as trusted: its endpoint must not be contacted here.
	loaded := config.Check(config.Options{Paths: a.paths, Project: a.root, Managed: std.managed}, r)
	conf := loaded.Config
	keys := config.CheckKeys(a.paths.Credentials(), r)
	if checkDatabase(ctx, a, loaded.Held, w.Repair, r) {
		undo.Check(a.paths.Data, config.IsOff(conf.Undo.Commands), r)
	}
	modelscli.Check(ctx, provider.Settings{
		Model: cmp.Or(f.Model, conf.Model), BaseURL: f.BaseURL, Provider: conf.Provider, Providers: modelscli.Providers(conf, modelscli.Configured(conf)), Keys: keys,
		Env: std.Getenv, Programs: keyPrograms(a), Permit: std.managed.Permit, Limits: provider.Limits{Idle: time.Duration(conf.IdleTimeout)},
	}, f.Model != "" && f.Model != std.Getenv("JCODE_MODEL"), w.Offline, r)
	webcli.Check(conf.WebSearch, std.Getenv, r)
	doctorcli.Terminal(std.Streams, r)
	doctorcli.Programs(a.programs(), r)
	worktreescli.Check(ctx, newOwnGit(a), filepath.Join(a.paths.Data, "worktrees"), a.root, r)
	a.bundles.Open(pluginsHome(a), func(string, ...any) {}) // the check of plugins reports what is wrong with them
	lspcli.Check(ctx, checkedLanguages(a, conf.LSP), r)
	confinementcli.CheckSandbox(a.workRoots(), conf.Sandbox.Protect, r)
	confinementcli.CheckEnvironment(conf.Environment.Keep, r)
	pluginscli.Check(ctx, pluginsHome(a).Store, r)
	if !f.NoLua {
		luacli.Check(ctx, r)
	}
	if w.Tasks {
		checkedQueue(a, w.Offline).Examine(ctx, r)
	}
	if !w.Offline && !f.NoMCP {
		checkServers(ctx, f, std, live, r)
	}
}

// checkDatabase checks the database and the settings that wait for trust, which it knows.
func checkDatabase(ctx context.Context, a *app, held []config.Held, repair bool, r *health.Report) bool {
	opened := func(store *session.Store) { config.CheckHeld(ctx, held, newTrust(a, store), r) }
	remedy := func(err error) string { return strings.TrimPrefix(elsewhere(err), "; or ") }
	return doctorcli.Database(ctx, filepath.Join(a.paths.Data, databaseFile), repair, opened, remedy, r)
}

// checkServers connects the configured MCP servers.
func checkServers(ctx context.Context, f *flags, std Streams, servers *mcp.Manager, r *health.Report) {
	if servers == nil {
		a, err := newApp(ctx, f, std)
		if err != nil {
			return // reported by an earlier check
		}
		defer a.close()
		servers = a.mcp
		servers.Start()
	}
	mcpcli.Check(ctx, servers, r)
}

// checkedQueue is the queue of tasks that the doctor looks at.
func checkedQueue(a *app, offline bool) doctorcli.Queue {
	return doctorcli.Queue{
		Where: taskscli.Where(a.paths), Data: a.paths.Data, Offline: offline, Workers: taskscli.Workers, Place: taskscli.ShownPlace,
		Open: func(ctx context.Context) (*tasks.Store, error) { return taskscli.Open(ctx, a.paths) },
		Visit: func(ctx context.Context, t tasks.Task, look func(doctorcli.TaskFolder) error) error {
			there, err := openTaskFolder(ctx, a.flags, a.std, taskscli.Folder(a.paths.Data, t))
			if err != nil {
				return fmt.Errorf("the folder of task %d: %w", t.ID, err)
			}
			defer there.close()
			return look(doctorcli.TaskFolder{
				Git: there.git, Root: there.root, Inert: func() int { return len(newUntrusted(there).Items()) },
				Answers: func(ctx context.Context) (int, error) {
					rows, err := there.store.Trusts().List(ctx, there.project)
					return len(rows), err
				},
			})
		},
	}
}

// openDebugLog opens the log if the flag asks for it.
func (a *app) openDebugLog(context.Context) error {
	if !a.flags.Debug {
		return nil
	}
	d, err := debuglog.Open(debuglog.Options{Data: a.paths.Data, Secrets: a.secrets(), Private: a.privateNow},
		"version", Version(), "cwd", a.cwd, "model", a.flags.Model, "mode", string(a.mode))
	if err != nil {
		return err
	}
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, d)
	a.list = append(a.list, d.Extension())
	a.onClose(func() {
		if err := d.Close(); err != nil {
			fmt.Fprintln(a.std.Err, "jcode: --debug:", err)
		}
	})
	return nil
}

// secrets returns the values of the keys that this run knows.
func (a *app) secrets() []string {
	out := append(slices.Collect(maps.Values(a.models.Settings().Keys)), a.std.Getenv(webcli.KeyEnv(a.config.WebSearch)))
	for _, p := range a.models.Settings().Known() {
		if p.KeyEnv != "" {
			out = append(out, a.std.Getenv(p.KeyEnv))
		}
	}
	return out
}
