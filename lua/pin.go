package lua

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/diff"
	"jcode/lua/manifest"
	"jcode/tools"
)

// approvedScope is the state scope of the versions that a person approved, which later versions
// are compared with.
const approvedScope = "lua-approved"

// sourceFile is one file of a version.
type sourceFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// approval is a version of a tool or plugin with all its files, as a person is shown it.
type approval struct {
	Hash  string       `json:"hash"`
	Files []sourceFile `json:"files"`
	// here says that it was approved in this run.
	here bool
}

// approvals keeps the versions that a person approved last, by owner.
type approvals struct {
	store   StateStore // nil keeps them for this run only
	project string
	logs    *logs

	mu    sync.Mutex
	known map[string]approval
}

// storeLimit bounds each access to the store.
const storeLimit = 2 * time.Second

func (p *approvals) key(owner string) string { return p.project + ":" + owner }

// remember stores a version that a person saw and approved. A version that ran because of a mode, a
// rule or a stored grant was not seen, so it is not stored.
func (p *approvals) remember(owner string, a approval, d tools.Decision) {
	if d.By != tools.ByUser {
		return
	}
	a.here = true
	p.mu.Lock()
	old, known := p.known[owner]
	p.known[owner] = a
	p.mu.Unlock()
	if p.store == nil || known && old.Hash == a.Hash {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeLimit)
	defer cancel()
	raw, err := json.Marshal(a)
	if err == nil && len(raw) > maxStateValue {
		// The next question shows the whole source, not the difference to an older version.
		err = p.store.Delete(ctx, approvedScope, p.key(owner))
	} else if err == nil {
		err = p.store.Set(ctx, approvedScope, p.key(owner), raw)
	}
	if err != nil {
		p.logs.add(owner, "warn", "keep the approved source: "+err.Error())
	}
}

// last returns the version that a person approved last; ok is false when there is none.
func (p *approvals) last(owner string) (a approval, ok bool) {
	p.mu.Lock()
	a, ok = p.known[owner]
	p.mu.Unlock()
	if ok || p.store == nil {
		return a, ok
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeLimit)
	defer cancel()
	raw, ok, err := p.store.Get(ctx, approvedScope, p.key(owner))
	if err != nil || !ok || json.Unmarshal(raw, &a) != nil {
		return approval{}, false
	}
	return a, true
}

// shown returns what a permission question shows of a version: its rights, and all its files or
// their difference from the version that a person approved. A version that was approved in this
// run is not shown again.
func (p *approvals) shown(owner, path string, perms *manifest.Permissions, now approval) (notes []string, text string) {
	notes = append([]string{"Lua: " + path}, perms.Rights()...)
	old, known := p.last(owner)
	switch {
	case known && old.Hash == now.Hash && old.here:
		return append(notes, "approved in this run, and unchanged"), ""
	case known && old.Hash == now.Hash:
		notes, old = append(notes, "approved before, and unchanged"), approval{}
	case known:
		notes = append(notes, "changed since it was approved")
	}
	var b strings.Builder
	for _, f := range now.Files {
		b.WriteString(diff.Files(f.Name, old.file(f.Name), &f.Text).Text)
	}
	for _, f := range old.Files {
		if now.file(f.Name) == nil {
			b.WriteString(diff.Files(f.Name, &f.Text, nil).Text)
		}
	}
	return notes, b.String()
}

// file returns the text of a file, nil when the version has none of that name.
func (a approval) file(name string) *string {
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i].Text
		}
	}
	return nil
}

// approval lists the files of a tool folder.
func (v *version) approval(name string) approval {
	return approval{Hash: v.hash, Files: []sourceFile{{name + "/" + manifest.FileName, string(v.text)}, {name + "/" + manifest.MainName, v.source}}}
}

// approval lists the files of a plugin.
func (b bundle) approval() approval {
	a := approval{Hash: b.hash, Files: []sourceFile{{b.chunk, b.text}}}
	for _, name := range slices.Sorted(maps.Keys(b.modules)) {
		a.Files = append(a.Files, sourceFile{b.id + "/" + strings.ReplaceAll(name, ".", "/") + ".lua", b.modules[name]})
	}
	return a
}
