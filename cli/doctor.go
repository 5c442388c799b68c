package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/agent/model/replay"
	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/cli/health"
	hookscli "jcode/cli/hooks"
	lspcli "jcode/cli/lsp"
	luacli "jcode/cli/lua"
	mcpcli "jcode/cli/mcp"
	modelscli "jcode/cli/models"
	pluginscli "jcode/cli/plugins"
	"jcode/cli/undo"
	"jcode/internal/launch"
	"jcode/internal/system"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/mcp"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/permission"
)

// doctorCmd checks everything that a session depends on, and says what to do about what is wrong.
type doctorCmd struct {
	Offline bool `help:"Leave the model's endpoint and MCP servers out."`
	Tasks   bool `help:"Check the queue of tasks too: schema, clock, rights, and git and trust where tasks work."`
	JSON    bool `name:"json" help:"Print the findings as JSON."`
	Repair  bool `help:"Copy what can be read of a damaged session database into a new one first, and restore sessions from files that were moved aside."`
}

// Run prints the report. It exits with 2 when something is wrong with files or settings, with 1 when only the
// model's endpoint fails.
func (c *doctorCmd) Run(ctx context.Context, f *flags, std Streams) error {
	d := &doctor{flags: f, std: std, offline: c.Offline, repair: c.Repair, queue: c.Tasks}
	if !c.JSON {
		d.Show = func(f health.Finding) { f.Print(std.Out) }
	}
	d.examine(ctx)
	if c.JSON {
		if err := console.PrintJSON(std.Out, d.Found); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	exit := console.ExitDone
	for _, f := range d.Found {
		if f.State == health.Fail {
			exit = max(exit, f.Exit)
		}
	}
	if exit != console.ExitDone {
		return &console.Exit{Code: exit, Silent: true, Err: errors.New("the doctor found something wrong")}
	}
	return nil
}

// doctor examines part by part: a fault in one does not affect the others.
type doctor struct {
	flags   *flags
	std     Streams
	offline bool
	repair  bool
	queue   bool // of tasks
	health.Report

	live  *mcp.Manager // of an open jcode: its servers are checked instead of starting others
	paths config.Paths
	conf  config.Config
	held  []config.Held // settings of the project, which may be trusted
	keys  map[string]string
}

func (d *doctor) examine(ctx context.Context) {
	d.OK("jcode", "%s, %s on %s/%s", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	a := &app{flags: d.flags, std: d.std}
	if err := a.findPlaces(ctx); err != nil {
		d.Fail("folders", "set JCODE_HOME to a folder that can be written", console.ExitUsage, "%v", err)
		return
	}
	d.paths = a.paths
	hookscli.SweepEnvFiles(hookscli.EnvFiles(a.paths.Data))
	d.OK("folders", "config in %s, data in %s", a.paths.Config, a.paths.Data)
	d.settings(a.root)
	d.credentials()
	d.database(ctx, func(s *session.Store) *permission.Trust { return newTrust(a, s) })
	d.model(ctx, keyPrograms(a))
	d.webSearch()
	d.terminal()
	d.programs(a.programs())
	d.worktrees(ctx, newOwnGit(a), a.root)
	a.bundles.Open(pluginsHome(a), func(string, ...any) {}) // the check of plugins reports what is wrong with them
	lspcli.Check(ctx, checkedLanguages(a, d.conf.LSP), &d.Report)
	d.sandbox(a.workRoots())
	d.environment()
	pluginscli.Check(ctx, pluginsHome(a).Store, &d.Report)
	if !d.flags.NoLua {
		luacli.Check(ctx, &d.Report)
	}
	if d.queue {
		d.tasks(ctx)
	}
	if !d.offline && !d.flags.NoMCP {
		d.servers(ctx)
	}
}

// settings reports the faults of the config files, each with its file and line.
func (d *doctor) settings(root string) {
	// Nothing of the project is treated as trusted: its endpoint must not be contacted here.
	loaded := config.Load(config.Options{Paths: d.paths, Project: root, Managed: d.std.managed, Trusted: func(string, string) bool { return false }})
	d.conf, d.held = loaded.Config, loaded.Held
	if m := d.std.managed; m != nil {
		d.OK("config", "settings of this machine's administrator hold before all others: %s", strings.Join(m.Files, ", "))
	}
	for _, p := range loaded.Problems {
		if p.Harmless {
			d.Warn("config", "", "%s", p)
			continue
		}
		d.Fail("config", "correct it there, or see `jcode config schema` for what is allowed there", console.ExitUsage, "%s", p)
	}
	if len(loaded.Problems) > 0 {
		return
	}
	switch info, err := os.Stat(d.paths.File()); {
	case errors.Is(err, fs.ErrNotExist):
		d.OK("config", "no settings in %s yet: the defaults hold", d.paths.File())
		return
	case err == nil && info.Size() == 0:
		d.Warn("config", "write settings into it, or remove it", "%s is empty: the defaults hold", d.paths.File())
		return
	}
	d.OK("config", "no faults in %s", d.paths.File())
}

func (d *doctor) credentials() {
	keys, warning, err := config.ReadCredentials(d.paths.Credentials())
	d.keys = keys
	switch {
	case err != nil:
		d.Fail("keys", "correct the file, or delete it and enter the keys again", console.ExitUsage, "%v", err)
	case warning != "":
		d.Warn("keys", "", "%s", warning)
	case len(keys) > 0:
		d.OK("keys", "%d stored in %s", len(keys), d.paths.Credentials())
	}
}

// database opens the database as a start would, but moves nothing aside silently: what was done is a finding.
func (d *doctor) database(ctx context.Context, trustIn func(*session.Store) *permission.Trust) {
	path := filepath.Join(d.paths.Data, databaseFile)
	if d.repair && !d.repairDatabase(ctx, path) {
		return
	}
	store, err := session.Open(ctx, path, session.Options{})
	if err != nil {
		advice := strings.TrimPrefix(elsewhere(err), "; or ")
		if errors.Is(err, session.ErrReadOnly) {
			advice += "; jcode sessions lists, shows, searches and exports what is there"
		}
		d.Fail("database", advice, console.ExitUsage, "%v", err)
		return
	}
	for _, n := range store.Notices() {
		d.Warn("database", "", "%s", n.Text)
	}
	d.waiting(ctx, trustIn(store))
	faults, err := store.Check(ctx)
	written := errors.Join(err, store.CheckWrite(ctx))
	if err := store.Close(); err != nil && written == nil {
		written = fmt.Errorf("close %s: %w", path, err)
	}
	if len(faults) > 0 {
		d.Fail("database", "end jcode everywhere and run jcode doctor --repair: it copies what can be read into a new file and keeps this one", console.ExitUsage,
			"%s is damaged inside: %s", path, strings.Join(faults, "; "))
		return
	}
	if written != nil {
		d.Fail("database", "make room on its disk, or set JCODE_HOME to another one", console.ExitUsage, "%v", written)
		return
	}
	d.OK("database", "%s opens and can be written", path)
	d.undo()
}

// undo says what is kept of files that commands changed.
func (d *doctor) undo() {
	switch u := undo.NewContents(d.paths.Data).Usage(); {
	case config.IsOff(d.conf.Undo.Commands):
		d.OK("undo", "what commands change is not kept (undo.commands)")
	case u.Files == 0:
		d.OK("undo", "nothing is kept yet of files that commands change")
	case u.Bytes > undo.MaxBytes*9/10:
		d.Warn("undo", "delete sessions that you don't need with jcode sessions rm, or remove "+filepath.Join(d.paths.Data, "snapshots")+", which leaves nothing to undo of what commands did",
			"%d of %d MB are kept for undo: what commands change from now on may not be", u.Bytes>>20, undo.MaxBytes>>20)
	default:
		d.OK("undo", "%.1f MB in %s are kept for undo, the oldest since %s", float64(u.Bytes)/(1<<20), text.Count(u.Files, "file"), u.Oldest.Format(time.DateOnly))
	}
}

// waiting names the settings of the project that are not trusted yet.
func (d *doctor) waiting(ctx context.Context, trust *permission.Trust) {
	for _, h := range d.held {
		ok, err := trust.Trusted(ctx, tools.TrustItem{Kind: tools.TrustConfig, Name: h.Key, Hash: h.Hash})
		switch {
		case err != nil:
			d.Warn("config", "", "%s stays off: %v", h.Key, err)
		case !ok:
			d.Warn("config", "start jcode here and answer its question about this folder, or use --trust", "%s waits for trust", h.Key)
		}
	}
}

// model finds the model that a start would use, and tests its endpoint.
func (d *doctor) model(ctx context.Context, programs launch.Programs) {
	settings := provider.Settings{
		Model: cmp.Or(d.flags.Model, d.conf.Model), BaseURL: d.flags.BaseURL, Provider: d.conf.Provider, Providers: modelscli.Providers(d.conf, modelscli.Configured(d.conf)), Keys: d.keys,
		Env: d.std.Getenv, Programs: programs, Permit: d.std.managed.Permit, Limits: provider.Limits{Idle: time.Duration(d.conf.IdleTimeout)},
	}
	target, err := provider.Resolve(settings)
	switch {
	case errors.Is(err, provider.ErrNoProvider):
		d.Fail("model", d.localAdvice(ctx, settings), console.ExitUsage, "%v", err)
		return
	case err != nil:
		d.Fail("model", "", console.ExitUsage, "%v", err)
		return
	case target.Replay != "":
		if _, err := replay.Open(target.Replay, replay.Options{}); err != nil {
			d.Fail("model", "", console.ExitUsage, "%v", err)
			return
		}
		d.OK("model", "the script %s", target.Replay)
		return
	}
	d.OK("model", "%s at %s", cmp.Or(target.Model, "the first coding model"), target.Provider.Address())
	if d.offline {
		return
	}
	try := dial.Endpoint
	if named := d.flags.Model; named != "" && named != d.std.Getenv("JCODE_MODEL") && target.Model != "" {
		try = dial.Probe
		d.OK("model", "tries %s with one request, of fewer than %d tokens", target.Model, dial.ProbeTokens)
	}
	for _, check := range try(ctx, target.Provider, target.Model) {
		line := health.Finding{Area: "model", State: health.OK, Text: check.Name + ": " + check.Detail, Advice: check.Advice, Exit: console.ExitModel}
		switch {
		case !check.OK && check.Name == "models":
			line.State = health.Warn // an endpoint may work without a list
		case !check.OK:
			line.State = health.Fail
		case check.Advice != "":
			line.State = health.Warn
		}
		d.Say(line)
	}
}

// localAdvice names the model servers that run on this machine.
func (d *doctor) localAdvice(ctx context.Context, settings provider.Settings) string {
	if d.offline {
		return ""
	}
	var found []string
	for _, f := range dial.DetectLocal(ctx, settings.Known()) {
		if first, ok := provider.FirstModel(f.Provider, f.Models); ok {
			found = append(found, "-m "+f.Provider.Name+"/"+first.ID)
		}
	}
	if len(found) == 0 {
		return "or start a local server (Ollama, LM Studio, llama.cpp, vLLM); none answers now"
	}
	return "a local server answers: try " + strings.Join(found, " or ")
}

// terminal reports what the terminal can do, judging by what it says about itself.
func (d *doctor) terminal() {
	env := d.std.Getenv
	if !d.std.OutIsTerminal {
		d.OK("terminal", "the output is not a terminal: use -p")
		return
	}
	term := env("TERM")
	switch {
	case system.HasTTY() && (term == "" || term == "dumb"):
		d.Warn("terminal", "use a terminal that sets TERM, or --plain", "TERM is %q: only --plain works", term)
		return
	case env("NO_COLOR") != "":
		d.OK("terminal", "%s, without colours because NO_COLOR is set", term)
	case strings.Contains(env("COLORTERM"), "truecolor"), strings.Contains(env("COLORTERM"), "24bit"):
		d.OK("terminal", "%s, true colour", term)
	default:
		d.OK("terminal", "%s, 256 colours or fewer", term)
	}
	locale := cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG"))
	if upper := strings.ToUpper(locale); system.HasTTY() && !strings.Contains(upper, "UTF-8") && !strings.Contains(upper, "UTF8") {
		d.Warn("terminal", "set LANG to a UTF-8 locale, such as C.UTF-8", "the locale %q is not UTF-8: wide characters may look wrong", locale)
	}
}

// worktrees names the worktrees that sub-agents left with changes, and those at which git fails.
func (d *doctor) worktrees(ctx context.Context, git launch.Git, root string) {
	left, err := filepath.Glob(filepath.Join(d.paths.Data, "worktrees", "*", "*"))
	var agents, own []string
	for _, dir := range left {
		if strings.HasSuffix(filepath.Dir(dir), besideSuffix) {
			own = append(own, dir)
		} else {
			agents = append(agents, dir)
		}
	}
	if err == nil && len(agents) > 0 {
		d.Warn("worktrees", "/agents in their session merges or discards them; /agents prune removes those without changes",
			"%d left by agents: %s", len(agents), strings.Join(agents, ", "))
	}
	if err == nil && len(own) > 0 {
		d.OK("worktrees", "%d of sessions, with what is not merged (jcode -w=NAME works in one): %s", len(own), strings.Join(own, ", "))
	}
	for _, dir := range worktree.Incomplete(ctx, git, root) {
		d.Warn("worktrees", "/agents prune removes it if it is an agent's; otherwise remove that folder, unless a git that creates a worktree is running",
			"git fails in this repository, because the entry %s of a worktree is incomplete", dir)
	}
}

// programs reports the optional programs that jcode uses.
func (d *doctor) programs(found launch.Programs) {
	switch path, err := found.Find("git"); {
	case err == nil:
		d.OK("programs", "git at %s", path)
	case launch.IsPassedOver(err):
		d.Warn("programs", "", "%v", err)
	default:
		d.Warn("programs", "install git if your projects use it", "git is not in PATH")
	}
}

// doctor is /doctor.
func (p personCommands) doctor(ctx context.Context, _ string) (command.Outcome, error) {
	var report strings.Builder
	d := &doctor{flags: p.flags, std: p.std, live: p.mcp, Report: health.Report{Show: func(f health.Finding) { f.Print(&report) }}}
	d.examine(ctx)
	return command.Outcome{Page: "Doctor", Notice: strings.TrimRight(report.String(), "\n")}, nil
}

// servers connects the configured MCP servers.
func (d *doctor) servers(ctx context.Context) {
	servers := d.live
	if servers == nil {
		a, err := newApp(ctx, d.flags, d.std)
		if err != nil {
			return // reported by an earlier check
		}
		defer a.close()
		servers = a.mcp
		servers.Start()
	}
	mcpcli.Check(ctx, servers, &d.Report)
}
