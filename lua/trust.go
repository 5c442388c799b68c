package lua

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/tools"
)

// trustAge is how long an answer about trust is reused: a check of a thousand tools asks once.
const trustAge = 50 * time.Millisecond

// folderTrust is whether the Lua of the project is trusted, as of a moment ago.
type folderTrust struct {
	mu     sync.Mutex
	yes    bool
	at     time.Time
	failed string // the error of the last check, "" after an answer
}

// forget makes the next question read the files again.
func (f *folderTrust) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = time.Time{}
}

// Folder returns the item that represents all Lua of the project, with a line for each of the items. Trust is
// in the folder as a whole, because the permissions of each tool and plugin are approved by their version
// anyway.
func (r *Room) Folder(items []tools.TrustItem) tools.TrustItem {
	it := tools.TrustItem{Kind: tools.TrustLuaTool, Name: tools.AllLua, Hash: "folder", File: r.around.opts.Root}
	for _, i := range items {
		line := string(i.Kind) + " " + i.Name
		if len(i.Runs) > 0 {
			line += ": " + strings.Join(i.Runs, "; ")
		}
		it.Runs = append(it.Runs, line+" ("+i.File+")")
	}
	return it
}

// trusted reports whether Lua of a scope may run. Scopes outside the project need no trust.
func (r *Room) trusted(scope string) bool {
	if scope != "project" {
		return true
	}
	if r.around.opts.Trust == nil {
		return false
	}
	f := &r.trust
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.at) > trustAge {
		ok, err := r.around.opts.Trust.Trusted(context.Background(), r.Folder(nil))
		failed := ""
		if err != nil {
			failed = "trust: " + err.Error()
		}
		if failed != "" && failed != f.failed {
			r.around.logs.add("lua", "warn", failed)
		}
		f.failed = failed
		f.yes, f.at = ok && err == nil, time.Now()
	}
	return f.yes
}

// reportUntrusted reports the project's Lua that is not trusted, once per set.
func (r *Room) reportUntrusted() {
	if r.around.opts.Untrusted == nil {
		return
	}
	items := r.Untrusted()
	key := fmt.Sprint(items)
	r.mu.Lock()
	fresh := len(items) > 0 && key != r.wanted
	r.wanted = key
	r.mu.Unlock()
	if fresh {
		r.around.opts.Untrusted(items)
	}
}

// Untrusted lists the project's tools and plugins that wait for trust. Runs are the rights of
// a tool, in words.
func (r *Room) Untrusted() []tools.TrustItem {
	var out []tools.TrustItem
	for _, s := range r.slots() {
		if v := s.current(); v != nil && !v.trusted {
			out = append(out, tools.TrustItem{Kind: tools.TrustLuaTool, Name: s.name, File: s.dir, Hash: v.hash, Runs: v.manifest.Permissions.Rights()})
		}
	}
	for _, p := range r.plugins() {
		if !p.trusted {
			out = append(out, tools.TrustItem{Kind: tools.TrustPlugin, Name: p.id, File: p.path, Hash: p.bundle.hash})
		}
	}
	slices.SortFunc(out, func(a, b tools.TrustItem) int { return strings.Compare(a.File, b.File) })
	return out
}
