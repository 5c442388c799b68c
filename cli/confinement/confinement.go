package confinementcli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/agent/event"
	"jcode/agent/model/provider"
	"jcode/cli/config"
	"jcode/cli/health"
	webcli "jcode/cli/web"
	"jcode/internal/paths"
	"jcode/internal/proc"
	"jcode/internal/protected"
	"jcode/internal/startfiles"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/sandbox"
)

// keyPlaces are files and folders below the home folder that contain keys: confined commands can't read them.
var keyPlaces = [...]string{
	".ssh", ".aws", ".gnupg", ".azure", ".kube", ".netrc", ".git-credentials", ".npmrc", ".pypirc", ".docker/config.json",
	".config/gh", ".config/gcloud", ".config/hub", ".cargo/credentials.toml", ".password-store",
}

// Confinement is where commands run: the sandbox, what it protects, their environment.
type Confinement struct {
	options Options
	box     *sandbox.Box // nil if jcode can't start itself
}

// Options are what a confinement is made of.
type Options struct {
	Config    func() config.Config // as it is in force now
	Paths     config.Paths
	Root      string
	Worktrees string                        // the folder of this project's worktrees
	Hidden    []string                      // what commands can't read even where the data folder as a whole can't be hidden
	Roots     func() []string               // the folders of the workspace
	Hooks     func(roots []string) []string // folders besides git's own from which git runs hooks
	Mode      func() tools.Mode             // that of the open conversation, or the one that it will have
	Say       func(level event.Level, format string, args ...any)
	// Look looks at protected files before a command.
	Look   func(files []string) (session.Before, error)
	Getenv func(string) string
	Env    map[string]string // set for commands, in addition to the environment
}

// New prepares the confinement of mode auto's commands. It looks at the kernel only
// when the first command is confined.
func New(o Options) *Confinement {
	c := &Confinement{options: o}
	if self, err := os.Executable(); err == nil { // otherwise mode auto asks, and says why
		c.box = sandbox.New(self, c.policy)
		c.box.OnGap(func(g sandbox.Gap) { o.Say(event.LevelWarn, "%s; %s", text.Visible(g.Text), g.Advice) })
	}
	return c
}

// Box returns the sandbox, nil if jcode can't start itself.
func (a *Confinement) Box() *sandbox.Box { return a.box }

// policy returns what confined commands may do here.
func (a *Confinement) policy() sandbox.Policy {
	settings := a.options.Config().Sandbox
	p := sandbox.Policy{
		Roots:   a.options.Roots(),
		Home:    a.options.Paths.Home,
		Hidden:  slices.Concat([]string{a.options.Paths.Config}, a.options.Hidden, a.hiddenData()),
		Protect: settings.Protect,
		Network: config.IsOn(settings.Network),
	}
	if cache, err := os.UserCacheDir(); err == nil {
		p.Cache = filepath.Join(cache, "jcode", "sandbox")
		p.Temp = filepath.Join(cache, "jcode", "reading")
	}
	for _, dir := range slices.Concat(a.options.Hooks(p.Roots), protected.Targets(paths.Real(a.options.Paths.Home)), protected.LinksIn(a.options.Paths.Config)) {
		if slices.ContainsFunc(p.Roots, func(root string) bool { return paths.Within(root, dir) }) {
			p.Hooks = append(p.Hooks, dir)
		}
	}
	for _, root := range p.Roots {
		git := worktree.FoldersOf(root)
		p.Caches, p.Hooks = append(p.Caches, git.Written...), append(p.Hooks, git.Fixed...)
	}
	for _, place := range keyPlaces {
		p.Hidden = append(p.Hidden, filepath.Join(a.options.Paths.Home, filepath.FromSlash(place)))
	}
	for _, dir := range settings.Caches {
		if rest, ok := paths.CutHome(dir); ok {
			dir = filepath.Join(a.options.Paths.Home, rest)
		}
		p.Caches = append(p.Caches, dir)
	}
	return p
}

// hiddenData returns the folders of jcode's own data. If the working folder is a worktree inside the data
// folder, that can't be hidden as a whole: everything in it except the worktrees is hidden.
func (a *Confinement) hiddenData() []string {
	if !paths.Within(a.options.Worktrees, a.options.Root) {
		return []string{a.options.Paths.Data}
	}
	entries, err := os.ReadDir(a.options.Paths.Data)
	if err != nil {
		return []string{a.options.Paths.Data} // then nothing there can be read
	}
	var out []string
	for _, e := range entries {
		if e.Name() != "worktrees" {
			out = append(out, filepath.Join(a.options.Paths.Data, e.Name()))
		}
	}
	return out
}

// Confined reports whether commands can be confined.
func (a *Confinement) Confined() bool { return a.box != nil && a.box.Available() }

// WatchProtected records the protected files before a command that runs unconfined.
func (a *Confinement) WatchProtected() func() sandbox.Watched {
	if a.box == nil {
		return nil
	}
	return a.box.Watch
}

