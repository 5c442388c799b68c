package hookscli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/hooks"
	"jcode/internal/paths"
	"jcode/internal/startfiles"
	"jcode/internal/system"
	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/sandbox"
)

// The names of the configuration files as sources of hooks.
const (
	ownSettings     = "config.json"
	projectSettings = ".jcode/config.json"
)

// RunHook implements hooks.Runner. What a project or a plugin brought runs confined in every mode; the person's
// own hooks do as other commands that jcode starts.
func (h *Hooks) RunHook(ctx context.Context, run hooks.Run) (hooks.Ended, error) {
	if run.Hook.Managed { // no variable of the user's, nor of another hook, changes what it starts
		return h.runHook(ctx, run, "")
	}
	return h.withVariables(run, h.confinement.CommandEnv(), func(more []string, data string) (hooks.Ended, error) {
		run.Env = append(run.Env[:len(run.Env):len(run.Env)], more...)
		return h.runHook(ctx, run, data)
	})
}

// runHook runs a hook that may also write to the folder data, if that isn't "".
func (h *Hooks) runHook(ctx context.Context, run hooks.Run, data string) (hooks.Ended, error) {
	how := h.rights(ctx, run.Hook)
	if data != "" {
		how.Data = append(how.Data[:len(how.Data):len(how.Data)], data)
	}
	cmd := builtin.HookRun{
		Command: run.Hook.Command, Dir: cmp.Or(run.Hook.Dir, h.root), Env: append(run.Env, how.env...), Stdin: run.Stdin, Limit: run.Hook.Timeout,
		Confined: how.confined, Free: how.free, Rights: how.Program,
	}
	if run.Hook.Managed {
		cmd.Clean = true
		if shell := system.Shell(); shell != nil {
			cmd.Argv = append(shell, run.Hook.Command)
		}
	}
	if run.Hook.Args != nil {
		cmd.Argv = []string{expandHook(run.Hook.Command, run.Env)}
		for _, arg := range run.Hook.Args {
			cmd.Argv = append(cmd.Argv, expandHook(arg, run.Env))
		}
	}
	after := h.follower.Around(tools.Caller{Session: run.Session, Turn: run.Turn, Origin: tools.OriginModel}, "the "+string(run.Hook.Event)+" hook "+run.Hook.Shown())
	end, err := h.shell.RunHook(ctx, cmd)
	if after != nil {
		after() // what it says is for the person, who is told
	}
	out := hooks.Ended{Stdout: end.Stdout, Stderr: end.Stderr, Code: end.Code, Blamed: end.Blamed}
	if out.Blamed != "" && how.confined {
		out.Blamed += fmt.Sprintf("; /hooks allow %s network, or outside, lets it", how.item.Title())
	}
	return out, err
}

// expandHook puts the variables of a hook into an argument of it, which no shell sees.
func expandHook(arg string, env []string) string {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		arg = strings.ReplaceAll(arg, "${"+name+"}", value)
	}
	return arg
}

// rights is how a hook runs.
type rights struct {
	sandbox.Program
	env      []string
	confined bool            // in every mode
	free     bool            // a person allowed it to write outside
	old      bool            // trusted before hooks were confined in every mode
	item     tools.TrustItem // what further rights belong to
}

// rights returns how a hook runs.
func (h *Hooks) rights(ctx context.Context, hook hooks.Hook) rights {
	var r rights
	switch {
	case hook.Plugin != "":
		p, ok := h.pluginRights(hook.Plugin)
		if !ok {
			return rights{confined: true}
		}
		r = rights{Program: p.Program, env: p.Env, confined: true, item: p.Item}
	case hook.Theirs:
		r = rights{confined: true, item: h.item(hook)}
		if r.old = h.trust.Unconfined(ctx, r.item); r.old {
			r.confined = false
		}
	case hook.Managed:
		r.item = tools.TrustItem{Kind: tools.TrustHook, Name: hook.Source, Hash: hook.Source, Personal: true}
	default:
		line := hook.Shown()
		r = rights{Program: sandbox.Program{Read: h.ownFiles(line)}, item: tools.TrustItem{Kind: tools.TrustHook, Name: hook.Source, Hash: hook.Source, Personal: true}}
		r.confined = len(startfiles.Files(h.root, line)) > 0 // the project can change what it runs
	}
	r.Network = h.has(ctx, r.item, tools.TrustNetwork)
	r.free = h.has(ctx, r.item, tools.TrustOutside)
	return r
}

// item returns what is trusted of the file that a project's hook comes from.
func (h *Hooks) item(hook hooks.Hook) tools.TrustItem {
	if hook.Source == projectSettings {
		key := "hooks." + string(hook.Event)
		return tools.TrustItem{Kind: tools.TrustConfig, Name: key, Hash: h.theirPins()[key]}
	}
	if item, ok := h.itemOfRole(hook.Source); ok {
		return item
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.kept {
		if f.item.Name == hook.Source && f.dir == hook.Dir {
			return f.item
		}
	}
	return tools.TrustItem{Kind: tools.TrustHook, Name: hook.Source}
}

// has reports whether a person gave an item a further right.
func (h *Hooks) has(ctx context.Context, item tools.TrustItem, kind tools.TrustKind) bool {
	ok, err := h.trust.Trusted(ctx, item.More(kind))
	return ok && err == nil
}

// ownFiles returns the files of the configuration folder that a line of the person's names: a script of their
// own with its folder, or alone if it lies beside the settings and keys.
func (h *Hooks) ownFiles(line string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`;|&()<>", r) }) {
		if rest, ok := paths.CutHome(strings.NewReplacer("${HOME}", "~", "$HOME", "~").Replace(word)); ok {
			word = filepath.Join(h.home, rest)
		}
		real, err := paths.Resolve(word)
		if err != nil || !filepath.IsAbs(word) || real == h.config || !paths.Within(h.config, real) || slices.Contains(h.secret(), real) {
			continue
		}
		if _, err := os.Stat(real); err != nil {
			continue
		}
		if dir := filepath.Dir(real); dir != h.config {
			real = dir
		}
		out = append(out, real)
	}
	return out
}

// later tells the model of a session something at its next step.
func (h *Hooks) later(session, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pending[session] += "[hook] " + text + "\n"
}

// behind runs something until the app closes.
func (h *Hooks) behind(run func(ctx context.Context)) { h.work.Go(func() { run(h.ctx) }) }
