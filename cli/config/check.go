package config

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"jcode/cli/console"
	"jcode/cli/health"
	"jcode/tools"
)

// Check is the doctor's check of the settings: it reports the faults of their files, each with its file and line.
func Check(o Options, r *health.Report) *Loaded {
	loaded := Load(o)
	if m := o.Managed; m != nil {
		r.OK("config", "settings of this machine's administrator hold before all others: %s", strings.Join(m.Files, ", "))
	}
	for _, p := range loaded.Problems {
		if p.Harmless {
			r.Warn("config", "", "%s", p)
			continue
		}
		r.Fail("config", "correct it there, or see `jcode config schema` for what is allowed there", console.ExitUsage, "%s", p)
	}
	if len(loaded.Problems) > 0 {
		return loaded
	}
	switch info, err := os.Stat(o.Paths.File()); {
	case errors.Is(err, fs.ErrNotExist):
		r.OK("config", "no settings in %s yet: the defaults hold", o.Paths.File())
		return loaded
	case err == nil && info.Size() == 0:
		r.Warn("config", "write settings into it, or remove it", "%s is empty: the defaults hold", o.Paths.File())
		return loaded
	}
	r.OK("config", "no faults in %s", o.Paths.File())
	return loaded
}

// CheckKeys is the doctor's check of the stored keys, which it returns.
func CheckKeys(path string, r *health.Report) map[string]string {
	keys, warning, err := ReadCredentials(path)
	switch {
	case err != nil:
		r.Fail("keys", "correct the file, or delete it and enter the keys again", console.ExitUsage, "%v", err)
	case warning != "":
		r.Warn("keys", "", "%s", warning)
	case len(keys) > 0:
		r.OK("keys", "%d stored in %s", len(keys), path)
	}
	return keys
}

// CheckHeld names the settings of the project that are not trusted yet.
func CheckHeld(ctx context.Context, held []Held, trust tools.Trust, r *health.Report) {
	for _, h := range held {
		ok, err := trust.Trusted(ctx, tools.TrustItem{Kind: tools.TrustConfig, Name: h.Key, Hash: h.Hash})
		switch {
		case err != nil:
			r.Warn("config", "", "%s stays off: %v", h.Key, err)
		case !ok:
			r.Warn("config", "start jcode here and answer its question about this folder, or use --trust", "%s waits for trust", h.Key)
		}
	}
}