// KeepProtected saves protected files before a command, so that /undo reverts what it does to them.
func (a *Confinement) KeepProtected(caller tools.Caller, open []string) (note func(changed []string)) {
	before, err := a.options.Look(open)
	return func(changed []string) {
		if err == nil {
			err = before.Keep(context.Background(), caller.Session, caller.Turn, changed)
		}
		if err != nil {
			a.options.Say(event.LevelWarn, "protected files can't be taken back: %v", err)
		}
	}
}

// TellProtected tells the person what a command did to protected files.
func (a *Confinement) TellProtected(news string) {
	a.options.Say(event.LevelWarn, "%s", text.Visible(news))
}

// ConfinesOwn reports whether commands that jcode itself starts (after_edit, lines of command files) run in
// the sandbox: if there is one, in every mode but yolo.
func (a *Confinement) ConfinesOwn() bool {
	return a.options.Mode() != tools.ModeYolo && a.Confined()
}

// ChangedSince returns a func that says which files that a line starts have changed since now, "" for none.
// What a project brought is trusted as it was; a line of the person's own may change its files if the sandbox
// confines it.
func (a *Confinement) ChangedSince(root, line string, theirs bool) func() string {
	trusted := startfiles.Pin("", root, line)
	return func() string {
		if startfiles.Pin("", root, line) == trusted || !theirs && a.Confined() { // it runs confined
			return ""
		}
		return "what it starts has changed since jcode was started (" + strings.Join(startfiles.Files(root, line), ", ") + "); start jcode again to look at it"
	}
}

// Confiner returns the sandbox of the shell, nil if it may not have one.
func (a *Confinement) Confiner() builtin.Confiner {
	if a.box == nil {
		return nil
	}
	return a.box
}

// CommandEnv returns the environment of shell commands: the person's own without what looks like a secret,
// except for what the configuration keeps. Keys of providers are never passed, whatever they are called.
func (a *Confinement) CommandEnv() []string {
	return proc.CommandEnv(os.Environ(), proc.EnvRules{Drop: a.KeyNames(), Keep: a.options.Config().Environment.Keep, Set: a.options.Env})
}

// Kept returns the variables that commands get although they look like secrets.
func (a *Confinement) Kept() []string { return a.options.Config().Environment.Keep }

// KeyNames returns the variables that may hold a provider's key.
func (a *Confinement) KeyNames() []string {
	settings := a.options.Config()
	return keyNames(&settings, a.options.Getenv)
}

func keyNames(c *config.Config, getenv func(string) string) []string {
	var out []string
	for _, p := range provider.Presets() {
		out = append(out, p.KeyEnv)
	}
	for _, p := range c.Providers {
		out = append(out, p.KeyEnv)
		for _, value := range p.Headers {
			out = append(out, provider.Variables(value)...)
		}
	}
	out = append(out, webcli.KeyEnv(c.WebSearch))
	if address := getenv("OPENAI_BASE_URL"); (provider.Config{BaseURL: address}).Address() != address {
		out = append(out, "OPENAI_BASE_URL") // it may hold a password
	}
	return slices.DeleteFunc(out, func(name string) bool { return name == "" })
}

// CheckKept reports which names of environment.keep have no effect.
func CheckKept(c *config.Config, getenv func(string) string, say func(level event.Level, format string, args ...any)) {
	keys := keyNames(c, getenv)
	for _, name := range c.Environment.Keep {
		if slices.Contains(keys, name) {
			say(event.LevelWarn, "config.json: environment.keep: %s may hold a provider's key: no command gets it", name)
		}
	}
}

// CheckEnvironment names the variables that commands don't get: a build that needs one needs environment.keep.
func CheckEnvironment(keep []string, r *health.Report) {
	if names := proc.Withheld(os.Environ(), proc.EnvRules{Keep: keep}); len(names) > 0 {
		for i, n := range names {
			names[i] = text.Visible(n)
		}
		r.OK("commands", "these variables look like secrets and are withheld from them (environment.keep in config.json lets one through): %s", strings.Join(names, ", "))
	}
}

// CheckSandbox reports how this machine can confine commands in mode auto, and which files of the workspace are not
// kept from them.
func CheckSandbox(roots, protect []string, r *health.Report) {
	self, err := os.Executable()
	if err != nil {
		r.Warn("sandbox", "", "not available: %v", err)
		return
	}
	box := sandbox.New(self, func() sandbox.Policy {
		return sandbox.Policy{Roots: roots, Protect: protect}
	})
	if ok, why := box.CanRead(); ok {
		r.OK("unasked", "commands that run without asking because they only read are confined to reading by the kernel: no writes, no network, no programs of the project")
	} else {
		r.Warn("unasked", "", "commands that run without asking because they only read are checked by analysis alone, not confined by the kernel: %s", why)
	}
	report := box.Report()
	for _, line := range report.Lines() {
		if report.Available {
			r.OK("sandbox", "%s", line)
		} else {
			r.Warn("sandbox", "", "%s", line)
		}
	}
	for _, g := range box.Gaps() {
		r.Warn("sandbox", g.Advice, "%s", g.Text)
	}
}
