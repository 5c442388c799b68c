package lsp_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/proc"
	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/shorten"
	"jcode/tools"
	"jcode/tools/lsp"
	"jcode/tools/sandbox"
)

// confined has servers run in the sandbox as those of a project do, with a cache of their own.
func confined(t *testing.T, cache string) func(*lsp.Options) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	return func(o *lsp.Options) {
		policy := sandbox.Policy{Roots: o.Roots, Home: home, Cache: cache}
		box := sandbox.New(self, func() sandbox.Policy { return policy })
		if !box.Available() {
			t.Skipf("no sandbox here: %v", box.Report().Why)
		}
		prepare := func(spec proc.Spec) (proc.Spec, func() []string, error) {
			spec, before, err := box.Confine(spec)
			return spec, before.Changed, err
		}
		o.Allow = func(context.Context, tools.Call, lsp.Start) lsp.Permit {
			return lsp.Permit{OK: true, Confined: true, Prepare: prepare}
		}
	}
}

// Real servers work confined, without the network: they tell what an edit breaks.
func TestRealServersWorkConfined(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	for _, b := range breakings(t) {
		if b.env != nil {
			continue
		}
		t.Run(b.server, func(t *testing.T) {
			shorten.OneIn(t, 3)
			program := anywhere(t, b.program)
			start := time.Now()
			r := newRig(t, "", b.files, with(lsp.Server{Name: b.server, Command: append([]string{program}, b.args...)}), confined(t, cache))
			eventually.Within(t, 5*time.Minute, b.server+" answers", func() bool { return strings.Contains(r.call("diagnostics", m{"path": b.path}).Text, "reports nothing") })
			t.Logf("ready after %v", time.Since(start))
			told := r.result(b.path, b.end, fmt.Sprintf(b.add, 0)+"\n"+b.end)
			eventually.True(t, "it tells what broke", func() bool {
				told += r.m.Late("") + r.call("diagnostics", m{"path": b.path}).Text
				return names(b, told, 0)
			})
		})
	}
}
