package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"jcode/agent/event"
	"jcode/cli/config"
	confinementcli "jcode/cli/confinement"
	"jcode/cli/console"
	"jcode/tools"
)

// findPaths finds jcode's own folders.
func findPaths(std Streams) (config.Paths, error) {
	paths, err := config.FindPaths(std.Getenv)
	return paths, console.AsUsage(err)
}

// loadConfig reads the configuration of person and project. A fault is reported, and affects only its own
// setting.
func (a *app) loadConfig(ctx context.Context) error {
	loaded := config.Load(config.Options{Paths: a.paths, Project: a.root, Originals: a.originals, Managed: a.std.managed, Trusted: func(key, hash string) bool {
		return a.trusted(ctx, tools.TrustConfig, key, hash)
	}})
	a.reading.Lock()
	a.config, a.held, a.origin, a.theirEdits, a.theirHooks, a.theirPins = loaded.Config, loaded.Held, loaded.Origin, loaded.TheirEdits, loaded.TheirHooks, loaded.TheirPins
	a.reading.Unlock()
	for _, p := range loaded.Problems {
		if a.flags.Print && p.LosesRules() { // no one would notice what they no longer forbid
			return console.Usage("%s: with -p nothing runs while rules of yours can't be read", p)
		}
		a.board.Say(event.LevelWarn, "%s", p)
	}
	confinementcli.CheckKept(&a.config, a.std.Getenv, a.board.Say)
	var err error
	fallback := tools.ModeAsk
	if a.config.Mode != "" {
		if fallback, err = tools.ParseMode(a.config.Mode); err != nil {
			return console.Usage("mode: %w", err)
		}
	}
	if a.mode, err = a.flags.mode(fallback); err != nil {
		return console.Usage("--mode: %w", err)
	}
	if most, from := a.std.managed.Highest(); a.mode.Under(most) != a.mode {
		a.board.Say(event.LevelWarn, "mode %s is not allowed on this machine (%s): mode %s applies", a.mode, from, most)
		a.mode = most
	}
	a.flags.MaxSteps = cmp.Or(a.flags.MaxSteps, stepLimit(a.config.MaxSteps))
	a.flags.MaxCost = cmp.Or(a.flags.MaxCost, costLimit(a.config.MaxCost))
	a.modelNamed = a.flags.Model != ""
	a.flags.Model = cmp.Or(a.flags.Model, a.config.Model)
	return nil
}

// applySettings rereads the settings, and puts rules in force.
func (a *app) applySettings(ctx context.Context) error {
	errs := []error{a.loadConfig(ctx)}
	rules, err := rulesOf(a)
	if err == nil {
		a.gate.SetRules(rules)
	}
	a.board.Say(event.LevelInfo, "rules of this project apply now; its other settings apply from the next start")
	return errors.Join(append(errs, err)...)
}

// trusted reports whether the person trusts this version of something in this project.
func (a *app) trusted(ctx context.Context, kind tools.TrustKind, name, hash string) bool {
	ok, err := a.trust.Trusted(ctx, tools.TrustItem{Kind: kind, Name: name, Hash: hash})
	if err != nil {
		a.board.Say(event.LevelError, "trust: %v", err)
	}
	return err == nil && ok
}

// openTrust prepares the trust in this project's files.
func (a *app) openTrust(context.Context) error {
	a.trust = newTrust(a, a.store)
	return nil
}

// maxTools returns how many tools a request may contain: the limit of the first model's provider, otherwise
// the general setting; 0 means the default.
func (a *app) maxTools() int {
	name, _, _ := strings.Cut(a.flags.Model, "/")
	return cmp.Or(a.config.Providers[name].MaxTools, a.config.Providers[a.config.Provider].MaxTools, a.config.MCP.MaxTools)
}

func keyTable(keys map[string]config.List) map[string][]string {
	out := make(map[string][]string, len(keys))
	for action, list := range keys {
		out[action] = list
	}
	return out
}
