package lua

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"jcode/internal/diff"
)

// pinScope is where the sources that a person approved are kept, for the next diff.
const pinScope = "lua-pins"

// pinned is a source as it was approved.
type pinned struct {
	Hash     string `json:"hash"`
	Manifest string `json:"manifest"`
	Source   string `json:"source"`
}

// rememberPin keeps what was approved, to show what changed when it asks again.
func (r *Room) rememberPin(owner string, v *version) {
	r.mu.Lock()
	old := r.pins[owner]
	if old != nil && old.hash == v.hash {
		r.mu.Unlock()
		return
	}
	r.pins[owner] = v
	r.mu.Unlock()
	if r.opts.State == nil || v.manifest != nil && v.manifest.Permissions.empty() {
		return
	}
	raw, err := json.Marshal(pinned{v.hash, string(v.text), v.source})
	if err != nil || len(raw) > maxStateValue {
		return // the next question shows the whole source instead of a diff
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := r.opts.State.LuaSet(ctx, pinScope, r.opts.ProjectID+":"+owner, raw); err != nil {
		r.logs.add(owner, "warn", "keep the approved source: "+err.Error())
	}
}

func (r *Room) lastPin(owner string) *pinned {
	r.mu.Lock()
	v := r.pins[owner]
	r.mu.Unlock()
	if v != nil {
		return &pinned{v.hash, string(v.text), v.source}
	}
	if r.opts.State == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	raw, ok, err := r.opts.State.LuaGet(ctx, pinScope, r.opts.ProjectID+":"+owner)
	var p pinned
	if err != nil || !ok || json.Unmarshal(raw, &p) != nil {
		return nil
	}
	return &p
}

// pinNotes is what a permission question shows: the permissions, and the manifest and
// source, as a diff to what was approved before.
func (r *Room) pinNotes(owner, path string, v *version) (notes []string, shown string) {
	notes = []string{"Lua: " + path}
	if v.manifest != nil {
		notes = append(notes, "permissions: "+v.manifest.Permissions.String())
	} else {
		notes = append(notes, string(v.text))
	}
	old := r.lastPin(owner)
	if old != nil && old.Hash == v.hash {
		return notes, ""
	}
	var manifestBefore, sourceBefore *string
	if old != nil {
		notes = append(notes, "changed since it was approved")
		manifestBefore, sourceBefore = &old.Manifest, &old.Source
	}
	manifestNow, sourceNow := string(v.text), v.source
	d1 := diff.Files(fmt.Sprintf("%s/%s", owner, manifestName), manifestBefore, &manifestNow)
	d2 := diff.Files(fmt.Sprintf("%s/%s", owner, mainName), sourceBefore, &sourceNow)
	return notes, d1.Text + d2.Text
}
