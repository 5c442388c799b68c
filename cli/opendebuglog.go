package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"jcode/cli/debuglog"
	webcli "jcode/cli/web"
)

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
